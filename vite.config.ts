// The built site in dist/, and the unit tests of the TypeScript.

import { existsSync, readdirSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

// Every page in examples/ is built along with the application.
const examples = existsSync('examples') ? readdirSync('examples').filter((name) => name.endsWith('.html')) : [];

export default defineConfig({
  // The site works below any path.
  base: './',
  // There is no folder of files that are copied as they are.
  publicDir: false,
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    // Nothing as a data: URL, which the content security policy forbids for scripts and wasm.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ['index.html', 'www/elements/kernel-scope.ts', ...examples.map((name) => `examples/${name}`)],
      // The element is a module that other pages load and import from: a name that stays, and its exports.
      preserveEntrySignatures: 'exports-only',
      output: {
        entryFileNames: ({ name }) => (name === 'kernel-scope' ? 'kernel-scope.js' : 'assets/[name]-[hash].js'),
      },
    },
  },
  test: { include: ['www/**/*.test.ts'] },
});
