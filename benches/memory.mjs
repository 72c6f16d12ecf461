// Whether the page keeps anything of files that it has closed: 200 files are opened and closed, and what the page holds after a
// garbage collection and how large the module's memory has grown is measured. `make bench` runs it; nothing is asserted.

import { readFile } from 'node:fs/promises';
import { chromium } from '@playwright/test';
import { launchOptions } from '../scripts/browser.mjs';
import { serve } from '../scripts/serve.mjs';

const FILES = 200;
const fixture = (await readFile('tests/fixtures/nvidia/cubin/multi.sm_120.13.5.nvcc-lineinfo.cubin')).toString(
  'base64',
);
const server = await serve({ folder: 'dist' });
const browser = await chromium.launch(launchOptions);
try {
  const page = await browser.newPage();
  // The worker keeps its module's memory to itself; here it is let out.
  await page.route('**/worker-*.js', async (route) => {
    const response = await route.fetch();
    const body = `const instantiate = WebAssembly.instantiateStreaming;
      WebAssembly.instantiateStreaming = async (...all) => {
        const result = await instantiate(...all);
        self.memory = result.instance.exports.memory;
        return result;
      };\n${await response.text()}`;
    await route.fulfill({ response, body });
  });
  await page.goto(server.url);
  await page.waitForSelector('kernel-scope-start');
  const cdp = await page.context().newCDPSession(page);
  const heap = async () => {
    const [worker] = page.workers();
    await cdp.send('HeapProfiler.collectGarbage');
    const { usedSize } = /** @type {{ usedSize: number }} */ (await cdp.send('Runtime.getHeapUsage'));
    const wasm = await worker?.evaluate(() => /** @type {any} */ (self).memory.buffer.byteLength);
    return { page: usedSize, wasm: wasm ?? Number.NaN };
  };
  /** @param {number} many */
  const openAndClose = (many) =>
    page.evaluate(
      async ([content, many]) => {
        const scope = /** @type {any} */ (document.querySelector('kernel-scope'));
        const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
        for (let i = 0; i < many; i++) {
          // Every file another one: the last byte of its copy counts them.
          bytes[bytes.length - 1] = i;
          await scope.openFile(new File([bytes], `file ${i}`));
          scope.session.view = ['symbols', 'sections', 'map', 'kernels'][i % 4];
          await new Promise((resolve) => setTimeout(resolve, 30));
          for (const session of [...scope.files.sessions]) scope.files.close(session);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      },
      /** @type {const} */ ([fixture, many]),
    );
  await openAndClose(20);
  const before = await heap();
  await openAndClose(FILES);
  const after = await heap();
  const kib = (/** @type {number} */ bytes) => `${(bytes / 1024).toFixed(0).padStart(7)} KiB`;
  const line = (/** @type {string} */ what, /** @type {{ page: number, wasm: number }} */ held) =>
    console.log(`${what.padEnd(44)} page ${kib(held.page)}   wasm memory ${kib(held.wasm)}`);
  line('20 files opened and closed', before);
  line(`${FILES} more`, after);
} finally {
  await browser.close();
  server.close();
}
