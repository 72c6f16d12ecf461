// How many blocks of a kernel an SM holds at once. With 16 registers and 256 threads on sm_89: a block has 8 warps and an SM holds 48, so
// 6 blocks. 128 SMs hold 768, of which a grid of 4096 has 4096 / 768 = 5.33 times as many.

import type { Page } from '@playwright/test';
import { ARGS, axe, drop, show, VADD } from './page.ts';
import { expect, test } from './site.ts';

const LINKED = 'tests/fixtures/nvidia/cubin/linked.sm_90.13.5.nvlink-lineinfo.cubin';
const panel = (page: Page) => page.locator('kernel-scope-occupancy');

async function figures(page: Page): Promise<Record<string, string>> {
  const pairs = await panel(page)
    .locator('.facts div')
    .evaluateAll((all) =>
      all.map((one) => [one.querySelector('dt')?.textContent, one.querySelector('dd b')?.textContent]),
    );
  return Object.fromEntries(pairs);
}

test('what is typed says how many blocks there are, and what limits them', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await page.getByRole('button', { name: 'Occupancy' }).click();
  const type = (label: string, text: string) =>
    panel(page).getByRole('textbox', { name: label, exact: true }).fill(text);
  await panel(page).getByRole('combobox', { name: 'GPU' }).selectOption('sm_89');
  await type('Registers', '16');
  await type('Block', '256');
  await type('SMs', '128');
  await type('Grid', '4096');
  await expect
    .poll(() => figures(page))
    .toEqual({
      blocks: '6',
      warps: '48',
      occupancy: '100 %',
      'limited by': 'warps',
      'waves of the grid': '5.33',
    });
  await expect(panel(page).getByRole('row', { name: /\(this limits\)/ })).toContainText('warps');
  // The link has it.
  await expect.poll(() => page.url()).toContain('view=occupancy/0');
  await expect.poll(() => page.url()).toContain('launch=gpu:sm_89;registers:16;block:256;units:128;grid:4096');

  // The launch is told by the same words.
  await show(page, 'Launch');
  await expect(page.locator('kernel-scope-launch').getByLabel(/^block$/i)).toHaveValue('256', {
    timeout: 15_000,
  });
  await show(page, 'Occupancy');
  await expect.poll(() => figures(page)).toMatchObject({ blocks: '6' });

  // 128 registers: a warp takes 4096, so that 65,536 are enough for 16 warps, which are 2 blocks.
  await type('Registers', '128');
  await expect.poll(() => figures(page)).toMatchObject({ blocks: '2', warps: '16', 'limited by': 'registers' });

  // What cannot be is said where it was typed.
  await type('Block', '2048');
  await expect(panel(page).getByRole('textbox', { name: 'Block' })).toHaveAttribute('aria-invalid', 'true');
  await expect.poll(() => figures(page)).toMatchObject({ blocks: '–', warps: '–', 'waves of the grid': '–' });
});

test('a link brings it back, and a chart is read and chosen from', async ({ page }) => {
  const { href } = new URL(
    '#src=examples/vadd.sm_90a.13.0.cubin&view=occupancy/0&launch=gpu:sm_89;registers:16',
    'http://localhost',
  );
  await page.goto(`./${href.slice(href.indexOf('#'))}`);
  await expect.poll(() => figures(page)).toMatchObject({ blocks: '6', warps: '48' });
  const chart = panel(page).getByRole('slider', { name: 'warps by threads of a block' });
  await expect(chart).toHaveAttribute('aria-valuetext', '256: 48 of 48 warps, 100 %');
  await chart.focus();
  // The next one is 288 threads: 9 warps, of which 48 hold 5 blocks, 45 warps.
  await chart.press('ArrowRight');
  await expect(chart).toHaveAttribute('aria-valuetext', '288: 45 of 48 warps, 93.8 %');
  await chart.press('Enter');
  await expect(panel(page).getByRole('textbox', { name: 'Block' })).toHaveValue('288');
  await expect.poll(() => figures(page)).toMatchObject({ blocks: '5', warps: '45', occupancy: '93.8 %' });
  // A click chooses, too: the right end is the most threads of a block.
  const box = await chart.boundingBox();
  await page.mouse.click((box?.x ?? 0) + (box?.width ?? 0) - 2, (box?.y ?? 0) + 20);
  await expect(panel(page).getByRole('textbox', { name: 'Block' })).toHaveValue('1024');
  await panel(page).getByText('The numbers that went into it').click();
  await expect(panel(page).getByRole('table', { name: 'Numbers' })).toContainText('programming guide');
});

test('of several kernels one is chosen', async ({ page }) => {
  await page.goto('./');
  await drop(page, LINKED);
  await show(page, 'Occupancy');
  const grid = panel(page).getByRole('grid', { name: 'Kernels' });
  await grid.getByRole('row').nth(1).getByRole('button').first().click();
  await expect(panel(page).locator('.facts')).toBeVisible();
  await panel(page).getByRole('button', { name: /^All / }).click();
  await expect(grid).toBeVisible();
});

test('a compute unit holds workgroups and waves', async ({ page }) => {
  await page.goto('./');
  await drop(page, ARGS);
  await page.locator('kernel-scope').evaluate((element) => element.setAttribute('view', 'occupancy/0'));
  // A workgroup of 256 work-items is 4 waves of 64; gfx90a has 4 SIMDs of 8 waves each.
  await panel(page).getByRole('textbox', { name: 'Workgroup', exact: true }).fill('256');
  await expect.poll(() => figures(page)).toMatchObject({ workgroups: '8', waves: '32', occupancy: '100 %' });
});

test('axe finds nothing, light, dark and narrow', async ({ page }) => {
  test.setTimeout(90_000);
  for (const [file, colorScheme, width] of [
    [VADD, 'light', 1280],
    [VADD, 'dark', 390],
    [ARGS, 'dark', 1280],
  ] as const) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme });
    await page.goto('./');
    await drop(page, file);
    await page.locator('kernel-scope').evaluate((element) => element.setAttribute('view', 'occupancy/0'));
    await expect(panel(page).locator('h2')).not.toBeEmpty();
    await page.waitForTimeout(200);
    await axe(page, file, 'kernel-scope-panel', 'kernel-scope-occupancy');
    // Nothing is wider than the page.
    const wide = await panel(page).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    expect(wide).toBeLessThanOrEqual(0);
  }
});
