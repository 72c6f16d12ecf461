// Pictures of the built site, for README.md and for whoever changes how it looks: `node scripts/screenshots.mjs [FOLDER [WORD]]`
// makes those that are kept in docs/screenshots, or in FOLDER all of them, or those with WORD in their name.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { launchOptions } from './browser.mjs';
import { serve } from './serve.mjs';

/** @typedef {import('@playwright/test').Page} Page */
/** @typedef {{ place?: string, act?: (page: Page) => Promise<void>, width?: number, height?: number, path?: string }} Shot */

const CUBIN = 'src=examples/vadd.sm_90a.13.0.cubin';
const OBJECT = 'src=examples/args.gfx90a.v5.co';
const BROKEN = 'src=examples/note-descsz-too-big.co';
const NARROW = { width: 390, height: 844 };
const WIDE = { width: 1920, height: 1080 };

/** @param {Page} page */
const atTheRight = (page) => page.keyboard.press('d');

/** @type {Record<string, Shot>} */
const shots = {
  start: {},
  summary: { place: `${OBJECT}` },
  cubin: { place: `${CUBIN}&view=kernels&at=0x584&select=ordinal` },
  sections: { place: `${CUBIN}&view=sections&at=0x408&select=104` },
  symbols: {
    place: `${OBJECT}&view=symbols`,
    act: (page) => page.locator('kernel-scope-table .row').nth(4).click(),
  },
  map: { place: `${OBJECT}&view=map&at=0x200` },
  image: { place: `${CUBIN}&view=image&at=.text._Z4vaddPKfS0_Pfi%2B0x10&select=16` },
  'code-object': { place: `${OBJECT}&view=kernels/0&at=0xcf0` },
  metadata: { place: `${OBJECT}&view=metadata&at=0x2c0` },
  findings: { place: `${BROKEN}&view=diagnostics&at=0x200` },
  find: {
    place: `${CUBIN}&view=sections`,
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type('vadd');
    },
  },
  right: { ...WIDE, place: `${CUBIN}&view=kernels&at=0x584&select=ordinal`, act: atTheRight },
  'start-narrow': NARROW,
  narrow: { ...NARROW, place: `${CUBIN}&view=kernels` },
  'bytes-narrow': { ...NARROW, place: `${CUBIN}&view=kernels&at=0x584` },
  'fields-narrow': {
    ...NARROW,
    place: `${CUBIN}&view=kernels&at=0x584`,
    act: (page) => page.getByRole('button', { name: 'Fields', exact: true }).click(),
  },
  embed: { path: 'examples/embed.html', width: 1280, height: 1500 },
};
/** Those that README.md shows, and those that show what there is. */
const KEPT = new Set([
  'start-light',
  'summary-light',
  'cubin-light',
  'cubin-dark',
  'sections-dark',
  'map-light',
  'image-light',
  'code-object-dark',
  'metadata-light',
  'findings-light',
  'find-dark',
  'right-dark',
  'narrow-light',
  'fields-narrow-dark',
]);

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
    await page.goto(`${server.url}${shot.path ?? ''}${shot.place ? `#${shot.place}` : ''}`);
    await page.waitForTimeout(500);
    await page.waitForTimeout(500);
    await shot.act?.(page);
    await page.waitForTimeout(200);
    await page.screenshot({ path: join(folder, `${file}.png`) });
    await page.close();
  }
}
await browser.close();
server.close();
