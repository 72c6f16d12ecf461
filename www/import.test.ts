import { expect, test } from 'vitest';

test('the element can be imported where there is no DOM', async () => {
  expect(typeof document).toBe('undefined');
  const { KernelScope } = await import('./elements/kernel-scope.ts');
  expect(KernelScope.name).toBe('KernelScope');
});
