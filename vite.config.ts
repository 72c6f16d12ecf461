// The built site in dist/, and the unit tests of the TypeScript.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vitest/config';

// Pages of other people that hold the element, and their style sheets: they go along as they stand.
const examples: Plugin = {
  name: 'examples',
  generateBundle() {
    const names = existsSync('examples') ? readdirSync('examples') : [];
    for (const name of names.filter((name) => /\.(html|css)$/.test(name))) {
      this.emitFile({ type: 'asset', fileName: `examples/${name}`, source: readFileSync(`examples/${name}`) });
    }
  },
};

// Templates and style sheets are text, which the minifier leaves alone: what indents their lines need not be sent.
const unindented: Plugin = {
  name: 'unindented',
  enforce: 'pre',
  apply: 'build',
  transform: (code, id) => (/\/www\/.*\.ts$/.test(id) ? { code: code.replace(/\n\s+/g, '\n'), map: null } : null),
};

// Other sites that the built page may fetch files from, when its user asks for one: their origins with blanks between, in
// KERNELSCOPE_CONNECT. None unless whoever builds the page says so.
const connect = (process.env.KERNELSCOPE_CONNECT ?? '').split(/\s+/).filter((word) => word !== '');
for (const origin of connect) {
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
    throw new Error(`KERNELSCOPE_CONNECT: ${origin} is no origin such as https://example.com`);
  }
}
const policy: Plugin = {
  name: 'policy',
  transformIndexHtml: (html) => html.replace("connect-src 'self'", ["connect-src 'self'", ...connect].join(' ')),
};

export default defineConfig({
  define: { __CONNECT__: JSON.stringify(connect) },
  // The site works below any path.
  base: './',
  // There is no folder of files that are copied as they are.
  publicDir: false,
  plugins: [examples, policy, unindented],
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    // The first browsers that know light-dark(): written for older ones, it follows the system alone.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Nothing as a data: URL, which the content security policy forbids for scripts and wasm.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: 'index.html', 'kernel-scope': 'www/element.ts' },
      // The element is a module that other pages load and import from: a name that stays, and its exports.
      preserveEntrySignatures: 'exports-only',
      output: {
        // The files that the start page offers keep their names, for examples/ to name them too.
        assetFileNames: ({ names }) =>
          /\.(cubin|co)$/.test(names[0] ?? '') ? 'examples/[name][extname]' : 'assets/[name]-[hash][extname]',
        entryFileNames: ({ name }) => (name === 'kernel-scope' ? 'kernel-scope.js' : 'assets/[name]-[hash].js'),
      },
    },
  },
  test: { include: ['www/**/*.test.ts'] },
});
