// The page as people use it. Expected values are those of the vendors' tools: `cuobjdump -res-usage` says REG:12 STACK:0 SHARED:0
// CONSTANT[0]:556 of vadd for sm_90a, `cuobjdump -elf` that its parameters are 0x1c bytes at 0x210, `llvm-readelf` the rest.

import { writeFile } from 'node:fs/promises';
import { manySymbols } from './made.mjs';
import { ARGS, clickByte, drop, goTo, hexRow, numbers, show, VADD } from './page.ts';
import { expect, test } from './site.ts';

test('a cubin that is dropped says what it is, and its kernel its numbers', async ({ page }) => {
  await page.goto('./');
  await expect(page.getByRole('heading', { name: 'Open a GPU binary' })).toBeVisible();
  await drop(page, VADD);
  const identity = page.locator('kernel-scope-identity');
  await expect(identity).toContainText('vadd.sm_90a.13.0.cubin');
  await expect(identity).toContainText('NVIDIA cubin · sm_90a');
  await expect(identity).toContainText('3,976 bytes');
  await expect(identity).toContainText('no findings');
  expect(await numbers(page)).toMatchObject({
    Registers: '12',
    Stack: '0',
    Shared: '0',
    Parameters: '28',
    'Constant 0': '556',
  });

  await show(page, 'Kernels');
  const parameters = page.getByRole('table', { name: 'Parameters' }).getByRole('row');
  await expect(parameters).toHaveCount(5);
  await expect(parameters.nth(1)).toContainText('c[0x0][0x210]');
  await expect(parameters.nth(4)).toContainText('c[0x0][0x228]');
  // The row leads to the attribute that says so: the first KPARAM_INFO, of the last parameter.
  await parameters.nth(4).click();
  await expect(page.locator('kernel-scope-hex .head')).toContainText('file 0x584');
  await expect(page.locator('kernel-scope-hex .head')).toContainText('16 bytes selected');
});

test('a code object shows its kernels, their arguments and its sections', async ({ page }) => {
  await page.goto('./');
  await page.locator('input[type="file"]').setInputFiles(ARGS);
  await expect(page.locator('kernel-scope-identity')).toContainText('AMD code object · gfx90a');
  await page.getByRole('button', { name: 'all_args' }).click();
  // .vgpr_count is 4, .sgpr_count 36, .max_flat_workgroup_size 256, .kernarg_segment_size 360.
  expect(await numbers(page)).toMatchObject({ VGPRs: '4', SGPRs: '36', LDS: '0', Scratch: '0', Kernarg: '360' });
  await expect(page.locator('kernel-scope-kernel .lead')).toContainText('workgroups of at most 256 work-items');
  await expect(page.getByRole('table', { name: 'Arguments' })).toContainText('double16');

  await show(page, 'Sections');
  const sections = page.getByRole('grid', { name: 'Sections' });
  await expect(sections.getByRole('row', { name: '.rodata' })).toBeVisible();
  await sections.getByRole('button', { name: 'Size' }).click();
  await sections.getByRole('button', { name: 'Size' }).click();
  await expect(sections.getByRole('row').nth(1)).toContainText('.relro_padding');
  await expect(sections.getByRole('row').nth(2)).toContainText('.note');
  await page.getByLabel('Filter Sections').fill('name:str');
  await expect(sections.getByRole('row')).toHaveCount(4);
  for (const name of ['.dynstr', '.shstrtab', '.strtab'])
    await expect(sections.getByText(name, { exact: true })).toBeVisible();
});

test('a byte leads to its field, the field to its bytes, and a reference to what it names', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  // The fourth parameter's KPARAM_INFO is at 0x584: format, attribute 0x17, 12 bytes, index 0, ordinal 3, offset 0x18.
  await goTo(page, '0x584');
  const diagram = page.locator('kernel-scope-diagram');
  await expect(diagram.locator('.head')).toContainText('EIATTR_KPARAM_INFO');
  await expect(diagram.locator('.head')).toContainText('16 bytes at 0x584');

  await clickByte(page, 0x58c);
  const ordinal = diagram.getByRole('button', { name: /^ordinal/i });
  await expect(ordinal).toContainText('3');
  await expect(diagram.locator('.box.on')).toContainText(/ordinal/i);

  await diagram.getByRole('button', { name: /^offset/i }).click();
  await expect(page.locator('kernel-scope-hex .head')).toContainText('file 0x58e');
  await expect(page.locator('kernel-scope-hex .head')).toContainText('2 bytes selected');

  // e_shoff of the ELF header leads to the section headers.
  await goTo(page, '0');
  await diagram.getByRole('button', { name: /^e_shoff/ }).click();
  await diagram.getByRole('button', { name: 'go to 0xab0' }).click();
  await expect(hexRow(page, 0xab0)).toBeVisible();
  await expect(page.locator('kernel-scope-hex .head')).toContainText('file 0xab0');
});

test('a record is copied as a C struct and as JSON', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('./');
  await drop(page, VADD);
  await goTo(page, '0');
  const read = () => page.evaluate(() => navigator.clipboard.readText());
  const copy = async (title: string) => {
    await page.getByRole('button', { name: 'Export the record' }).click();
    await page.getByRole('menuitem', { name: title, exact: true }).click();
  };
  await copy('Copy as C struct');
  await expect.poll(read).toMatch(/^struct .*e_machine/ms);
  await copy('Copy as JSON');
  await expect.poll(async () => JSON.parse(await read()).fields?.length).toBeGreaterThan(10);
});

test('selected bytes are copied', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('./');
  await drop(page, VADD);
  const bytes = page.getByRole('grid', { name: 'Bytes' });
  await goTo(page, '0');
  for (let i = 0; i < 3; i++) await bytes.press('Shift+ArrowRight');
  await bytes.press('Control+c');
  // The first four bytes of every ELF file.
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('7f 45 4c 46');
  await expect(page.locator('kernel-scope-hex .head')).toContainText('4 bytes copied');
});

test('a table of 200,000 rows has only what is visible in the page', async ({ page }, testInfo) => {
  await page.goto('./');
  const file = testInfo.outputPath('symbols.elf');
  await writeFile(file, manySymbols(200_000));
  await page.locator('input[type="file"]').setInputFiles(file);
  await show(page, 'Symbols');
  const symbols = page.getByRole('grid', { name: 'Symbols' });
  await expect(symbols).toHaveAttribute('aria-rowcount', '200001');
  await symbols.press('Control+End');
  await expect(symbols.getByText('_ZN6kernel192081E199999', { exact: true })).toBeVisible();
  expect(await symbols.getByRole('row').count()).toBeLessThan(60);

  // Sorted by name from the end: the greatest of the names comes first, and its row leads to its entry.
  const name = symbols.getByRole('columnheader', { name: 'Name' });
  await name.getByRole('button').click();
  await name.getByRole('button').click();
  await expect(name).toHaveAttribute('aria-sort', 'descending');
  await expect(symbols.getByRole('row').nth(1)).toContainText('_ZN6kernel9E159111');
  await page.getByLabel('Filter Symbols').fill('name:kernel99999E');
  await expect(symbols.getByRole('row')).toHaveCount(2);
  await symbols.getByRole('row').nth(1).click();
  await expect(page.locator('kernel-scope-hex .head')).toContainText('24 bytes selected');
});

test('the keyboard goes through the bytes and selects them', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  const bytes = page.getByRole('grid', { name: 'Bytes' });
  await goTo(page, '0x40');
  await expect(bytes).toBeFocused();
  for (const key of ['ArrowRight', 'ArrowDown', 'Shift+ArrowRight', 'Shift+ArrowRight']) await bytes.press(key);
  await expect(page.locator('kernel-scope-hex .head')).toContainText('file 0x51');
  await expect(page.locator('kernel-scope-hex .head')).toContainText('3 bytes selected');
  await bytes.press('Control+End');
  await expect(page.locator('kernel-scope-hex .head')).toContainText('file 0xf87');
  await expect(hexRow(page, 0xf80)).toBeInViewport();
  await bytes.press('Control+Home');
  await expect(hexRow(page, 0)).toBeInViewport();

  const ribbon = page.getByRole('slider', { name: 'Map of the file' });
  await ribbon.focus();
  await ribbon.press('ArrowRight');
  await expect(ribbon).toHaveAttribute('aria-valuenow', String(0x40));
  await expect(ribbon).toHaveAttribute('aria-valuetext', /\.shstrtab/);
});

test('the broken example opens, and its finding leads to its bytes', async ({ page }) => {
  await page.goto('./');
  await page.getByRole('button', { name: 'A broken file' }).click();
  await page.getByRole('button', { name: /damaged/ }).click();
  const findings = page.locator('kernel-scope-findings li');
  await expect(findings.first()).toContainText('past the end of its section');
  // The first note is at 0x200, where llvm-readelf puts .note.
  await findings.first().getByRole('button', { name: '0x200' }).click();
  await expect(page.locator('kernel-scope-hex .head')).toContainText('.note');
  await expect(hexRow(page, 0x200)).toBeInViewport();
  // What is not broken is there.
  await show(page, 'Sections');
  await expect(page.getByRole('row', { name: '.rodata' })).toBeVisible();
});

test('what cannot be opened is said, and what is shown stays', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await expect(page.locator('kernel-scope-identity')).toContainText('sm_90a');
  await page.evaluate(() =>
    document.querySelector('kernel-scope')?.setAttribute('src', 'https://example.com/other.cubin'),
  );
  await expect(page.getByRole('alert')).toContainText('https://example.com is another site');
  await expect(page.locator('kernel-scope-identity')).toContainText('sm_90a');
  await page.getByRole('button', { name: 'No', exact: true }).click();
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('a file of no known format says so', async ({ page }) => {
  await page.goto('./');
  await drop(page, 'package.json', 'body', 'evil\u202eoc.<b>name</b>\n.co');
  const heading = page.locator('kernel-scope-identity h1');
  await expect(heading).toHaveText('evil\\u{202e}oc.<b>name</b>\\u{a}.co');
  await page
    .getByRole('button', { name: /finding/ })
    .first()
    .click();
  await expect(page.locator('kernel-scope-findings')).toContainText('no format that is known');
});

test('an empty file says so', async ({ page }) => {
  await page.goto('./');
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: 'empty.cubin', mimeType: '', buffer: Buffer.alloc(0) });
  await expect(page.locator('kernel-scope-identity')).toContainText('0 bytes');
  await expect(page.locator('kernel-scope-findings')).toContainText('the file is empty');
});

test('a reader that stops is replaced, and the page says so', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await expect(page.locator('kernel-scope-identity')).toContainText('no findings');
  const [worker] = page.workers();
  await worker?.evaluate(() => {
    setTimeout(() => {
      throw new WebAssembly.RuntimeError('unreachable');
    });
  });
  await expect(page.locator('.notice')).toContainText('The reader stopped and was started again');
  expect(page.workers()).toHaveLength(1);
  expect(page.workers()[0]).not.toBe(worker);
  // It answers again.
  await goTo(page, '0x584');
  await expect(page.locator('kernel-scope-diagram .head')).toContainText('EIATTR_KPARAM_INFO');
  await show(page, 'Symbols');
  await expect(
    page.getByRole('grid', { name: 'Symbols' }).getByText('_Z4vaddPKfS0_Pfi', { exact: true }).first(),
  ).toBeVisible();
});

test('on a narrow screen the bytes are in a sheet and the fields in a list', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('./');
  await drop(page, VADD);
  expect(await numbers(page)).toMatchObject({ Registers: '12', 'Constant 0': '556' });
  await expect(page.getByRole('grid', { name: 'Bytes' })).toBeHidden();
  await page.getByRole('button', { name: 'Bytes', exact: true }).click();
  await goTo(page, '0x584');
  await page.getByRole('button', { name: 'Fields', exact: true }).click();
  await expect(
    page.getByRole('table', { name: /Fields of EIATTR_KPARAM_INFO/ }).getByRole('row', { name: /^79:64 ordinal/i }),
  ).toContainText('3');
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });
  expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
});
