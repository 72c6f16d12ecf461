// Code and PTX as people look at them. Expected values are those of the vendor's listings, as tests/fixtures/code.json has them.

import { readFile } from 'node:fs/promises';
import type { Locator, Page } from '@playwright/test';
import { drop, show } from './page.ts';
import { expect, test } from './site.ts';

const INLINE = 'tests/fixtures/nvidia/cubin/inline.sm_90.13.5.nvcc-lineinfo.cubin';
const LINKED = 'tests/fixtures/nvidia/cubin/linked.sm_90.13.5.nvlink-lineinfo.cubin';
const BUNDLES = 'tests/fixtures/nvidia/cubin/vadd.sm_61.12.4.cubin';
const OBJECT = 'tests/fixtures/amdgpu/linked/tile.gfx1250.v5.gdwarf-5.zstd.co';
const FACTS = JSON.parse(await readFile('tests/fixtures/code.json', 'utf8'));

async function openCode(page: Page, file: string, kernel: string, title = 'Its instructions'): Promise<Locator> {
  await page.goto('./');
  await drop(page, file);
  await show(page, 'Kernels');
  const link = page.getByRole('main').getByRole('button', { name: kernel });
  const instructions = page.getByRole('button', { name: title });
  // A file of one kernel shows it at once.
  await link.or(instructions).first().waitFor();
  // Where rows come in between, what was clicked was another one.
  await expect(async () => {
    if (await link.count()) await link.click({ timeout: 2000 });
    await expect(instructions).toBeVisible({ timeout: 2000 });
  }).toPass();
  await instructions.click();
  const grid = page.getByRole('grid', { name: 'Code' });
  await expect(grid.getByRole('row').nth(1)).toBeVisible();
  return grid;
}

test('a kernel leads to its instructions, and these to their bytes and fields', async ({ page }) => {
  const grid = await openCode(page, INLINE, 'first');
  const fact = FACTS['nvidia/cubin/inline.sm_90.13.5.nvcc-lineinfo.cubin'].first;
  await expect(page.locator('kernel-scope-code .facts b').first()).toHaveText(String(fact.instructions));
  await expect(page.getByRole('status').filter({ hasText: 'rows' })).toHaveText(`${fact.instructions} rows`);
  // The first instruction has the first line that is listed.
  const row = grid.getByRole('row').nth(1);
  await expect(row).toContainText('inline.cu');
  await expect(row).toContainText(String(fact.lines[0][2]));
  await row.click();
  await expect(page.locator('kernel-scope-diagram')).toContainText('write barrier');
  await expect(page.locator('kernel-scope-hex')).toContainText('16 bytes selected');
  await page.getByRole('button', { name: 'first', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'first' })).toBeVisible();
});

test('instructions are filtered, and the timeline says in words what it draws', async ({ page }) => {
  const grid = await openCode(page, BUNDLES, '_Z4vaddPKfS0_Pfi');
  const lanes = grid.getByRole('img');
  // S2R sets barrier 0 until its result is there: word 0xf0c8000002570000, whose control bits 5 to 7 are 0.
  await expect(lanes.nth(1)).toHaveAccessibleName('0 set until the result is written');
  await page.getByRole('searchbox', { name: 'Filter Code' }).fill('wait:-1----');
  await expect(grid.getByRole('row')).toHaveCount(2);
  await expect(grid.getByRole('row').nth(1)).toContainText('0x30');
});

test('PTX is read by lines, of one text or of several', async ({ page }) => {
  await page.goto('./');
  await drop(page, INLINE);
  await show(page, 'Text');
  const lines = page.getByRole('grid', { name: 'Lines' });
  await page.getByRole('searchbox', { name: 'Filter Lines' }).fill('.target');
  await expect(lines.getByRole('row')).toHaveCount(2);
  await expect(lines.locator('.ptx-directive')).toHaveText('.target');
  await page.goto('./');
  await drop(page, LINKED);
  await show(page, 'Text');
  await page
    .getByRole('main')
    .getByRole('button', { name: /nv_debug_ptx_txt/ })
    .first()
    .click();
  await expect(lines.getByRole('row').nth(1)).toBeVisible();
  await page.getByRole('button', { name: 'All 2 texts' }).click();
  await expect(page.getByRole('grid', { name: 'Text' })).toBeVisible();
});

test('an instruction leads to its line of PTX, and the line to the code', async ({ page }) => {
  // Of two texts, third is in the second.
  const grid = await openCode(page, LINKED, 'third');
  const [, [offset, line]] = FACTS['nvidia/cubin/linked.sm_90.13.5.nvlink-lineinfo.cubin'].third.ptx;
  const row = grid.getByRole('row').nth(1 + offset / 16);
  await expect(row.getByRole('gridcell').first()).toHaveText(`0x${offset.toString(16)}`);
  await row.getByRole('button', { name: String(line), exact: true }).click();
  const lines = page.getByRole('grid', { name: 'Lines' });
  const chosen = lines.locator('[aria-selected="true"]');
  await expect(chosen).toHaveAttribute('aria-rowindex', String(line + 1));
  await expect(chosen).toBeInViewport();
  await expect(page).toHaveURL(/view=texts\/1/);

  await lines
    .locator(`[aria-rowindex="${line + 1}"]`)
    .getByRole('button')
    .click();
  await expect(page.getByText('Code of third')).toBeVisible();
  await expect(grid.locator('[aria-selected="true"]')).toHaveAttribute('aria-rowindex', String(2 + offset / 16));
});

test('a line in a long text is brought into view, by the keyboard too', async ({ page }) => {
  const grid = await openCode(page, INLINE, 'second');
  const [[, line]] = FACTS['nvidia/cubin/inline.sm_90.13.5.nvcc-lineinfo.cubin'].second.ptx;
  await grid.focus();
  await grid.press('Control+Home');
  await grid.press('End');
  await grid.press('ArrowLeft');
  await grid.press('Enter');
  const chosen = page.getByRole('grid', { name: 'Lines' }).locator('[aria-selected="true"]');
  await expect(chosen).toHaveAttribute('aria-rowindex', String(line + 1));
  await expect(chosen).toBeInViewport();
  // The bytes of the line are selected with it.
  await expect(page.locator('kernel-scope-hex .head')).toContainText('.nv_debug_ptx_txt');
  await chosen.getByRole('button').click();
  await expect(grid.locator('[aria-selected="true"]')).toHaveAttribute('aria-rowindex', '2');
});

test('code of a code object is words with the symbols and lines that begin in them', async ({ page }) => {
  const facts = JSON.parse(await readFile('tests/fixtures/lines.json', 'utf8'));
  const [[, second]] = facts.files['amdgpu/linked/tile.gfx1250.v5.gdwarf-5.zstd.co'];
  // The first kernel by name begins where the line program does, at 0x2200; its second row is 8 bytes further.
  const grid = await openCode(page, OBJECT, 'fixed', 'Its code');
  const first = grid.getByRole('row').nth(1);
  await expect(first).toContainText('fixed');
  const third = grid.getByRole('row').nth(3);
  await expect(third).toContainText('tile.cl');
  await expect(third).toContainText(String(second[1]));
  await expect(page.locator('kernel-scope-code')).toContainText('only a decoder knows');
  await expect(page.locator('kernel-scope-code .facts')).toHaveCount(0);
  await third.click();
  await expect(page.locator('kernel-scope-hex')).toContainText('4 bytes selected');
});

test('the longest runs of stalls are listed, and each leads to its first instruction', async ({ page }) => {
  const grid = await openCode(page, INLINE, 'first');
  const code = page.locator('kernel-scope-code');
  await code.getByText(/^The \d longest stalls$/).click();
  const runs = code.locator('.runs li button');
  expect(await runs.count()).toBeGreaterThan(1);
  for (const run of [runs.last(), runs.first()]) {
    const words = (await run.textContent()) ?? '';
    const index = Number(/from instruction (\d+) on/.exec(words)?.[1]);
    await run.click();
    // Rows count from 1, and the first one has the columns' names.
    await expect(grid.locator('[role=row][aria-selected=true]')).toHaveAttribute('aria-rowindex', String(index + 2));
  }
});
