// The record of what is selected, as people read it, walk through it and take it away. Expected values are those of the ELF
// specification, of LLVM's AMDGPU usage guide (the kernel descriptor), and of `readelf -hS` for the files.

import { readFile, writeFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { manyOffsets } from './made.mjs';
import { ARGS, drop, goTo, VADD } from './page.ts';
import { expect, test } from './site.ts';

const diagram = (page: Page) => page.locator('kernel-scope-diagram');
const hexHead = (page: Page) => page.locator('kernel-scope-hex .head');

/** Opens a file with a byte of it selected. */
async function open(page: Page, file: string, at: string): Promise<void> {
  await page.goto('./');
  await drop(page, file);
  await goTo(page, at);
}

async function showAs(page: Page, title: string): Promise<void> {
  await diagram(page).getByRole('button', { name: 'How the record is shown' }).click();
  await page.getByRole('menuitemradio', { name: title }).click();
}

test('the keyboard goes from box to box, and what it is at is selected', async ({ page }) => {
  await open(page, VADD, '0');
  const magic = diagram(page).getByRole('button', { name: /^EI_MAG/ });
  await magic.focus();
  await page.keyboard.press('ArrowDown');
  // Four fields of a byte: the middle of the word, bit 15, is in EI_DATA.
  await expect(diagram(page).locator('.box:focus')).toHaveAccessibleName(/^EI_DATA/);
  await page.keyboard.press('Home');
  await expect(diagram(page).locator('.box:focus')).toHaveAccessibleName(/^EI_OSABI/);
  await expect(hexHead(page)).toContainText('file 0x7');
  await page.keyboard.press('End');
  await expect(diagram(page).locator('.box:focus')).toHaveAccessibleName(/^EI_CLASS/);
  await page.keyboard.press('ArrowLeft');
  await expect(diagram(page).locator('.box:focus')).toHaveAccessibleName(/^EI_DATA/);
  await page.keyboard.press('Control+End');
  await expect(diagram(page).locator('.box:focus')).toHaveAccessibleName(/^e_shnum/);
  await expect(diagram(page).locator('.box:focus')).toBeInViewport({ ratio: 1 });
  // One stop of the tabulator key, however many boxes there are.
  await expect(diagram(page).locator('.box[tabindex="0"]')).toHaveCount(1);
  await page.keyboard.press('Tab');
  await expect(diagram(page).locator('.box:focus')).toHaveCount(0);
});

test('a reference says where it leads, and Enter goes there without losing the keyboard', async ({ page }) => {
  await open(page, VADD, '0');
  await diagram(page)
    .getByRole('button', { name: /^e_shstrndx/ })
    .click();
  await expect(diagram(page).locator('.foot')).toContainText(/go to 0xaf0 section header 1 .shstrtab/);
  await page.keyboard.press('Enter');
  await expect(diagram(page).locator('.head')).toContainText('section header 1 .shstrtab');
  await expect(diagram(page).locator('.box:focus')).toHaveAccessibleName(/^sh_name/);
  // The name of the section is a string in its own table.
  await page.keyboard.press('ArrowUp');
  await diagram(page)
    .getByRole('button', { name: /^sh_name/ })
    .click();
  await expect(diagram(page).locator('.foot')).toContainText('go to 0x41 .shstrtab+0x1');
  await diagram(page).getByRole('button', { name: 'go to 0x41' }).click();
  await expect(hexHead(page)).toContainText('file 0x41');
  await expect(diagram(page).locator('.box:focus')).toHaveAccessibleName(/^string ".shstrtab"/);
});

test('bits that can be read otherwise are, in place', async ({ page }) => {
  // The descriptor of all_args is at 0xcc0; compute_pgm_rsrc1 is its word at 48, bits 5 to 0 of which are the VGPRs' granules.
  await open(page, ARGS, '0xcf0');
  const granules = diagram(page).getByRole('button', { name: /^GRANULATED_WORKITEM_VGPR_COUNT/ });
  await expect(granules).toBeVisible();
  await diagram(page).getByRole('button', { name: 'Read GRANULATED_WORKITEM_VGPR_COUNT otherwise' }).click();
  // The bytes at 0xcf0 are 00 01 af 00, little-endian.
  const word = diagram(page).getByRole('button', { name: /^compute_pgm_rsrc1 / });
  await expect(word).toHaveAccessibleName(/0xaf0100/);
  await expect(granules).toHaveCount(0);
  await expect(word).toBeFocused();
  await page.keyboard.press('r');
  await expect(granules).toBeFocused();
  await expect(word).toHaveCount(0);
});

test('fields of one bit have their names below the row, and are chosen there too', async ({ page }) => {
  await open(page, ARGS, '0xcf0');
  // ENABLE_IEEE_MODE is bit 23 of compute_pgm_rsrc1, which is set.
  const told = diagram(page).locator('.key button', { hasText: 'ENABLE_IEEE_MODE' });
  await expect(told).toHaveText(/23\s*1\s*ENABLE_IEEE_MODE/);
  await told.click();
  await expect(hexHead(page)).toContainText('file 0xcf2');
  await expect(diagram(page).locator('.foot')).toContainText('bit 407');
});

test('rows have 32 or 64 bits or are a list, and the choice is remembered', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await open(page, VADD, '0');
  const rows = diagram(page).locator('.word');
  // 64 bytes: of 16 words, three addresses of eight bytes are one row each.
  await expect(rows).toHaveCount(13);
  await showAs(page, 'Rows of 64 bits');
  await expect(rows).toHaveCount(8);
  await page.reload();
  await drop(page, VADD);
  await expect(rows).toHaveCount(8);
  await showAs(page, 'List');
  await expect(rows).toHaveCount(0);
  const list = diagram(page).getByRole('table', { name: 'Fields of ELF header' });
  await list.getByRole('button', { name: 'e_machine' }).click();
  await expect(hexHead(page)).toContainText('file 0x12');
  await page.keyboard.press('ArrowDown');
  await expect(list.getByRole('button', { name: 'e_version' })).toBeFocused();
  await page.keyboard.press('Home');
  await expect(list.getByRole('button', { name: 'EI_MAG' })).toBeFocused();
  await expect(list.locator('[tabindex="0"]')).toHaveCount(1);
  await showAs(page, 'fit the width');
  await expect(rows).toHaveCount(13);
});

test('of a record of 4000 fields only a part is in the page, also when a field is chosen', async ({
  page,
}, testInfo) => {
  const file = testInfo.outputPath('offsets.cubin');
  await writeFile(file, manyOffsets(4000));
  await open(page, file, '0x40');
  const rows = diagram(page).locator('.word');
  await expect(rows).toHaveCount(256);
  const pager = diagram(page).getByRole('group', { name: 'Parts of a long record' });
  await expect(pager).toContainText('rows 1–256 of 4001');
  await pager.getByRole('button', { name: 'those after' }).click();
  await expect(rows.first()).toContainText('+1024');
  // A byte of the last offset: its row comes into view. 3999 × 16 is 63984.
  await goTo(page, '0x3ec0');
  await expect(pager).toContainText('rows 3841–4001 of 4001');
  await expect(diagram(page).locator('.box.on')).toHaveAccessibleName(/63984|0xf9f0/);
  await expect(diagram(page).locator('.box.on')).toBeInViewport();
  // Choosing a field draws what is in the page: a part of the record, whatever its length.
  await diagram(page).locator('.box').nth(5).click();
  await expect(diagram(page).locator('.box.on')).toHaveCount(1);
  expect(await diagram(page).locator('.box').count()).toBeLessThanOrEqual(256);
});

test('a narrow screen has the fields as a list, with what is unclaimed', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('./');
  await drop(page, ARGS);
  await page.getByRole('button', { name: 'Bytes', exact: true }).click();
  await goTo(page, '0xcc0');
  await page.getByRole('button', { name: 'Fields', exact: true }).click();
  const list = diagram(page).getByRole('table', { name: /Fields of kernel descriptor all_args.kd/ });
  await expect(list.getByRole('row', { name: /^95:64 kernarg_size/ })).toContainText('360');
  await expect(list.locator('tr.reserved').first()).toBeVisible();
});

test('a record is copied as SVG and saved as such', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await open(page, VADD, '0');
  const choose = async (title: string) => {
    await diagram(page).getByRole('button', { name: 'Export the record' }).click();
    await page.getByRole('menuitem', { name: title }).click();
  };
  await choose('Copy as SVG');
  await expect(diagram(page).getByRole('status')).toHaveText('SVG copied');
  const parsed = await page.evaluate(async () => {
    const text = await navigator.clipboard.readText();
    const document = new DOMParser().parseFromString(text, 'image/svg+xml');
    const names = [...document.querySelectorAll('text')].map((one) => one.textContent);
    return { root: document.documentElement.nodeName, title: document.querySelector('title')?.textContent, names };
  });
  expect(parsed).toMatchObject({ root: 'svg', title: 'ELF header' });
  expect(parsed.names).toEqual(expect.arrayContaining(['e_machine', '190', 'e_shoff', '0xab0', '+40–47']));

  const download = page.waitForEvent('download');
  await choose('Save SVG');
  const saved = await download;
  expect(saved.suggestedFilename()).toBe('ELF header.svg');
  expect(await readFile(await saved.path(), 'utf8')).toMatch(/^<\?xml .*<\/svg>\n$/s);
});

test('a record is printed alone, and the page is printed without what only a screen needs', async ({ page }) => {
  // What a frame gives to the printer goes to the page instead.
  await page.addInitScript(() => {
    window.print = () => {
      const pictures = [...document.querySelectorAll('svg')];
      const printed = { title: document.title, texts: pictures.map((one) => one.textContent) };
      (window.top as unknown as { printed: unknown }).printed = printed;
      window.dispatchEvent(new Event('afterprint'));
    };
  });
  await page.emulateMedia({ colorScheme: 'dark' });
  await open(page, VADD, '0');
  await diagram(page).getByRole('button', { name: 'Export the record' }).click();
  await page.getByRole('menuitem', { name: 'Print' }).click();
  const printed = await page.evaluate(
    () => (window as unknown as { printed: { title: string; texts: string[] } }).printed,
  );
  expect(printed.title).toBe('ELF header');
  expect(printed.texts.join(' ')).toContain('e_shstrndx');
  // A head, the rows of 32 bits, a foot.
  expect(printed.texts).toHaveLength(1 + 13 + 1);
  await expect(diagram(page).locator('iframe')).toHaveCount(0);

  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await expect(page.locator('kernel-scope-identity')).toBeVisible();
  await expect(page.locator('kernel-scope-kernel').first()).toBeVisible();
  await expect(diagram(page).locator('.word').first()).toBeVisible();
  for (const gone of ['kernel-scope-hex', 'kernel-scope-nav', 'kernel-scope-ribbon', 'kernel-scope-tabs'])
    await expect(page.locator(gone).first()).toBeHidden();
  // Ink on white, whatever the screen has.
  const ink = await diagram(page).evaluate((element) => getComputedStyle(element).color);
  expect(ink).toBe('rgb(28, 27, 25)');
  const cut = await diagram(page)
    .locator('.body')
    .evaluate((body) => body.scrollHeight - body.clientHeight);
  expect(cut).toBeLessThanOrEqual(0);
});
