// Code objects as people look at them. Expected values are what `llvm-readelf-22 --notes` says of the file.

import type { Page } from '@playwright/test';
import { drop, numbers, show } from './page.ts';
import { expect, test } from './site.ts';

/** Its one kernel has hidden arguments of all kinds, and spills. */
const HIDDEN = 'tests/fixtures/amdgpu/own/hidden.gfx90a.v5.co';

async function open(page: Page, panel = 'Kernels'): Promise<void> {
  await page.goto('./');
  await drop(page, HIDDEN);
  await show(page, panel);
}

const dispatch = (page: Page) => page.locator('kernel-scope-dispatch');
const kernel = (page: Page) => page.locator('kernel-scope-kernel');

test('registers at the start lead to the bits that ask for them', async ({ page }) => {
  await open(page);
  const facts = await numbers(page.getByRole('main'));
  // .vgpr_count, .sgpr_count, .vgpr_spill_count and .sgpr_spill_count.
  expect(facts).toMatchObject({ VGPRs: '12', SGPRs: '22' });
  await expect(kernel(page).locator('.lead')).toContainText('Registers are spilled: 1 vector and 3 scalar.');
  expect(Object.keys(facts)).toEqual(['VGPRs', 'SGPRs', 'LDS', 'Scratch', 'Kernarg', 'Waves']);
  await expect(kernel(page).locator('.lead')).toContainText('Waves of 64 lanes');
  const users = kernel(page).getByRole('table', { name: 'User SGPRs' });
  const row = users.getByRole('row', { name: /kernarg segment pointer/ });
  await row.getByRole('button').click();
  await expect(row).toHaveClass(/on/);
  await expect(page.locator('kernel-scope-dock kernel-scope-diagram .foot')).toContainText(
    'ENABLE_SGPR_KERNARG_SEGMENT_PTR',
  );
});

test('the kernarg segment is a record whose fields lead to the metadata', async ({ page }) => {
  await open(page);
  const diagram = dispatch(page).locator('kernel-scope-diagram');
  await expect(diagram.locator('.head')).toContainText('in no file');
  const field = diagram.getByRole('button', { name: /^hidden_block_count_x/ }).first();
  await field.click();
  await expect(diagram.locator('.foot b').first()).toHaveText('hidden_block_count_x');
  // The bytes that are selected are those of the argument in the note: a map of 3 (1 byte) with .offset (1 + 7 bytes, and 1 of its
  // value), .size (1 + 5, and 1), .value_kind (1 + 11, and 1 + 20).
  const dock = page.locator('kernel-scope-dock kernel-scope-hex');
  await expect(dock).toContainText('50 bytes selected');
  await expect(dock.locator('.foot')).toContainText('args[11]');
  // The keyboard goes on from there.
  await page.keyboard.press('ArrowDown');
  await expect(diagram.locator('.foot b').first()).not.toHaveText('hidden_block_count_x');
});

test('a descriptor is copied as an assembler reads it', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
  await open(page);
  await dispatch(page).getByRole('button', { name: 'Show the .amdhsa_kernel block' }).click();
  const text = dispatch(page).getByRole('region', { name: 'The .amdhsa_kernel block' });
  await expect(text).toContainText('.amdhsa_kernel ');
  await expect(text).toContainText('.end_amdhsa_kernel');
  await dispatch(page).getByRole('button', { name: 'Copy as .amdhsa_kernel' }).click();
  await expect(dispatch(page).getByRole('status').filter({ hasText: 'copied' })).toBeVisible();
});

test('metadata is a tree that is folded, filtered and walked through', async ({ page }) => {
  await open(page, 'Metadata');
  const grid = page.getByRole('treegrid', { name: 'Metadata' });
  const rows = grid.locator('.rows [role="row"]');
  const kernels = rows.filter({ hasText: 'amdhsa.kernels' });
  await expect(kernels).toHaveAttribute('aria-expanded', 'true');
  await expect(kernels).toHaveAttribute('aria-level', '1');
  const all = await rows.count();
  await kernels.locator('.fold').click();
  await expect(kernels).toHaveAttribute('aria-expanded', 'false');
  await expect(rows.filter({ hasText: '.args' })).toHaveCount(0);
  await expect(rows.filter({ hasText: 'amdhsa.target' })).toBeVisible();
  expect(await rows.count()).toBeLessThan(all);
  // The keyboard unfolds, goes in, and comes back out.
  await page.keyboard.press('ArrowRight');
  await expect(kernels).toHaveAttribute('aria-expanded', 'true');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(grid.locator('[aria-selected="true"]')).toHaveAttribute('aria-level', '3');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect(grid.locator('[aria-selected="true"]')).not.toHaveAttribute('aria-level', '3');
  // What is filtered stands with its path.
  await page.getByRole('searchbox', { name: 'Filter Metadata' }).fill('hidden_block_count_x');
  await expect(rows.filter({ hasText: 'amdhsa.kernels[0].args' }).first()).toBeVisible();
  // A row is its bytes: 1 + 11 of the key, 1 + 20 of the value.
  await rows.filter({ hasText: '.value_kind' }).first().click();
  await expect(page.locator('kernel-scope-dock kernel-scope-hex')).toContainText('33 bytes selected');
});

test('what is selected of the metadata is shown in its tree', async ({ page }) => {
  await open(page);
  await kernel(page).getByRole('table', { name: 'Hidden arguments' }).getByRole('button').first().click();
  await show(page, 'Metadata');
  await expect(page.getByRole('treegrid', { name: 'Metadata' }).locator('.row.here').first()).toBeVisible();
});
