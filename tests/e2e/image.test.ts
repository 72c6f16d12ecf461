// The image panel. `readelf -lS` of the code object: .rodata has 0x80 bytes at 0xcc0, with that address, .text 0x640 at 0xe00, address
// 0x1e00; PT_LOAD segments put 0xd40 bytes at 0 and 0x640 bytes of 0xe00 at 0x1e00. An image by sections begins at its lowest address,
// rounded down to the largest alignment of a section held, 0x100: at 0xc00.

import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { ARGS, drop, goTo, show } from './page.ts';
import { expect, test } from './site.ts';

const panel = (page: Page) => page.locator('kernel-scope-image');
const head = (page: Page) => panel(page).locator('kernel-scope-hex .head');
const lines = (page: Page) =>
  panel(page)
    .locator('pre')
    .evaluate((pre) => (pre.textContent ?? '').split('\n'));
const pairs = (bytes: Uint8Array) =>
  `${Array.from(bytes.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join(' ')}`;

async function open(page: Page): Promise<Buffer> {
  await page.goto('./');
  await drop(page, ARGS);
  await show(page, 'Image');
  await expect(panel(page).getByRole('listbox', { name: 'Pieces of the image' })).toBeVisible();
  return readFile(ARGS);
}

test('pieces lead to their bytes, in the image and in the file', async ({ page }) => {
  const file = await open(page);
  const pieces = panel(page).getByRole('option');
  await expect(pieces).toHaveCount(3);
  await expect(panel(page).getByText(/from 0xc00/)).toBeVisible();
  // 0x1e00 - 0xc00 = 0x1200.
  const text = pieces.filter({ hasText: '.text' });
  await expect(text).toContainText('0x1200');
  await text.click();
  await expect(text).toHaveAttribute('aria-selected', 'true');
  await expect(head(page)).toContainText('image 0x1200');
  await expect(head(page)).toContainText('file 0xe00');
  await expect(head(page)).toContainText('1,600 bytes selected');
  const dock = page.locator('kernel-scope-dock kernel-scope-hex .head');
  await expect(dock).toContainText('file 0xe00');
  await expect(dock).toContainText('1,600 bytes selected');
  await expect
    .poll(async () => (await lines(page)).find((line) => line.startsWith('001200'))?.slice(8, 31))
    .toBe(pairs(file.subarray(0xe00)));

  // Bytes that only the image has are selected in it alone.
  await pieces.filter({ hasText: '.relro_padding' }).click();
  await expect(head(page)).toContainText('not from the file');
  await expect(dock).toContainText('file 0xe00');

  // And the other way: 0xcc0 - 0xc00 = 0xc0; the ELF header is not in this image.
  await goTo(page, '0xcc8');
  await expect(head(page)).toContainText('image 0xc8');
  await goTo(page, '0x10');
  await expect(head(page)).toContainText('not in this image');
});

test('the rule of the segments is the other one, and the differences are named', async ({ page }) => {
  const file = await open(page);
  const differing = panel(page).getByRole('button', { name: 'Runs of bytes that differ' });
  await expect(differing).toBeVisible();
  await panel(page)
    .getByRole('radio', { name: /By segments/ })
    .check();
  await goTo(page, '0xe00');
  await expect(head(page)).toContainText('image 0x1e00');
  await goTo(page, '0x10');
  await expect(head(page)).toContainText('image 0x10');
  await expect
    .poll(async () => (await lines(page)).find((line) => line.startsWith('000010'))?.slice(8, 31))
    .toBe(pairs(file.subarray(0x10)));
  // The sections leave out what is before .rodata from 0xc00 on: there the segments have the file's bytes and the sections zeros.
  const first = file.findIndex((byte, at) => at >= 0xc00 && byte !== 0);
  await differing.click();
  await panel(page).getByRole('menuitem').first().click();
  await expect(head(page)).toContainText(`image 0x${first.toString(16)}`);
});

test('an image is saved', async ({ page }) => {
  const file = await open(page);
  const saving = page.waitForEvent('download');
  await panel(page).getByRole('button', { name: 'save image…' }).click();
  const saved = await saving;
  expect(saved.suggestedFilename()).toBe('args.gfx90a.v5.co.image.bin');
  const image = await readFile(await saved.path());
  expect(image.subarray(0x1200, 0x1840)).toEqual(file.subarray(0xe00, 0x1440));
  expect(image.subarray(0xc0, 0x140)).toEqual(file.subarray(0xcc0, 0xd40));
  expect(image.subarray(0x140, 0x1200).every((byte) => byte === 0)).toBe(true);
});

test('bytes of the image are found and gone to', async ({ page }) => {
  const file = await open(page);
  const field = panel(page).getByLabel('Go to offset');
  await field.fill('0x1200');
  await field.press('Enter');
  await expect(head(page)).toContainText('image 0x1200');
  await page.keyboard.press('Control+f');
  const find = panel(page).getByLabel('Bytes to find');
  await find.fill(pairs(file.subarray(0xcc8)));
  await find.press('Enter');
  await expect(panel(page).locator('kernel-scope-find')).toContainText(/found at 0xc8, from the beginning again/);
});

test('a code object is patched for the address that it is loaded at', async ({ page }) => {
  await page.goto('./');
  // llvm-readelf -r lists 14 relocations, all dynamic.
  await drop(page, 'tests/fixtures/amdgpu/out/indirect.gfx90a.v5.co');
  await show(page, 'Image');
  await panel(page).getByLabel('Address that the image is loaded at').fill('7f0000000000');
  await panel(page).getByRole('button', { name: 'patches', exact: true }).click();
  const patches = page.getByRole('grid', { name: 'Patches' });
  await expect(page.getByRole('status').filter({ hasText: /^14 rows/ })).toBeVisible();
  await expect(patches.getByRole('row').nth(1)).toContainText('R_AMDGPU_RELATIVE64');
});
