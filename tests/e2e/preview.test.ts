// What a launch hands to the GPU. Of version 03.00 the header clc6c0qmd.h has CTA_RASTER_WIDTH at bits 415:384, which is word 12 (384 =
// 12 × 32), and CTA_THREAD_DIMENSION0 at 607:592, the upper half of word 18 (592 = 18 × 32 + 16). Of version 05.00 clcdc0qmd.h has
// GRID_WIDTH at 1279:1248, which is word 39 (1248 = 39 × 32), and CTA_THREAD_DIMENSION0 at 1103:1088, the lower half of word 34
// (1088 = 34 × 32). 4096 is 0x1000, 256 is 0x100.

import type { Locator, Page } from '@playwright/test';
import { drop, show } from './page.ts';
import { expect, test } from './site.ts';

const AMPERE = 'tests/fixtures/nvidia/cubin/vadd.sm_80.11.8.cubin';
const BLACKWELL = 'tests/fixtures/nvidia/cubin/vadd.sm_120.13.5.cubin';
const KERNEL = 'tests/fixtures/amdgpu/own/hidden.gfx90a.v5.co';

const panel = (page: Page) => page.locator('kernel-scope-launch');
const made = (page: Page) => page.locator('kernel-scope-made');
const word = (page: Page, index: number) => made(page).locator(`.unit[data-at="${4 * index}"]`);
const foot = (page: Page) => made(page).locator('kernel-scope-diagram .foot');

async function open(page: Page, file: string): Promise<void> {
  await page.goto('./');
  await drop(page, file);
  await show(page, 'Launch');
  await expect(word(page, 0)).toBeVisible();
}

/** Types into the form. */
async function type(page: Page, key: string, value: string): Promise<Locator> {
  const field = panel(page).locator(`kernel-scope-form [id="${key}"]`);
  await field.fill(value);
  return field;
}

test('the words of a launch change with what is typed, and so do the fields', async ({ page }) => {
  await open(page, AMPERE);
  await panel(page).locator('kernel-scope-form [id="gpu"]').selectOption('sm_89');
  // The GPU is in words of its own: what is typed before they are there would change with them.
  await expect(word(page, 51)).toHaveClass(/changed/);
  await type(page, 'grid', '4096');
  await expect(word(page, 12)).toHaveText('00001000');
  await expect(word(page, 12)).toHaveClass(/changed/);
  await expect(made(page).getByText('Changed: word 12.')).toBeVisible();
  await type(page, 'block', '128');
  await expect(word(page, 18)).toHaveText(/^0080/);
  await type(page, 'block', '256');
  await expect(word(page, 18)).toHaveText(/^0100/);
  await expect(word(page, 18)).toHaveClass(/changed/);
  await expect(word(page, 12)).not.toHaveClass(/changed/);
  // A word leads to its field, which says where its value comes from.
  await word(page, 12).click();
  await expect(foot(page)).toContainText('CTA_RASTER_WIDTH');
  await expect(foot(page)).toContainText('from the launch');
  await expect(word(page, 12).locator('.chosen')).toHaveText('00001000');
  // The left half of word 18 is block x.
  await word(page, 18).click({ position: { x: 12, y: 8 } });
  await expect(foot(page)).toContainText('CTA_THREAD_DIMENSION0');
  await expect(word(page, 18).locator('.chosen')).toHaveText('0100');
  // The keyboard goes on from there, and a field leads to its words.
  await page.keyboard.press('ArrowRight');
  await expect(word(page, 19)).toBeFocused();
  await made(page).locator('kernel-scope-diagram button.box').filter({ hasText: 'CTA_RASTER_WIDTH' }).last().click();
  await expect(word(page, 12).locator('.chosen')).toHaveText('00001000');
});

/** Copies what is shown as a C array, and opens that as a dump. */
async function copyAndDecode(page: Page, words: number): Promise<void> {
  await made(page)
    .getByRole('button', { name: /^Copy / })
    .click();
  await made(page).getByRole('menuitem', { name: 'Copy as C array uint32_t' }).click();
  await expect(made(page).getByRole('status').filter({ hasText: 'copied' })).toBeVisible();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text).toContain(`static const uint32_t words[${words}] = {`);
  await page.locator('kernel-scope-identity kernel-scope-menu').getByRole('button').first().click();
  await page.getByRole('menuitem', { name: 'Decode a dump' }).click();
  await page.locator('kernel-scope-decode textarea').first().fill(text);
  await page.locator('kernel-scope-decode').getByRole('button', { name: 'Decode', exact: true }).click();
  await expect(page.locator('kernel-scope-identity')).toContainText('QMD');
}

/** Goes to a word of the dump and expects the field there, and its value. */
async function expectField(page: Page, offset: number, field: string, value: string): Promise<void> {
  const dock = page.locator('kernel-scope-dock');
  await dock.getByLabel('Go to offset').fill(`0x${offset.toString(16)}`);
  await dock.getByLabel('Go to offset').press('Enter');
  await expect(dock.locator('kernel-scope-diagram .foot')).toContainText(field);
  await expect(dock.locator('kernel-scope-diagram .foot')).toContainText(value);
}

test('a launch of the vadd for Ada that comes with the page is copied and read back', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
  await page.goto('./#src=examples/vadd.sm_89.13.5.nvcc.cubin&view=launch/0');
  await expect(word(page, 0)).toBeVisible();
  await type(page, 'grid', '4096');
  await type(page, 'block', '256');
  await expect(word(page, 12)).toHaveText('00001000');
  await expect(word(page, 18)).toHaveText(/^0100/);
  await word(page, 12).click();
  await expect(foot(page)).toContainText('CTA_RASTER_WIDTH');
  await word(page, 18).click({ position: { x: 12, y: 8 } });
  await expect(foot(page)).toContainText('CTA_THREAD_DIMENSION0');
  await copyAndDecode(page, 64);
  // 4096 and 256 are 0x1000 and 0x0100: 12 × 4 = 0x30, 18 × 4 + 2 = 0x4a.
  await expectField(page, 0x30, 'CTA_RASTER_WIDTH', '0x00001000');
  await expectField(page, 0x4a, 'CTA_THREAD_DIMENSION0', '0x0100');
});

test('a launch on Blackwell is at its own words, and read back from there', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
  await open(page, BLACKWELL);
  await type(page, 'grid', '4096');
  await type(page, 'block', '128');
  await expect(word(page, 34)).toHaveText(/0080$/);
  await type(page, 'block', '256');
  await expect(word(page, 39)).toHaveText('00001000');
  await expect(word(page, 34)).toHaveText(/0100$/);
  await expect(word(page, 34)).toHaveClass(/changed/);
  await word(page, 39).click();
  await expect(foot(page)).toContainText('GRID_WIDTH');
  await copyAndDecode(page, 96);
  // 39 × 4 = 0x9c, 34 × 4 = 0x88.
  await expectField(page, 0x9c, 'GRID_WIDTH', '0x00001000');
  await expectField(page, 0x88, 'CTA_THREAD_DIMENSION0', '0x0100');
});

test('what is typed is in the address, and what is wrong is below the input', async ({ page }) => {
  await open(page, AMPERE);
  await type(page, 'grid', '4096');
  const block = await type(page, 'block', '1025');
  await expect(block).toHaveAttribute('aria-invalid', 'true');
  await expect(panel(page).locator('kernel-scope-form .problem.error').first()).toContainText('1024');
  await expect.poll(() => new URL(page.url()).hash).toContain('launch=grid:4096;block:1025');
  // Another panel and back: it is still there. Steps that come at once are one step back.
  await page.waitForTimeout(1000);
  await show(page, 'Sections');
  await page.goBack();
  await expect(panel(page).locator('kernel-scope-form [id="grid"]')).toHaveValue('4096');
});

test('a value that only run time knows is open until it is typed', async ({ page }) => {
  await open(page, AMPERE);
  const slot = made(page).getByRole('table', { name: 'What only run time knows' }).getByRole('textbox').first();
  await expect(slot).toHaveValue('');
  await expect(made(page).locator('.unit .open').first()).toBeVisible();
  const all = await made(page).locator('.unit .open').count();
  await slot.fill('0x7f1234567800');
  await expect.poll(() => made(page).locator('.unit .open').count()).toBeLessThan(all);
  // The form has it, too.
  await expect.poll(() => new URL(page.url()).hash).toContain(':0x7f1234567800');
});

test('a value leads to the bytes of the file that say so, and a field can be set by hand', async ({ page }) => {
  await open(page, AMPERE);
  const box = made(page).locator('kernel-scope-diagram button.box').filter({ hasText: 'REGISTER_COUNT_V' });
  await box.click();
  await foot(page).getByRole('button', { name: 'from the file: EIATTR_REGCOUNT' }).click();
  // An attribute of EIFMT_SVAL: 4 bytes of format, number and size, then a symbol and a count of 4 bytes each.
  await expect(page.locator('kernel-scope-dock kernel-scope-diagram .head b')).toContainText('EIATTR_REGCOUNT');
  await made(page).getByLabel('Set REGISTER_COUNT_V to').fill('40');
  await expect(box).toContainText('40');
  await expect(foot(page)).toContainText('set by hand');
});

test('a dispatch of a code object has a packet and a kernarg segment', async ({ page }) => {
  await open(page, KERNEL);
  await expect(panel(page).getByRole('tab')).toHaveCount(2);
  // Workgroup size x is the 16 bits at byte 4 of the packet: the lower half of word 1 (HSA System Architecture, kernel dispatch packet).
  await type(page, 'block', '64');
  await expect(word(page, 1)).toHaveText(/0040$/);
  await panel(page).getByRole('tab').nth(1).click();
  await expect(panel(page).getByRole('tab').nth(1)).toHaveAttribute('aria-selected', 'true');
  await expect.poll(() => new URL(page.url()).hash).toContain('view=launch/0/kernarg');
});
