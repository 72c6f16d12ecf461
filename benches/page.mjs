// How long the page takes, in the machine's own Chromium on the built site. `make bench` runs it; nothing is asserted.

import { readFile } from 'node:fs/promises';
import { chromium } from '@playwright/test';
import { launchOptions } from '../scripts/browser.mjs';
import { serve } from '../scripts/serve.mjs';
import { manySymbols } from '../tests/e2e/made.mjs';

/** A fixture with code added up to 1 MB, as its kernel would have with more of it. */
async function cubin() {
  const bytes = Buffer.alloc(1 << 20);
  (await readFile('tests/fixtures/nvidia/cubin/multi.sm_120.13.5.nvcc-lineinfo.cubin')).copy(bytes);
  return bytes;
}

/** @param {string} what @param {number[]} times @param {string} [budget] */
function print(what, times, budget = '') {
  const sorted = times.toSorted((a, b) => a - b);
  const [median, worst] = [sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0];
  console.log(
    `${what.padEnd(44)} ${median.toFixed(2).padStart(9)} ms   worst ${worst.toFixed(2).padStart(8)} ms   ${budget}`,
  );
}

const server = await serve({ folder: 'dist' });
const browser = await chromium.launch(launchOptions);
try {
  console.log(`${'what, in the browser'.padEnd(44)} ${'median'.padStart(12)}`);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(server.url);
  await page.waitForSelector('kernel-scope-start');
  // A page that has been open for a moment: the worker has its module.
  await page.waitForTimeout(1000);

  /**
   * Drops a file again and again, and waits each time until the first panel has what people came for, laid out.
   * @param {Buffer} bytes @param {number} runs
   */
  const drops = (bytes, runs) =>
    page.evaluate(
      async ([content, runs]) => {
        const scope = /** @type {any} */ (document.querySelector('kernel-scope'));
        const file = new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], 'bench.bin');
        // The panel of the file before stays until that of the new one has what it needs.
        const summary = () => {
          const panel = scope.renderRoot.querySelector('kernel-scope-panel');
          const found = panel?.renderRoot.querySelector('kernel-scope-summary');
          return found?.session === scope.session ? found : null;
        };
        const times = [];
        for (let run = 0; run < runs; run++) {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(file);
          const opened = new Promise((resolve) => scope.addEventListener('opened', resolve, { once: true }));
          const start = performance.now();
          document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
          await opened;
          while (!summary()) await new Promise((resolve) => setTimeout(resolve));
          await summary().updateComplete;
          document.body.getBoundingClientRect();
          times.push(performance.now() - start);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        return times;
      },
      /** @type {const} */ ([bytes.toString('base64'), runs]),
    );

  print('drop to first view, cubin of 1 MB', await drops(await cubin(), 21), 'budget 50');

  // As tall as 50 rows of bytes need.
  await page.setViewportSize({ width: 1280, height: 1600 });
  const repaints = await page.evaluate(async () => {
    const dock = document.querySelector('kernel-scope')?.shadowRoot?.querySelector('kernel-scope-dock');
    const hex = /** @type {any} */ (dock?.shadowRoot?.querySelector('kernel-scope-hex'));
    const scope = /** @type {any} */ (document.querySelector('kernel-scope'));
    scope.docking = { ...scope.docking, side: 'below', height: 50 * 21 + 72 };
    await scope.updateComplete;
    await new Promise((resolve) => setTimeout(resolve, 300));
    const scroller = hex.shadowRoot.querySelector('.scroller');
    const times = [];
    for (let run = 0; run < 201; run++) {
      scroller.scrollTop = 21 * 51 * (1 + (run % 30));
      const start = performance.now();
      scroller.dispatchEvent(new Event('scroll'));
      await hex.updateComplete;
      scroller.getBoundingClientRect();
      times.push(performance.now() - start);
    }
    return { times, rows: hex.shadowRoot.querySelector('pre').textContent.trimEnd().split('\n').length };
  });
  print(`repaint of ${repaints.rows} rows of bytes`, repaints.times, 'budget 2');

  print('drop to first view, 200,000 symbols', await drops(manySymbols(200_000), 3));
  const asked = await page.evaluate(async () => {
    const { session } = /** @type {any} */ (document.querySelector('kernel-scope'));
    /** @param {number} runs @param {(run: number) => Promise<unknown>} ask */
    const time = async (runs, ask) => {
      const times = [];
      for (let run = 0; run < runs; run++) {
        const start = performance.now();
        await ask(run);
        times.push(performance.now() - start);
      }
      return times;
    };
    const query = (/** @type {string | null} */ sort, /** @type {string} */ filter) =>
      session.call('query', ['symbols', { sort, descending: false, filter }]);
    return {
      window: await time(51, (run) => session.call('rows', ['symbols', 1000 * run, 100])),
      sort: await time(3, (run) => query(['name', 'value', 'size'][run] ?? null, '')),
      filter: await time(5, (run) => query(null, `name:kernel7${run}`)),
      words: await time(5, (run) => query(null, `kernel7${run}`)),
    };
  });
  const scrolled = await page.evaluate(async () => {
    const scope = /** @type {any} */ (document.querySelector('kernel-scope'));
    scope.session.view = 'symbols';
    scope.docking = { ...scope.docking, height: 200 };
    const table = () =>
      scope.renderRoot.querySelector('kernel-scope-panel').renderRoot.querySelector('kernel-scope-table');
    while (!table()?.renderRoot.querySelector('.row')) await new Promise((resolve) => setTimeout(resolve, 20));
    const scroller = table().renderRoot.querySelector('.scroller');
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const frames = [];
    const repaints = [];
    // As fast as a wheel turns, and ten times as fast.
    for (let run = 0; run < 301; run++) {
      const start = performance.now();
      scroller.scrollTop += run < 150 ? 120 : 1200;
      scroller.dispatchEvent(new Event('scroll'));
      await table().updateComplete;
      scroller.getBoundingClientRect();
      repaints.push(performance.now() - start);
      await frame();
      frames.push(performance.now() - start);
    }
    return { frames, repaints, rows: table().renderRoot.querySelectorAll('.row').length };
  });
  for (const [how, from, to] of /** @type {const} */ ([
    ['as a wheel does', 0, 150],
    ['ten times as fast', 150, 301],
  ])) {
    const frames = scrolled.frames.slice(from, to);
    const late = frames.filter((time) => time > 25).length;
    print(`${scrolled.rows} of 200,000 rows scrolled ${how}`, scrolled.repaints.slice(from, to));
    print(`  frame, ${late} of ${frames.length} late`, frames, 'budget 16.7');
  }
  print('window of 100 of 200,000 symbols', asked.window, 'budget 5');
  print('sort 200,000 symbols', asked.sort);
  print('filter 200,000 symbols by a column', asked.filter, 'budget 50');
  print('filter 200,000 symbols by a word anywhere', asked.words, 'budget 50');

  const far = await page.evaluate(async () => {
    const scope = /** @type {any} */ (document.querySelector('kernel-scope'));
    const part = new Blob([crypto.getRandomValues(new Uint8Array(65_536)), new Uint8Array((16 << 20) - 65_536)]);
    await scope.openFile(new File(Array(128).fill(part), 'two-gigabytes.bin'));
    scope.docking = { ...scope.docking, height: 50 * 21 + 72 };
    await scope.updateComplete;
    const dock = scope.renderRoot.querySelector('kernel-scope-dock');
    const hex = dock.renderRoot.querySelector('kernel-scope-hex');
    await new Promise((resolve) => setTimeout(resolve, 500));
    const scroller = hex.renderRoot.querySelector('.scroller');
    const frames = [];
    for (let run = 0; run < 301; run++) {
      const start = performance.now();
      // A notch of a wheel a frame; now and then far away, as the scrollbar does.
      if (run % 50 === 49) scroller.scrollTop += 1_000_000;
      else scroller.dispatchEvent(new WheelEvent('wheel', { deltaY: 120, cancelable: true }));
      await new Promise((resolve) => requestAnimationFrame(resolve));
      frames.push(performance.now() - start);
    }
    return frames;
  });
  const missed = far.filter((time) => time > 25).length;
  print(`frame while 2 GB are scrolled, ${missed} of ${far.length} late`, far, 'budget 16.7');
} finally {
  await browser.close();
  server.close();
}
