// The bytes as people use them: mouse, keyboard, finger, clipboard and files. What the bytes are is read from the fixtures here; where
// their parts are, `cuobjdump -elf` says: .nv.info._Z4vaddPKfS0_Pfi has 120 bytes at 0x57c, its KPARAM_INFO of parameter 3 is 16 at 0x584.

import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { drop, goTo, hexRow, pointOf, VADD } from './page.ts';
import { expect, test } from './site.ts';

const head = (page: Page) => page.locator('kernel-scope-hex .head');
const grid = (page: Page) => page.getByRole('grid', { name: 'Bytes' });
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());
const chosen = async (page: Page, menu: RegExp, item: string | RegExp) => {
  await page.locator('kernel-scope-hex').getByRole('button', { name: menu }).click();
  await page
    .getByRole('menu')
    .locator('visible=true')
    .getByText(item, { exact: typeof item === 'string' })
    .click();
};
const pairs = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');

async function open(page: Page): Promise<Buffer> {
  await page.goto('./');
  await drop(page, VADD);
  await expect(head(page)).toContainText('file 0x0');
  return readFile(VADD);
}

/** The lines of text that are visible. */
const lines = (page: Page) =>
  page.locator('kernel-scope-hex pre').evaluate((pre) => (pre.textContent ?? '').trimEnd().split('\n'));

test('the mouse selects by drag, by shift and click, and the structure around a byte', async ({ page }) => {
  await open(page);
  await goTo(page, '0x584');
  const [from, to] = [await pointOf(page, 0x586), await pointOf(page, 0x591)];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
  await expect(head(page)).toContainText('file 0x586');
  await expect(head(page)).toContainText('12 bytes selected');

  await page.mouse.click(from.x, from.y);
  await page.keyboard.down('Shift');
  const shifted = await pointOf(page, 0x580);
  await page.mouse.click(shifted.x, shifted.y);
  await page.keyboard.up('Shift');
  await expect(head(page)).toContainText('file 0x580');
  await expect(head(page)).toContainText('7 bytes selected');
  // The right button opens a menu, about what is selected.
  await page.mouse.click(to.x, to.y, { button: 'right' });
  await expect(head(page)).toContainText('7 bytes selected');
  await page.keyboard.press('Escape');

  // The record's second word is its index, the structure has 16 bytes.
  const index = await pointOf(page, 0x58a);
  await page.mouse.dblclick(index.x, index.y);
  await expect(head(page)).toContainText('file 0x588');
  await expect(head(page)).toContainText('4 bytes selected');
  await page.mouse.click(index.x, index.y, { clickCount: 3 });
  await expect(head(page)).toContainText('file 0x584');
  await expect(head(page)).toContainText('16 bytes selected');

  // Padding (between .rela.debug_frame and the code at 0x680) has no structure: four bytes.
  await goTo(page, '0x646');
  const padding = await pointOf(page, 0x646);
  await page.mouse.dblclick(padding.x, padding.y);
  await expect(head(page)).toContainText('file 0x644');
  await expect(head(page)).toContainText('4 bytes selected');
});

test('a drag past the edge scrolls on', async ({ page }) => {
  await open(page);
  const from = await pointOf(page, 0x10);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x, 799, { steps: 3 });
  await expect.poll(async () => (await lines(page))[0]?.slice(0, 6)).not.toBe('000000');
  await expect.poll(async () => Number.parseInt((await lines(page))[0] ?? '', 16)).toBeGreaterThan(0x100);
  await page.mouse.up();
  const first = (await lines(page))[0];
  await page.waitForTimeout(200);
  expect((await lines(page))[0]).toBe(first);
  await expect(head(page)).toContainText('file 0x10');
});

test('the keyboard selects the part, then everything', async ({ page }) => {
  const file = await open(page);
  await goTo(page, '0x584');
  await grid(page).press('Control+a');
  await expect(head(page)).toContainText('file 0x57c');
  await expect(head(page)).toContainText('120 bytes selected');
  await grid(page).press('Control+a');
  await expect(head(page)).toContainText('3,976 bytes selected');
  await goTo(page, '0xf80');
  await grid(page).press('Control+Shift+End');
  await expect(head(page)).toContainText('8 bytes selected');
  await grid(page).press('Control+Shift+Home');
  await expect(head(page)).toContainText('3,969 bytes selected');
  // What is selected is said: the cell of the keyboard is in the grid.
  await goTo(page, '0x584');
  const cell = page.getByRole('gridcell', { selected: true });
  await expect(cell).toHaveText((file[0x584] ?? 0).toString(16).padStart(2, '0'));
  await expect(page.getByRole('row').filter({ has: cell })).toHaveAttribute('aria-rowindex', String(0x58 + 1));
});

test('where to go is written in one field, which says what is wrong', async ({ page }) => {
  await open(page);
  await grid(page).focus();
  await page.keyboard.press('Control+g');
  const field = page.getByLabel('Go to offset');
  await expect(field).toBeFocused();
  await field.fill('0x10000');
  await field.press('Enter');
  await expect(field).toHaveAttribute('aria-invalid', 'true');
  await expect(head(page).getByRole('alert')).toContainText(/end|past/);
  await field.fill('0x680');
  await expect(head(page).getByRole('alert')).toHaveCount(0);
  await field.press('Enter');
  await expect(head(page)).toContainText('file 0x680');
  await expect(grid(page)).toBeFocused();
  // As the margin has it; a section, and a place in it; what the image begins with.
  for (const [place, offset] of [
    ['000584', '0x584'],
    ['.nv.info._Z4vaddPKfS0_Pfi', '0x57c'],
    ['.nv.info._Z4vaddPKfS0_Pfi+0x8', '0x584'],
    ['image:0x20', '0x6a0'],
  ] as const) {
    await goTo(page, place);
    await expect(head(page)).toContainText(`file ${offset}`);
  }
  await field.fill('.text.none');
  await field.press('Enter');
  await expect(head(page).getByRole('alert')).toContainText('no section, kernel or symbol');
});

test('bytes and texts are found, forwards and backwards', async ({ page }) => {
  const file = await open(page);
  // Where they are, by another search.
  const all: number[] = [];
  for (let at = file.indexOf('vadd'); at >= 0; at = file.indexOf('vadd', at + 1)) all.push(at);
  expect(all.length).toBeGreaterThan(3);
  await grid(page).focus();
  await page.keyboard.press('/');
  const field = page.getByLabel('Bytes to find');
  const find = page.locator('kernel-scope-find');
  await field.fill('vadd');
  await expect(find.getByRole('button', { name: 'text' })).toHaveAttribute('aria-pressed', 'true');
  for (const at of [all[0], all[1]]) {
    await field.press('Enter');
    await expect(find).toContainText(`found at 0x${at?.toString(16)}`);
    await expect(head(page)).toContainText(`file 0x${at?.toString(16)}`);
  }
  await field.press('Shift+Enter');
  await expect(find).toContainText(`found at 0x${all[0]?.toString(16)}`);
  await field.press('Shift+Enter');
  await expect(find).toContainText(`found at 0x${all.at(-1)?.toString(16)}, from the end again`);
  await field.press('Escape');
  await expect(field).toBeHidden();
  await expect(grid(page)).toBeFocused();

  // The first bytes of the fourth parameter's KPARAM_INFO, some of them left open.
  await goTo(page, '0');
  await page.keyboard.press('Control+f');
  await field.fill('04 17 ?? 0? 00 00 00 00 03');
  await expect(find.getByRole('button', { name: 'hex' })).toHaveAttribute('aria-pressed', 'true');
  await field.press('Enter');
  await expect(head(page)).toContainText('file 0x584');
  await expect(head(page)).toContainText('9 bytes selected');
  await field.fill('no such words');
  await field.press('Enter');
  await expect(find).toContainText('not found');
  await find.getByRole('button', { name: 'hex' }).click();
  await field.press('Enter');
  await expect(find).toContainText('not a hexadecimal digit');
  await expect(head(page)).toContainText('file 0x584');
});

test('bytes are copied in the forms of other tools', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const file = await open(page);
  await goTo(page, '0x584');
  for (let i = 0; i < 15; i++) await grid(page).press('Shift+ArrowRight');
  const bytes = file.subarray(0x584, 0x594);
  await grid(page).press('Control+c');
  await expect.poll(() => clipboard(page)).toBe(pairs(bytes));
  await chosen(page, /^Copy the selected/, 'Base64');
  await expect.poll(() => clipboard(page)).toBe(bytes.toString('base64'));
  await chosen(page, /^Copy the selected/, 'C array');
  await expect.poll(() => clipboard(page)).toContain('static const unsigned char bytes[16] = {\n    0x04, 0x17, 0x0c,');
  await chosen(page, /^Copy the selected/, 'Rust array');
  await expect.poll(() => clipboard(page)).toContain('[u8; 16]');
  await chosen(page, /^Copy the selected/, 'Dump');
  await expect.poll(() => clipboard(page)).toMatch(/^00000584: 0417 0c00 0000 0000 0300 1800 00f0 1100 {2}\.{16}$/);
  await expect(head(page)).toContainText('16 bytes copied');

  const saving = page.waitForEvent('download');
  await chosen(page, /^Copy the selected/, 'Save selection…');
  const saved = await saving;
  expect(saved.suggestedFilename()).toBe('vadd.sm_90a.13.0.cubin.584-594.bin');
  expect(await readFile(await saved.path())).toEqual(bytes);
});

test('the inspector reads the bytes in both orders', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const file = await open(page);
  await goTo(page, '0x5f8');
  const inspect = page.locator('kernel-scope-hex').getByRole('button', { name: 'inspect' });
  await inspect.click();
  const inspector = page.locator('kernel-scope-hex kernel-scope-inspector');
  const i32 = inspector.getByRole('button', { name: /^i32 / });
  await expect(i32).toHaveText(file.readInt32LE(0x5f8).toLocaleString('en-US'));
  await inspector.getByRole('button', { name: 'big-endian' }).click();
  await expect(i32).toHaveText(file.readInt32BE(0x5f8).toLocaleString('en-US'));
  await i32.click();
  await expect.poll(() => clipboard(page)).toBe(String(file.readInt32BE(0x5f8)));
  await grid(page).press('ArrowRight');
  await expect(i32).toHaveText(file.readInt32BE(0x5f9).toLocaleString('en-US'));
  // It is remembered.
  await page.reload();
  await drop(page, VADD);
  await expect(inspector.getByRole('button', { name: 'big-endian' })).toHaveAttribute('aria-pressed', 'true');
});

test('bytes a row and the margin are chosen, and remembered', async ({ page }) => {
  const file = await open(page);
  await goTo(page, '0x680');
  await chosen(page, /^How the bytes/, '8 bytes a row');
  expect((await lines(page)).find((line) => line.startsWith('000680'))?.slice(8, 31)).toBe(
    pairs(file.subarray(0x680, 0x688)),
  );
  await chosen(page, /^How the bytes/, '32 bytes a row');
  await expect(hexRow(page, 0x680)).toBeVisible();
  // The code is at 0x680: the bytes 0x20 behind its start are the next row of 32.
  await chosen(page, /^How the bytes/, 'Offsets in the part');
  await expect.poll(async () => (await lines(page)).some((line) => line.startsWith('+00020'))).toBe(true);
  expect((await lines(page)).find((line) => line.startsWith('+00020'))?.slice(8, 16)).toBe(
    pairs(file.subarray(0x6a0, 0x6a3)),
  );
  // It is what the image begins with.
  await chosen(page, /^How the bytes/, 'Offsets in the image');
  await expect.poll(async () => (await lines(page)).some((line) => line.startsWith('000020'))).toBe(true);
  await page.reload();
  await drop(page, VADD);
  await expect(page.locator('kernel-scope-hex').getByText('32 a row')).toBeVisible();
});

test('what is pointed at is named in a line that stays where it is', async ({ page }) => {
  await open(page);
  await goTo(page, '0x584');
  const path = page.locator('kernel-scope-hex .path');
  await expect(path).toContainText('.nv.info._Z4vaddPKfS0_Pfi +0x8');
  const before = await path.boundingBox();
  const at = await pointOf(page, 0x58c);
  await page.mouse.move(at.x, at.y);
  await expect(path).toContainText('0x58c');
  await expect(path).toContainText(/EIATTR_KPARAM_INFO \+0x8 › ordinal/i);
  expect((await path.boundingBox())?.y).toBe(before?.y);
  await page.mouse.move(at.x, 100);
  await expect(path).toContainText('0x584');
});

test('a file of 2 GB is read where it is looked at', async ({ page }) => {
  test.slow();
  await page.goto('./');
  // 128 references to the same 16 MiB, of which each begins with its own words.
  await page.evaluate(async () => {
    const part = new Uint8Array(16 << 20);
    part.set(new TextEncoder().encode('begin'), 0);
    part.set(new TextEncoder().encode('end'), part.length - 3);
    const blob = new Blob([part]);
    const scope = document.querySelector('kernel-scope') as HTMLElement & { openFile(file: File): Promise<void> };
    await scope.openFile(new File(Array<Blob>(128).fill(blob), 'two-gigabytes.bin'));
  });
  await expect(grid(page)).toHaveAttribute('aria-rowcount', String(2 ** 31 / 16));
  await grid(page).focus();
  await grid(page).press('Control+End');
  await expect(head(page)).toContainText('0x7fffffff');
  const last = async () => (await lines(page)).find((line) => line.startsWith('7ffffff0'));
  await expect.poll(last).toMatch(/65 6e 64 {2}·{13}end$/);
  // Past the height that browsers have, the keys and the wheel are exact to a row.
  await grid(page).press('ArrowUp');
  await expect(head(page)).toContainText('0x7fffffef');
  await goTo(page, '0x40000000');
  await expect
    .poll(async () => (await lines(page)).some((line) => /^40000000 {2}62 65 67 69 6e/.test(line)))
    .toBe(true);
  const first = Number.parseInt((await lines(page))[0]?.slice(0, 8) ?? '', 16);
  await grid(page).hover();
  await page.mouse.wheel(0, 21);
  await expect.poll(async () => (await lines(page))[0]?.slice(0, 8)).toBe((first + 16).toString(16));
  const box = await grid(page).boundingBox();
  if (!box) throw new Error('no bytes');
  // The scrollbar's own steps are many rows; what it shows are whole rows all the same.
  await grid(page).evaluate((scroller) => {
    scroller.scrollTop = scroller.scrollHeight / 4;
  });
  await expect.poll(async () => (await lines(page))[0]).toMatch(/^1f|^20/);
});

test.describe('with a finger', () => {
  test.use({ hasTouch: true, viewport: { width: 390, height: 844 } });

  test('a tap selects a byte, a long press begins a range with two handles', async ({ page }) => {
    await page.goto('./');
    await drop(page, VADD);
    await page.getByRole('button', { name: 'Bytes', exact: true }).click();
    await goTo(page, '0x580');
    // Rows of 8 bytes: two digits of margin fewer, the byte 0x584 is the fifth.
    const point = (offset: number) =>
      page.locator('kernel-scope-hex pre').evaluate((pre, offset) => {
        const all = (pre.textContent ?? '').split('\n');
        const row = all.findIndex((line) => line.startsWith((offset - (offset % 8)).toString(16).padStart(6, '0')));
        const { left, top, width } = pre.getBoundingClientRect();
        return {
          x: left + ((8 + (offset % 8) * 3 + 1) * width) / (all[0]?.length ?? 1),
          y: top + (row + 0.5) * 21,
        };
      }, offset);
    const tap = await point(0x584);
    await page.touchscreen.tap(tap.x, tap.y);
    await expect(head(page)).toContainText('file 0x584');

    const touch = await page.context().newCDPSession(page);
    const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', at?: { x: number; y: number }) =>
      touch.send('Input.dispatchTouchEvent', { type, touchPoints: at ? [at] : [] });
    const [from, to] = [await point(0x588), await point(0x593)];
    await send('touchStart', from);
    await page.waitForTimeout(600);
    await expect(page.locator('kernel-scope-hex .handle')).toHaveCount(2);
    await send('touchMove', to);
    await send('touchEnd');
    await expect(head(page)).toContainText('file 0x588');
    await expect(head(page)).toContainText('12 bytes selected');

    // The end is taken farther by its handle.
    const handle = await page.locator('kernel-scope-hex .handle[data-end="to"]').boundingBox();
    if (!handle) throw new Error('no handle');
    const grip = { x: handle.x + 30, y: handle.y + 12 };
    const farther = await point(0x59b);
    await send('touchStart', grip);
    await send('touchMove', { x: farther.x, y: grip.y + (farther.y - to.y) });
    await send('touchEnd');
    await expect(head(page)).toContainText('file 0x588');
    await expect(head(page)).toContainText('20 bytes selected');

    // A finger that moves at once scrolls.
    const first = (await lines(page))[0];
    await send('touchStart', { x: 200, y: 700 });
    for (let y = 690; y > 560; y -= 10) await send('touchMove', { x: 200, y });
    await send('touchEnd');
    await expect.poll(async () => (await lines(page))[0]).not.toBe(first);
    await expect(head(page)).toContainText('20 bytes selected');
  });
});

test('a sign counts from the selection', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await goTo(page, '0x40');
  await goTo(page, '+0x10');
  await expect(page.locator('kernel-scope-hex .where')).toContainText('file 0x50');
  await goTo(page, '-16');
  await expect(page.locator('kernel-scope-hex .where')).toContainText('file 0x40');
});

test('forced colours leave the selection behind the bytes to be seen', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('./');
  await drop(page, VADD);
  await goTo(page, '0x40');
  const mark = page.locator('kernel-scope-hex .mark').first();
  await expect(mark).toBeVisible();
  const box = await mark.boundingBox();
  const clip = { x: box?.x ?? 0, y: (box?.y ?? 0) + 1, width: box?.width ?? 1, height: 3 };
  const marked = await page.screenshot({ clip });
  await page.keyboard.press('Control+Home');
  await expect(page.locator('kernel-scope-hex .where')).toContainText('file 0x0');
  expect((await page.screenshot({ clip })).equals(marked)).toBe(false);
});

test('what is inspected stays in view', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await goTo(page, '0xc0');
  await expect(hexRow(page, 0xc0)).toBeVisible();
  await page.getByRole('button', { name: 'inspect' }).click();
  const dock = page.locator('kernel-scope-hex');
  await expect(dock.locator('kernel-scope-inspector')).toBeVisible();
  await expect
    .poll(() =>
      dock.evaluate((one) => {
        const root = one.shadowRoot as ShadowRoot;
        const mark = root.querySelector('.mark')?.getBoundingClientRect();
        const outer = root.querySelector('.scroller')?.getBoundingClientRect();
        return mark && outer ? mark.bottom <= outer.bottom && mark.top >= outer.top : false;
      }),
    )
    .toBe(true);
});
