// Tables as people use them. Expected values are those of readelf, as tests/fixtures/facts.json has them.

import { readFile, writeFile } from 'node:fs/promises';
import type { Locator, Page } from '@playwright/test';
import { manySymbols } from './made.mjs';
import { drop, goTo, show, VADD } from './page.ts';
import { expect, test } from './site.ts';

/** [name, type, address, offset, size, …] of each section of vadd, as readelf prints them. */
const SECTIONS: [string, string, number, number, number][] = JSON.parse(
  await readFile('tests/fixtures/facts.json', 'utf8'),
).cubins['nvidia/cubin/vadd.sm_90a.13.0.cubin'].sections;

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

/** The cell that the keyboard is on. */
function active(grid: Locator): Promise<string | null> {
  return grid.evaluate((one) => {
    const id = one.getAttribute('aria-activedescendant');
    return id && ((one.getRootNode() as ShadowRoot).getElementById(id)?.textContent?.trim() ?? null);
  });
}

async function opened(page: Page, panel: string): Promise<Locator> {
  await page.goto('./');
  await drop(page, VADD);
  await show(page, panel);
  const grid = page.getByRole('grid', { name: panel });
  await expect(grid.getByRole('row').nth(1)).toBeVisible();
  return grid;
}

async function many(page: Page, file: string): Promise<Locator> {
  await page.goto('./');
  await writeFile(file, manySymbols(200_000));
  await page.locator('input[type="file"]').setInputFiles(file);
  await show(page, 'Symbols');
  const grid = page.getByRole('grid', { name: 'Symbols' });
  await expect(grid.getByRole('row').nth(1)).toBeVisible();
  return grid;
}

test('the keyboard goes from cell to cell, and sorts from the heading', async ({ page }) => {
  const grid = await opened(page, 'Sections');
  await page.getByLabel('Filter Sections').press('ArrowDown');
  await expect(grid).toBeFocused();
  expect(await active(grid)).toBe('#');
  await grid.press('ArrowDown');
  await grid.press('ArrowDown');
  await grid.press('ArrowRight');
  expect(await active(grid)).toBe(SECTIONS[1]?.[0]);
  await grid.press('Control+End');
  expect(await active(grid)).toBe(SECTIONS.at(-1)?.[0]);
  await grid.press('Control+Home');
  await grid.press('End');
  await grid.press('Home');
  expect(await active(grid)).toBe('0');

  // The heading is above the first row; Size is the seventh of the columns that are shown.
  await grid.press('ArrowUp');
  for (let i = 0; i < 6; i++) await grid.press('ArrowRight');
  expect(await active(grid)).toBe('Size');
  await grid.press('Enter');
  const size = grid.getByRole('columnheader', { name: 'Size' });
  await expect(size).toHaveAttribute('aria-sort', 'ascending');
  await grid.press('Enter');
  await expect(size).toHaveAttribute('aria-sort', 'descending');
  const largest = SECTIONS.toSorted((a, b) => b[4] - a[4])[0]?.[0] ?? '';
  await expect(grid.getByRole('row').nth(1)).toContainText(largest);
  // One stop for the Tab key: the next is out of the grid.
  await grid.press('Tab');
  await expect(grid).not.toBeFocused();
  expect(await grid.evaluate((one) => one.contains((one.getRootNode() as ShadowRoot).activeElement))).toBe(false);
});

test('a row selects its header, and its link what that describes', async ({ page }) => {
  const grid = await opened(page, 'Sections');
  const head = page.locator('kernel-scope-hex .head');
  const [name, , , offset, size] = SECTIONS.find(([name]) => name === '.symtab') ?? ['', '', 0, 0, 0];
  const row = grid.getByRole('row').filter({ hasText: name });
  await row.getByText(name, { exact: true }).click();
  await expect(row).toHaveAttribute('aria-selected', 'true');
  await expect(head).toContainText('64 bytes selected');
  await grid.press('Control+Enter');
  await expect(head).toContainText(`${size} bytes selected`);
  await expect(head).toContainText(`file 0x${offset.toString(16)}`);
  await row.getByText(name, { exact: true }).click();
  await expect(head).toContainText('64 bytes selected');
  await row.getByRole('button', { name: `0x${offset.toString(16)}` }).click();
  await expect(head).toContainText(`${size} bytes selected`);
  await expect(grid).toBeFocused();
});

test('rows are chosen with keyboard and mouse and copied in four forms', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const grid = await opened(page, 'Sections');
  const rows = grid.getByRole('row');
  await rows.nth(2).click();
  await grid.press('Shift+ArrowDown');
  await grid.press('Shift+ArrowDown');
  await expect(grid.locator('[aria-selected="true"]')).toHaveCount(3);
  await expect(page.locator('kernel-scope-table [role="status"]')).toContainText('3 selected');
  await grid.press('Control+c');
  await expect.poll(() => clipboard(page)).toContain(SECTIONS[3]?.[0] ?? '');
  const lines = (await clipboard(page)).trimEnd().split('\n');
  expect(lines).toHaveLength(4);
  expect(lines[0]).toMatch(/^ *# {2}Name/);

  const copy = async (item: string) => {
    // The status may still tell of the copy before.
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await page.getByRole('button', { name: 'Copy rows of Sections' }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await expect.poll(() => clipboard(page)).not.toBe('');
    await expect(page.locator('kernel-scope-table [role="status"]')).toContainText('copied');
  };
  await copy('3 selected rows as JSON');
  expect(JSON.parse(await clipboard(page)).map((row: { name: string }) => row.name)).toEqual(
    SECTIONS.slice(1, 4).map(([name]) => name),
  );
  await rows.nth(7).click({ modifiers: ['ControlOrMeta'] });
  await copy('4 selected rows as Markdown');
  const table = (await clipboard(page)).trimEnd().split('\n');
  expect(table).toHaveLength(6);
  expect(table[1]).toMatch(/^\| --: \| --- \|/);
  await copy('All 15 rows as CSV');
  const csv = (await clipboard(page)).trimEnd().split('\r\n');
  const keys = csv[0]?.split(',') ?? [];
  const cells = csv.slice(1).map((line) => line.split(','));
  expect(cells.map((row) => row[keys.indexOf('name')])).toEqual(SECTIONS.map(([name]) => name));
  expect(cells.map((row) => Number(row[keys.indexOf('size')]))).toEqual(SECTIONS.map((row) => row[4]));
  expect(cells.map((row) => Number(row[keys.indexOf('offset')]))).toEqual(SECTIONS.map((row) => row[3]));

  await page.getByRole('button', { name: 'Copy rows of Sections' }).click();
  const saved = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Save as CSV…' }).click();
  expect((await saved).suggestedFilename()).toBe('vadd.sm_90a.13.0.cubin.sections.csv');

  await grid.press('Control+a');
  await expect(page.locator('kernel-scope-table [role="status"]')).toContainText('15 selected');
  await rows.nth(1).click();
  await rows.nth(5).click({ modifiers: ['Shift'] });
  await expect(page.locator('kernel-scope-table [role="status"]')).toContainText('5 selected');
});

test('columns are chosen and widened, and both are remembered', async ({ page }) => {
  let grid = await opened(page, 'Sections');
  await expect(grid.getByRole('columnheader', { name: 'sh_type' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Columns of Sections' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'sh_type' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Flags', exact: false }).last().press('Escape');
  const type = grid.getByRole('columnheader', { name: 'sh_type' });
  await expect(type).toBeVisible();
  // What has been asked for can be sorted by like any other. SHT_NULL is 0.
  await type.getByRole('button').click();
  await expect(type).toHaveAttribute('aria-sort', 'ascending');
  await expect(grid.getByRole('row').nth(1)).toContainText('SHT_NULL');

  const name = grid.getByRole('columnheader', { name: 'Name' });
  const width = async () => (await name.boundingBox())?.width ?? 0;
  const before = await width();
  const edge = await name.locator('.edge').boundingBox();
  if (!edge) throw new Error('no edge');
  await page.mouse.move(edge.x + 4, edge.y + 10);
  await page.mouse.down();
  await page.mouse.move(edge.x + 84, edge.y + 10, { steps: 4 });
  await page.mouse.up();
  expect((await width()) - before).toBeGreaterThan(60);

  grid = await opened(page, 'Sections');
  await expect(type).toBeVisible();
  expect((await width()) - before).toBeGreaterThan(60);
  await grid.focus();
  await grid.press('ArrowRight');
  const dragged = await width();
  await grid.press('Shift+ArrowLeft');
  expect(await width()).toBeLessThan(dragged);
  await page.getByRole('button', { name: 'Columns of Sections' }).click();
  await page.getByRole('menuitem', { name: 'The usual ones' }).click();
  await expect(type).toHaveCount(0);
});

test('order, filter, place and choice survive other panels', async ({ page }, testInfo) => {
  const grid = await many(page, testInfo.outputPath('symbols.elf'));
  await grid.getByRole('columnheader', { name: 'Value' }).getByRole('button').click();
  await page.getByLabel('Filter Symbols').fill('kernel1');
  const status = page.locator('kernel-scope-table [role="status"]');
  // Of the numbers from 0 to 199,999, so many begin with 1: 1 + 10 + 100 + 1,000 + 10,000 + 100,000.
  await expect(status).toContainText('111,111 of 200,000 rows');
  const said = await status.textContent();
  await page.getByLabel('Filter Symbols').press('ArrowDown');
  await grid.press('Control+End');
  await expect(grid.locator('[aria-selected="true"]')).toContainText('kernel1');
  const name = await grid.locator('[aria-selected="true"]').textContent();
  await show(page, 'Sections');
  await expect(page.getByRole('grid', { name: 'Sections' })).toBeVisible();
  await show(page, 'Symbols');
  await expect(page.getByLabel('Filter Symbols')).toHaveValue('kernel1');
  await expect(grid.getByRole('columnheader', { name: 'Value' })).toHaveAttribute('aria-sort', 'ascending');
  await expect(grid.locator('[aria-selected="true"]')).toHaveText(name ?? '');
  await expect(grid.locator('[aria-selected="true"]')).toBeInViewport();
  await expect(status).toHaveText(said ?? '');
});

test('a filter that leaves nothing says so and is cleared', async ({ page }) => {
  const grid = await opened(page, 'Symbols');
  await page.getByLabel('Filter Symbols').fill('name:xyzzy');
  const none = page.locator('kernel-scope-table .none');
  await expect(none).toContainText('No row of 10 has name:xyzzy');
  await none.getByRole('button', { name: 'Clear the filter' }).click();
  await expect(grid.getByRole('row')).toHaveCount(11);
  await expect(page.getByLabel('Filter Symbols')).toBeFocused();
  await expect(page.getByLabel('Filter Symbols')).toHaveValue('');
});

test('a long copy shows how far it has come and is given up', async ({ page, context }, testInfo) => {
  // On a busy machine a copy of so much takes its time.
  test.slow();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await many(page, testInfo.outputPath('symbols.elf'));
  await page.getByRole('button', { name: 'Copy rows of Symbols' }).click();
  await page.getByRole('menuitem', { name: 'All 200,000 rows as text' }).click();
  await expect(page.getByRole('progressbar', { name: 'Copying' })).toBeVisible();
  await page.locator('kernel-scope-table').getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('kernel-scope-table [role="status"]')).toContainText('not copied');
  await page.getByRole('button', { name: 'Copy rows of Symbols' }).click();
  await page.getByRole('menuitem', { name: 'All 200,000 rows as CSV' }).click();
  await expect(page.locator('kernel-scope-table [role="status"]')).toContainText('200,000 rows as CSV copied', {
    timeout: 60_000,
  });
  const csv = await page.evaluate(async () => (await navigator.clipboard.readText()).split('\r\n').length);
  expect(csv).toBe(200_002);
});

test('a finger selects rows and follows links', async ({ browser, site }) => {
  const context = await browser.newContext({ hasTouch: true, viewport: { width: 1024, height: 768 }, baseURL: site });
  const page = await context.newPage();
  const grid = await opened(page, 'Sections');
  await grid.getByRole('row').nth(3).tap();
  await expect(grid.getByRole('row').nth(3)).toHaveAttribute('aria-selected', 'true');
  await grid.getByRole('row').nth(3).getByRole('button').tap();
  await expect(page.locator('kernel-scope-hex .head')).toContainText(`${SECTIONS[2]?.[4]} bytes selected`);

  // One that rests begins a run, which the next tap ends; then a tap is one again.
  const { y } = (await grid.getByRole('row').nth(2).boundingBox()) ?? { y: 0 };
  const { x } = (await grid.boundingBox()) ?? { x: 0 };
  const cdp = await context.newCDPSession(page);
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: x + 30, y: y + 12 }] });
  await expect(page.getByRole('status').filter({ hasText: 'Tap the last row' })).toBeVisible();
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await grid.getByRole('row').nth(5).getByRole('button').tap();
  await expect(grid.locator('[aria-selected="true"]')).toHaveCount(4);
  await expect(page.getByRole('status').filter({ hasText: '4 selected' })).toBeVisible();
  await grid.getByRole('row').nth(4).tap();
  await expect(grid.locator('[aria-selected="true"]')).toHaveCount(1);
  await context.close();
});

test('rows are read in their order, wherever they were scrolled to', async ({ page, context }, testInfo) => {
  const grid = await many(page, testInfo.outputPath('symbols.elf'));
  const cdp = await context.newCDPSession(page);
  /** What is in the rows, as the browser hands them to a screen reader. */
  const read = async () => {
    const { nodes } = await cdp.send('Accessibility.getFullAXTree');
    const byId = new Map(nodes.map((node) => [node.nodeId, node]));
    const rows = nodes.find((node) => node.role?.value === 'rowgroup' && (node.childIds?.length ?? 0) > 3)?.childIds;
    return rows?.map((row) =>
      byId
        .get(row)
        ?.childIds?.map((cell) => byId.get(cell)?.name?.value ?? '')
        .join(' '),
    );
  };
  /** What is in the rows, from above to below or as their elements stand. */
  const seen = (isSorted = true) =>
    grid.locator('.row').evaluateAll((rows, isSorted) => {
      if (isSorted) rows.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
      return rows.map((row) => [...row.querySelectorAll('.cell')].map((cell) => cell.textContent?.trim()).join(' '));
    }, isSorted);
  await expect.poll(async () => (await read())?.length).toBeGreaterThan(3);
  expect(await read()).toEqual(await seen());
  await grid.hover();
  await page.mouse.wheel(0, 7 * 25);
  await expect(grid.locator('[aria-rowindex="3"]')).toHaveCount(0);
  // The elements stand in another order.
  expect(await seen(false)).not.toEqual(await seen());
  await expect.poll(async () => JSON.stringify(await read()) === JSON.stringify(await seen())).toBe(true);
});

test('the tree has what the panels have, and a name goes to its bytes', async ({ page }) => {
  await opened(page, 'Sections');
  const tree = page.getByRole('tree', { name: 'What the file has' });
  const item = (name: string | RegExp, level: 1 | 2) =>
    tree.getByRole('treeitem', { name }).and(page.locator(`[aria-level="${level}"]`));
  const head = page.locator('kernel-scope-hex .head');
  await item('Sections', 1).press('ArrowRight');
  await expect(item('Sections', 1)).toHaveAttribute('aria-expanded', 'true');
  const names = () => tree.locator('[aria-level="2"][data-key^="sections/"] .name').allTextContents();
  await expect.poll(names).toEqual(SECTIONS.map(([name], i) => name || `#${i}`));

  const [name, , , offset, size] = SECTIONS.find(([name]) => name.startsWith('.text')) ?? ['', '', 0, 0, 0];
  const text = tree.locator('[data-key^="sections/"]').filter({ hasText: name });
  await text.click();
  await expect(head).toContainText(`file 0x${offset.toString(16)}`);
  await expect(head).toContainText(`${size} bytes selected`);
  await expect(text).toHaveAttribute('aria-selected', 'true');
  // The panel stays; a kernel opens its own.
  await expect(page.getByRole('grid', { name: 'Sections' })).toBeVisible();
  await item('_Z4vaddPKfS0_Pfi', 2).first().click();
  await expect(page.locator('kernel-scope-kernel')).toBeVisible();

  // One stop of the keyboard, and letters.
  await item('Summary', 1).focus();
  await page.keyboard.press('n');
  await expect(item('Notes', 1)).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Home');
  await expect(item('Summary', 1)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('kernel-scope-summary')).toBeVisible();
  await item('Sections', 1).focus();
  await page.keyboard.press('ArrowLeft');
  await expect(text).toHaveCount(0);
  expect(await tree.locator('[tabindex="0"]').count()).toBe(1);
});

test('the tree lists its own order, whatever a table is filtered by', async ({ page }, testInfo) => {
  await many(page, testInfo.outputPath('symbols.elf'));
  await page.getByLabel('Filter Symbols').fill('kernel99999E');
  await expect(page.getByRole('grid', { name: 'Symbols' }).getByRole('row')).toHaveCount(2);
  const tree = page.getByRole('tree');
  await tree.getByRole('treeitem', { name: 'Symbols' }).press('ArrowRight');
  // 200 names, and what leads to the others.
  await expect(tree.locator('[data-key^="symbols/"]')).toHaveCount(201);
  await expect(tree.locator('[data-key="symbols/1"]')).toHaveText('_ZN6kernel7919E1');
  await expect(tree.locator('[data-key="symbols/rest"]')).toHaveText('all 200,000 in the table');
});

test('the map says what nothing claims, and its legend filters', async ({ page }) => {
  const grid = await opened(page, 'Map');
  const view = page.locator('kernel-scope-map');
  // Between the end of a section (readelf) and the start of what follows, where these differ, are bytes of alignment.
  await expect(view.locator('.sum')).toContainText('Everything adds up to 3,976 bytes');
  await expect(view.locator('.sum')).toContainText('no overlaps');
  const text = SECTIONS.find(([name]) => name.startsWith('.text'));
  const [name, , , offset, size] = text ?? ['', '', 0, 0, 0];
  await page.getByLabel('Filter Map').fill(`name:${name}`);
  await expect(grid.getByRole('row')).toHaveCount(2);
  const cells = grid.getByRole('row').nth(1).getByRole('gridcell');
  await expect(cells.nth(0)).toHaveText(`0x${offset.toString(16)}`);
  await expect(cells.nth(1)).toHaveText(`0x${(offset + size).toString(16)}`);
  await expect(cells.nth(3)).toHaveText(`${((size / 3976) * 100).toFixed(1)} %`);

  const padding = view.getByRole('button', { name: /^padding/ });
  await padding.click();
  await expect(padding).toHaveAttribute('aria-pressed', 'true');
  await expect(page.getByLabel('Filter Map')).toHaveValue('role:padding');
  const said = Number((await view.locator('.sum .link').first().textContent())?.split(' ')[0]);
  await expect(grid.getByRole('row')).toHaveCount(said + 1);
  await padding.click();
  await expect(page.getByLabel('Filter Map')).toHaveValue('');
  await grid.getByRole('columnheader', { name: 'Share' }).getByRole('button').click();
  await grid.getByRole('columnheader', { name: 'Share' }).getByRole('button').click();
  // The largest part is the table of section headers: 15 of 64 bytes.
  await expect(grid.getByRole('row').nth(1)).toContainText('960');
});

test('bytes that two sections claim stand out', async ({ page }) => {
  await page.goto('./');
  await drop(page, 'tests/fixtures/own/overlapping-sections.cubin');
  await show(page, 'Map');
  await page
    .locator('kernel-scope-map')
    .getByRole('button', { name: /overlap/ })
    .click();
  const rows = page.getByRole('grid', { name: 'Map' }).locator('.row.twice');
  await expect(rows.first()).toBeVisible();
  await expect(page.getByRole('grid', { name: 'Map' }).getByRole('row')).toHaveCount((await rows.count()) + 1);
});

test('findings are filtered, copied, and gone through with the arrows', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('./');
  await drop(page, 'tests/fixtures/own/overlapping-sections.cubin');
  await show(page, 'Findings');
  const view = page.locator('kernel-scope-findings');
  const items = view.locator('li');
  await expect(items.first()).toBeVisible();
  const all = await items.count();
  await view.getByRole('button', { name: 'Copy findings' }).click();
  await page.getByRole('menuitem', { name: 'All as JSON' }).click();
  await expect(view.getByRole('status')).toContainText('as JSON copied');
  const findings: { offset: number | null; message: string }[] = JSON.parse(await clipboard(page));
  expect(findings).toHaveLength(all);

  const places = view.locator('.at.stop');
  await places.first().focus();
  await places.first().press('End');
  await expect(places.last()).toBeFocused();
  const last = (await places.last().textContent()) ?? '';
  await expect(page.locator('kernel-scope-hex .head')).toContainText(`file ${last}`);

  await page.getByLabel('Filter findings').fill('xyzzy');
  await expect(items).toHaveCount(0);
  await view.getByRole('button', { name: 'Clear the filter' }).click();
  await expect(items).toHaveCount(all);
});

test('rows and tree mark what has the selected byte', async ({ page }) => {
  const grid = await opened(page, 'Sections');
  const [name, , , offset] = SECTIONS.find(([name]) => name === '.symtab') ?? ['', '', 0, 0, 0];
  // What is seen first is whole.
  const cell = grid.getByRole('gridcell', { name, exact: true });
  expect(await cell.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  const nav = page.getByRole('navigation');
  const panel = nav.getByRole('treeitem', { name: 'Sections' }).and(nav.locator('[aria-level="1"]'));
  await panel.locator('.twisty').click();

  // Another row is chosen before: it does not stay chosen when the selection goes elsewhere.
  await grid.getByRole('row').nth(2).click();
  await expect(grid.locator('[aria-selected="true"]')).toHaveCount(1);
  await goTo(page, `0x${(offset + 5).toString(16)}`);
  await expect(grid.locator('[aria-current="true"]')).toHaveCount(1);
  await expect(grid.locator('[aria-current="true"]')).toContainText(name);
  await expect(grid.locator('[aria-selected="true"]')).toHaveCount(0);
  await expect(nav.locator('[aria-level="2"][aria-selected="true"]').filter({ hasText: name })).toHaveCount(1);
});

test('a filter for a column that is not there says which there are', async ({ page }) => {
  await opened(page, 'Sections');
  await page.getByLabel('Filter Sections').fill('nmae:text');
  await expect(page.getByText('There is no column')).toContainText('name');
});
