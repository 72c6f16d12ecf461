// What other pages load: defines <kernel-scope>. It can be imported where there is no DOM (a server that renders pages), and
// does nothing there.

const module = typeof document === 'undefined' ? null : await import('./elements/kernel-scope.ts');

/** The element's class; undefined where there is no DOM. */
export const KernelScope = module?.KernelScope;
