// Pictures of the built site, for README.md and for whoever changes how it looks: `node scripts/screenshots.mjs [FOLDER [WORD]]`
// makes those that README.md shows in docs/screenshots, or in FOLDER all of them, or those with WORD in their name.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { launchOptions } from './browser.mjs';
import { serve } from './serve.mjs';

/** @typedef {import('@playwright/test').Page} Page */
/** @typedef {{ file?: string, view?: string, at?: number, size?: number, act?: (page: Page) => Promise<void>, width?: number, height?: number, path?: string }} Shot */

const CUBIN = 'examples/vadd.sm_90a.13.0.cubin';
const OBJECT = 'examples/args.gfx90a.v5.co';
const BROKEN = 'examples/note-descsz-too-big.co';
const NARROW = { width: 390, height: 844 };

/** @type {Record<string, Shot>} */
const shots = {
  start: {},
  summary: { file: CUBIN },
  cubin: { file: CUBIN, view: 'kernels', at: 0x58c },
  sections: { file: CUBIN, view: 'sections', at: 0x408, size: 104 },
  symbols: {
    file: OBJECT,
    view: 'symbols',
    act: (page) => page.locator('kernel-scope-table .row').nth(4).click(),
  },
  map: { file: OBJECT, view: 'map', at: 0x200 },
  'amd-summary': { file: OBJECT },
  'amd-kernel': { file: OBJECT, view: 'kernels/0', at: 0xcc0, size: 64 },
  'code-object': { file: OBJECT, view: 'kernels/0', at: 0xcf0, size: 1 },
  findings: { file: BROKEN, view: 'diagnostics', at: 0x200 },
  'start-narrow': NARROW,
  narrow: { ...NARROW, file: CUBIN, view: 'kernels' },
  'bytes-narrow': { ...NARROW, file: CUBIN, view: 'kernels', at: 0x584 },
  'fields-narrow': {
    ...NARROW,
    file: CUBIN,
    view: 'kernels',
    at: 0x584,
    act: (page) => page.getByRole('button', { name: 'Fields', exact: true }).click(),
  },
  embed: { path: 'examples/embed.html', width: 1280, height: 1500 },
};
/** Those that README.md shows. */
const KEPT = new Set(['cubin-light', 'cubin-dark', 'code-object-dark', 'narrow-light']);

const folder = process.argv[2] ?? 'docs/screenshots';
const word = process.argv[3] ?? '';
await mkdir(folder, { recursive: true });
const server = await serve({ folder: 'dist' });
const browser = await chromium.launch(launchOptions);
for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  for (const [name, shot] of Object.entries(shots)) {
    const file = `${name}-${colorScheme}`;
    if (process.argv[2] ? !file.includes(word) : !KEPT.has(file)) continue;
    const { width = 1280, height = 800 } = shot;
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    page.on('console', (message) => console.log(file, message.type(), message.text()));
    await page.goto(server.url + (shot.path ?? ''));
    if (shot.file) await open(page, shot);
    await page.waitForTimeout(500);
    await shot.act?.(page);
    await page.waitForTimeout(200);
    await page.screenshot({ path: join(folder, `${file}.png`) });
    await page.close();
  }
}
await browser.close();
server.close();

/** @param {Page} page @param {Shot} shot */
async function open(page, { file, view, at, size }) {
  await page.evaluate(
    async ([file, view, at, size]) => {
      const scope = /** @type {any} */ (document.querySelector('kernel-scope'));
      if (view) scope.view = view;
      await scope.openUrl(file);
      await scope.updateComplete;
      await new Promise((resolve) => setTimeout(resolve, 300));
      if (at !== undefined) scope.session.select(at, size ?? 1);
    },
    /** @type {const} */ ([file, view, at, size]),
  );
}
