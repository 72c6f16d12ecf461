// What the tests do with the page again and again.

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import { expect, type Locator, type Page } from '@playwright/test';

export const VADD = 'tests/fixtures/nvidia/cubin/vadd.sm_90a.13.0.cubin';
export const ARGS = 'tests/fixtures/amdgpu/out/args.gfx90a.v5.co';

/** Drops a file on `where`, as a person would. */
export async function drop(page: Page, path: string, where = 'body', name = basename(path)): Promise<void> {
  const content = (await readFile(path)).toString('base64');
  const transfer = await page.evaluateHandle(
    async ([content, name]) => {
      const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name));
      return transfer;
    },
    [content, name] as const,
  );
  await page.dispatchEvent(where, 'dragover', { dataTransfer: transfer });
  await page.dispatchEvent(where, 'drop', { dataTransfer: transfer });
}

/** The bytes that are visible, if the row that begins at `offset` is among them. */
export function hexRow(page: Page | Locator, offset: number): Locator {
  return page.locator('kernel-scope-hex pre').filter({ hasText: offset.toString(16).padStart(6, '0') });
}

/** Where a byte of the hex view is in the window: the middle of its digits. */
export async function pointOf(page: Page | Locator, offset: number): Promise<{ x: number; y: number }> {
  const rows = hexRow(page, offset - (offset % 16));
  await rows.waitFor();
  return rows.evaluate((pre, offset) => {
    const lines = (pre.textContent ?? '').split('\n');
    const margin = (offset - (offset % 16)).toString(16).padStart(6, '0');
    const row = lines.findIndex((line) => line.startsWith(margin));
    const { left, top, width } = pre.getBoundingClientRect();
    const i = offset % 16;
    const character = width / (lines[0]?.length ?? 1);
    return { x: left + (margin.length + 2 + i * 3 + Math.floor(i / 8) + 1) * character, y: top + (row + 0.5) * 21 };
  }, offset);
}

/** Clicks a byte in the hex view. */
export async function clickByte(page: Page, offset: number): Promise<void> {
  const { x, y } = await pointOf(page, offset);
  await page.mouse.click(x, y);
}

/** Goes to an offset by the field for it. */
export async function goTo(page: Page, offset: string): Promise<void> {
  const field = page.locator('kernel-scope-dock').getByLabel('Go to offset');
  await field.fill(offset);
  await field.press('Enter');
}

/** The six numbers of a kernel, by their titles. */
export async function numbers(within: Page | Locator): Promise<Record<string, string>> {
  const facts = within.locator('kernel-scope-kernel .facts div');
  await facts.first().waitFor();
  const pairs = await facts.evaluateAll((all) =>
    all.map((one) => [one.querySelector('dt')?.textContent, one.querySelector('dd b')?.textContent]),
  );
  return Object.fromEntries(pairs);
}

/** Opens a panel by its name in the tree, where others may still come in between: what was clicked then is another one. */
export async function show(within: Page | Locator, panel: string): Promise<void> {
  const item = within
    .getByRole('navigation')
    .getByRole('treeitem', { name: new RegExp(`^${panel}( [\\d,]+)?$`) })
    .and(within.locator('[aria-level="1"]'));
  await expect(async () => {
    await item.click();
    await expect(item).toHaveAttribute('aria-current', 'page', { timeout: 2000 });
  }).toPass();
}

/** Runs all of axe's rules on what is shown, or only on one element of it; findings as one line each. */
export async function axe(page: Page, what = '', ...within: string[]): Promise<void> {
  // The site has no frames that would need a page of axe's own.
  const builder = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] });
  const [first, ...inner] = within;
  if (first) builder.include({ fromShadowDom: ['kernel-scope', first, ...inner] });
  const { violations, passes } = await builder.analyze();
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) => `${id}: ${target.flat().at(-1)}: ${failureSummary?.replaceAll(/\s+/g, ' ')}`,
    ),
  );
  expect.soft(found, what).toEqual([]);
  // It has looked into the elements.
  const looked = passes
    .flatMap(({ nodes }) => nodes.map(({ target }) => target))
    .filter((target) => Array.isArray(target[0]));
  expect(looked.length).toBeGreaterThan(2);
}
