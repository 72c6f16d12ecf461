// Why a file is so big. Sizes of vadd.3arch+ptx are those that `cuobjdump -lelf` and the entries' headers say (facts_nvidia.json).

import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { axe, drop, show, VADD } from './page.ts';
import { expect, test } from './site.ts';

const FATBIN = 'tests/fixtures/nvidia/fatbin/vadd.3arch+ptx.default.13.5.fatbin';

test.describe.configure({ timeout: 90_000 });

test('sizes are rectangles and rows, and what is chosen in one is marked in the other', async ({ page }) => {
  await page.goto('./');
  await drop(page, FATBIN);
  await show(page, 'Size');
  const view = page.locator('kernel-scope-size');
  const map = view.getByRole('group', { name: /^Sizes as rectangles/ });
  const crumbs = view.getByRole('navigation', { name: 'What is shown' });
  const grid = page.getByRole('treegrid', { name: 'Sizes' });
  await expect(crumbs.getByRole('listitem')).toHaveText(['CUDA fatbin']);
  await expect(map.getByRole('button', { name: /^sm_90 machine code/ })).toBeVisible();
  await expect(grid.locator('.row').first()).toContainText('100');
  await axe(page);

  // Into it, by pointer and by keyboard, and back.
  await map.getByRole('button', { name: /^sm_90 machine code/ }).click({ position: { x: 12, y: 6 } });
  await expect(crumbs.getByRole('listitem')).toHaveText(['CUDA fatbin', 'sm_90 machine code']);
  await expect(grid.locator('.row[aria-selected="true"]')).toContainText('sm_90');
  await map.getByRole('button').first().focus();
  await page.keyboard.press('Escape');
  await expect(crumbs.getByRole('listitem')).toHaveText(['CUDA fatbin']);
  await map.locator('[tabindex="0"]').focus();
  await page.keyboard.press('ArrowRight');
  await expect(map.locator(':focus')).toHaveCount(1);
  await expect(map.locator('[tabindex="0"]')).toBeFocused();

  // What is chosen in the table is marked in the map.
  await page.getByLabel('Filter Sizes').fill('name:sm_80 what:machine');
  await grid.locator('.row').first().locator('.cell').nth(1).click();
  await expect(map.locator('[aria-pressed="true"]')).toHaveAttribute('aria-label', /^sm_80 machine code/);

  // By what is unpacked; dark and narrow.
  await view.getByRole('button', { name: 'unpacked', exact: true }).click();
  await expect(view.getByRole('button', { name: 'unpacked', exact: true })).toHaveAttribute('aria-pressed', 'true');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 844 });
  await axe(page);
  const download = page.waitForEvent('download');
  await view.getByRole('button', { name: 'Save as SVG' }).click();
  expect((await download).suggestedFilename()).toMatch(/size\.svg$/);
});

test('a packed library is divided by its architectures once it was opened', async ({ page }, info) => {
  const packed = info.outputPath('exe_two_arch.gz');
  writeFileSync(packed, gzipSync(readFileSync('tests/fixtures/nvidia/host/exe_two_arch.13.5')));
  await page.goto('./');
  await drop(page, packed);
  await show(page, 'Size');
  const map = page.locator('kernel-scope-size .map');
  // What cuobjdump -lelf lists of the program: cubins for sm_75 and sm_90.
  await expect(map.getByRole('button', { name: /^sm_90 machine code/ })).toBeVisible();
  await expect(map.getByRole('button', { name: /^sm_75 machine code/ })).toHaveAttribute('aria-label', /its share/);
  await expect(map.getByRole('button', { name: /^everything else/ })).toBeVisible();
  // A member leads to a tab of its own.
  await page.getByLabel('Filter Sizes').fill('what:cubin');
  const grid = page.getByRole('treegrid', { name: 'Sizes' });
  await expect(grid.locator('.row').first()).toContainText('0!/');
});

test('a cubin is divided by what its bytes are for, down to its kernels', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await show(page, 'Size');
  const grid = page.getByRole('treegrid', { name: 'Sizes' });
  await page.getByLabel('Filter Sizes').fill('what:kernel');
  await expect(grid.locator('.row')).toHaveCount(1);
  await expect(grid.locator('.row')).toHaveText(/vadd/);
  const map = page.locator('kernel-scope-size .map');
  await expect(map.getByRole('button', { name: /^_Z4vadd/ })).toBeVisible();
});
