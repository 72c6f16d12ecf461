// Dumps that are pasted. Their bytes are those of an independent encoder (tests/fixtures/qmd.json, which says what each field is); what
// writes them in the pushbuffer is put together here from the methods' addresses in NVIDIA's class headers.

import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { axe, show, VADD } from './page.ts';
import { expect, test } from './site.ts';

const { examples } = JSON.parse(await readFile('tests/fixtures/qmd.json', 'utf8'));
const bytesOf = (index: number) => Buffer.from(examples[index].hex, 'hex');
const wordsOf = (bytes: Buffer) => Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readUInt32LE(i * 4));
const hexWord = (word: number) => `0x${word.toString(16).padStart(8, '0')}`;
/** <<<4096,256>>> of version 03.00 with 16 registers, then other values of the same fields. */
const FULLER = bytesOf(0);
const MINIMAL = bytesOf(1);
const carray = (bytes: Buffer) => `const uint32_t qmd[] = {\n${wordsOf(bytes).map(hexWord).join(', ')}\n};\n`;

/** A header of methods that count up: SEC_OP 1 in bits 31:29, COUNT in 28:16, SUBCHANNEL in 15:13, the address in words below. */
const methods = (subchannel: number, address: number, ...data: number[]) => [
  ((1 << 29) | (data.length << 16) | (subchannel << 13) | (address >> 2)) >>> 0,
  ...data,
];

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Decode a dump' });
const head = (page: Page) => page.locator('kernel-scope-identity');
const form = (page: Page) => page.locator('kernel-scope-read');

async function decode(page: Page, text: string, other?: string): Promise<void> {
  // Where somebody writes, a key is a letter.
  await head(page).locator('h1').click();
  await page.keyboard.press('p');
  await dialog(page).getByRole('textbox', { name: 'Dump', exact: true }).fill(text);
  if (other !== undefined) {
    const field = dialog(page).getByRole('textbox', { name: 'The other dump' });
    if (!(await field.isVisible())) await dialog(page).getByText('Compare with another').click();
    await field.fill(other);
  }
  await dialog(page).getByRole('button', { name: 'Decode', exact: true }).click();
  await expect(dialog(page)).toBeHidden();
}

/** Chooses bytes in a file, as a person would in the picker. */
async function choose(page: Page, name: string, bytes: Buffer): Promise<void> {
  await page.locator('kernel-scope').press('p');
  const file = { name, mimeType: 'application/octet-stream', buffer: bytes };
  await dialog(page).getByLabel('File with dump').setInputFiles(file);
  await dialog(page).getByRole('button', { name: 'Decode', exact: true }).click();
}

test('a dump is asked for by a key, on the page, in the menu and among what is found', async ({ page }) => {
  await page.goto('./');
  await page.getByRole('button', { name: 'Decode a dump…' }).click();
  await expect(dialog(page)).toBeVisible();
  // Nothing is nothing to decode.
  const go = dialog(page).getByRole('button', { name: 'Decode', exact: true });
  await expect(go).toBeDisabled();
  await dialog(page).getByRole('textbox', { name: 'Dump', exact: true }).fill('  \n');
  await expect(go).toBeDisabled();
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toBeHidden();
  await page.getByRole('button', { name: 'What else can be done' }).click();
  await page.getByRole('menuitem', { name: /Decode a dump/ }).click();
  await expect(dialog(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /sm_90a/ }).click();
  await expect(head(page)).toContainText('sm_90a');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find in the file' }).fill('decode');
  await page.getByRole('option', { name: /Decode a dump/ }).click();
  await expect(dialog(page)).toBeVisible();
});

for (const [what, text] of [
  ['a C array', carray(FULLER)],
  [
    'numbered words',
    wordsOf(FULLER)
      .map((word, i) => `word ${i}: ${hexWord(word)}`)
      .join('\n'),
  ],
  [
    'digits with offsets',
    FULLER.toString('hex').replace(
      /.{32}/g,
      (row, at) => `${(at / 2).toString(16).padStart(8, '0')}: ${row.replace(/..(?!$)/g, '$& ')}\n`,
    ),
  ],
] as const) {
  test(`${what} of a launch descriptor is its fields`, async ({ page }) => {
    await page.goto('./');
    await decode(page, text);
    await expect(head(page)).toContainText('version 03.00');
    await expect(head(page)).toContainText('256 bytes');
    await expect(head(page)).toContainText('grid 4096');
    // Bits 415:384 are the width of the grid: word 12.
    const diagram = page.locator('kernel-scope-dock kernel-scope-diagram');
    await expect(diagram).toContainText('launch descriptor');
    const go = page.locator('kernel-scope-dock').getByLabel('Go to offset');
    await go.fill('0x30');
    await go.press('Enter');
    await expect(diagram.locator('.foot')).toContainText('CTA_RASTER_WIDTH');
    await expect(diagram.locator('.foot')).toContainText('415');
    await expect(form(page).getByRole('combobox', { name: 'Version' })).toHaveValue('03.00');
  });
}

test('what it is read as is switched in place, and back and forward go there', async ({ page }) => {
  await page.goto('./');
  await choose(page, 'some.bin', FULLER);
  await expect(head(page)).toContainText('some.bin');
  await expect(head(page)).toContainText('version 03.00');
  await expect(page).toHaveURL(/#decode=auto&/);
  await page.waitForTimeout(1000);
  await form(page).getByRole('combobox', { name: 'Version' }).selectOption('02.04');
  await expect(head(page)).toContainText('version 02.04');
  await expect(page).toHaveURL(/#decode=version:02.04&/);
  await page.goBack();
  await expect(head(page)).toContainText('version 03.00');
  await page.goForward();
  await expect(head(page)).toContainText('version 02.04');
  await form(page).getByRole('button', { name: 'Open it as any other file' }).click();
  await expect(page).not.toHaveURL(/decode=/);
});

test('a dump of a wrong length has findings, and what is no dump says so', async ({ page }) => {
  await page.goto('./');
  await choose(page, 'cut.bin', FULLER.subarray(0, 250));
  await form(page).getByRole('combobox', { name: 'Read as' }).selectOption('qmd');
  await expect(head(page).locator('.verdict')).toContainText(/finding|error|warning/);
  await expect(page.locator('kernel-scope-findings').first()).toContainText('25');
  await decode(page, 'nothing of the kind');
  await expect(form(page).getByRole('combobox', { name: 'Read as' })).toBeVisible();
  await expect(head(page).locator('.verdict.error')).toBeVisible();
});

test('two launch descriptors are compared', async ({ page }) => {
  await page.goto('./');
  await decode(page, carray(FULLER), carray(MINIMAL));
  await expect(page).toHaveURL(/view=compare/);
  const table = page.getByRole('grid', { name: 'Comparison' });
  // The group is 0x3f in the one and 0 in the other; the grid is the same in both.
  await expect(table.getByRole('row', { name: /QMD_GROUP_ID/ })).toContainText('0x3f', { timeout: 15_000 });
  await expect(table.getByRole('row', { name: /CTA_RASTER_WIDTH/ })).toHaveCount(0);
  await page.locator('kernel-scope-compare').getByRole('searchbox').fill('field:CTA_RASTER_WIDTH');
  await expect(table.getByRole('row', { name: 'CTA_RASTER_WIDTH 415:384' })).toContainText('4096');
  // What is none is not compared.
  await decode(page, carray(FULLER), 'nothing of the kind');
  await expect(page.getByRole('alert').filter({ hasText: 'the second dump is none' })).toBeVisible();
});

test('a descriptor that a pushbuffer writes is put together, and its launch leads to it', async ({ page }) => {
  const address = 0x7f_1234_5600;
  const words = [
    ...methods(1, 0x0, 0xc6c0), // SET_OBJECT AMPERE_COMPUTE_A
    ...methods(1, 0x318, Math.floor(address / 2 ** 40), (address / 256) % 2 ** 32), // SET_INLINE_QMD_ADDRESS_A, _B
    ...methods(1, 0x320, ...wordsOf(FULLER)), // LOAD_INLINE_QMD_DATA
    ...methods(1, 0x2b4, address / 256), // SEND_PCAS_A
    ...methods(1, 0x2c0, 3), // SEND_SIGNALING_PCAS2_B: INVALIDATE_COPY_SCHEDULE
  ];
  const bytes = Buffer.alloc(words.length * 4);
  for (const [i, word] of words.entries()) bytes.writeUInt32LE(word, i * 4);
  await page.goto('./');
  await choose(page, 'pushbuffer.bin', bytes);
  await expect(head(page)).toContainText('pushbuffer');
  await show(page, 'Methods');
  const methodsTable = page.getByRole('grid', { name: 'Methods' });
  await expect(methodsTable).toContainText('SET_OBJECT');
  await expect(methodsTable).toContainText('SET_INLINE_QMD_ADDRESS_A');
  await show(page, 'Launch descriptors');
  const one = page.locator('kernel-scope-descriptors');
  await expect(one).toContainText('version 03.00, grid 4096');
  await expect(one).toContainText('0x7f12345600');
  await expect(one.locator('kernel-scope-diagram')).toContainText('CTA_RASTER_WIDTH');
  await show(page, 'Launches');
  await expect(page.getByRole('grid', { name: 'Launches' })).toContainText('4096');
});

test('a dump that is pasted on the page is offered for decoding', async ({ page }) => {
  await page.goto('./');
  await page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, carray(FULLER));
  await expect(dialog(page).getByRole('textbox', { name: 'Dump', exact: true })).toHaveValue(carray(FULLER).trim());
});

test('axe finds nothing where a dump is pasted, and in what it is', async ({ page }) => {
  test.setTimeout(240_000);
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme });
    await page.goto('./');
    await page.locator('kernel-scope').press('p');
    await dialog(page).getByText('Compare with another').click();
    await axe(page, 'kernel-scope-decode', 'kernel-scope-decode');
    await page.keyboard.press('Escape');
    await decode(page, carray(FULLER), carray(MINIMAL));
    await expect(page.getByRole('grid', { name: 'Comparison' })).toBeVisible({ timeout: 15_000 });
    for (const view of ['compare', 'summary', 'qmds/1']) {
      await page.locator('kernel-scope').evaluate((element, view) => element.setAttribute('view', view), view);
      await page.waitForTimeout(200);
      await axe(page, 'kernel-scope-panel', 'kernel-scope-panel');
    }
  }
});

test('a file that is no dump stays one that it is', async ({ page }) => {
  await page.goto(`./#src=examples/${VADD.split('/').at(-1)}&decode=auto`);
  await expect(form(page).getByRole('combobox', { name: 'Read as' })).toBeVisible();
  await form(page).getByRole('button', { name: 'Open it as any other file' }).click();
  await expect(head(page)).toContainText('NVIDIA cubin');
});
