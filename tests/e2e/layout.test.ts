// Where things are on the page, and how one gets about in it.

import { drop, goTo, show, VADD } from './page.ts';
import { expect, test } from './site.ts';

test('bytes and fields stand below or at the right, as large as one wants, and stay so', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  const dock = page.locator('kernel-scope-dock');
  const box = async () => (await dock.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const edge = page.getByRole('separator', { name: 'Size of the bytes and fields' });
  const before = await box();
  expect(before.width).toBe(1280);
  await page.mouse.move(300, before.y);
  await page.mouse.down();
  await page.mouse.move(300, before.y - 100, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await box()).height).toBeCloseTo(before.height + 100, -1);

  await page.getByRole('button', { name: 'What else can be done' }).click();
  await page.getByRole('menuitemradio', { name: 'Bytes and fields at the right' }).click();
  await expect.poll(async () => (await box()).x).toBeGreaterThan(400);
  const right = await box();
  await edge.focus();
  await edge.press('ArrowLeft');
  await expect.poll(async () => (await box()).width).toBeCloseTo(right.width + 24, -1);

  await page.reload();
  await drop(page, VADD);
  await expect.poll(async () => (await box()).width).toBeCloseTo(right.width + 24, -1);
  await page.keyboard.press('d');
  await expect(dock).toBeHidden();
  await page.keyboard.press('d');
  await expect.poll(async () => (await box()).height).toBeCloseTo(before.height + 100, -1);
});

test('one field finds panels, names, offsets and bytes', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await expect(page.locator('kernel-scope-identity h1')).toHaveText('vadd.sm_90a.13.0.cubin');
  const find = async (text: string, choice: RegExp) => {
    await page.keyboard.press('Control+k');
    await page.getByLabel('Find in the file').fill(text);
    await page.getByRole('option', { name: choice }).first().click();
  };
  const where = page.locator('kernel-scope-hex .head');
  await find('0x584', /go to/);
  await expect(where).toContainText('file 0x584');
  // readelf -SW: .text._Z4vaddPKfS0_Pfi is at 0x680.
  await find('.text._Z4vaddPKfS0_Pfi+0x20', /go to/);
  await expect(where).toContainText('file 0x6a0');
  await find('Reloc', /panel/);
  await expect(page.getByRole('grid', { name: 'Relocations' })).toBeVisible();
  await find('vadd', /kernel/);
  await expect(page.locator('kernel-scope-kernel')).toBeVisible();
  await find('7f 45 4? 46', /bytes/);
  await expect(where).toContainText('file 0x0');
  await expect(where).toContainText('4 bytes selected');

  // By keyboard alone.
  await page.keyboard.press('/');
  await page.keyboard.type('0x680');
  await expect(page.getByRole('option', { selected: true })).toContainText('0x680');
  await page.keyboard.press('Enter');
  await expect(where).toContainText('file 0x680');
  await page.keyboard.press('Control+k');
  await page.keyboard.press('Escape');
  await expect(page.getByLabel('Find in the file')).toBeHidden();
});

test('the keyboard goes from region to region, and a sheet says what it does', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await goTo(page, '0');
  const focused = () =>
    page.evaluate(() => {
      const names = [];
      for (let at = document.activeElement; at; at = at.shadowRoot?.activeElement ?? null) names.push(at.localName);
      return names.join(' ');
    });
  await expect.poll(focused).toContain('kernel-scope-hex');
  await page.keyboard.press('F6');
  await expect.poll(focused).toContain('kernel-scope-diagram');
  await page.keyboard.press('F6');
  await expect.poll(focused).toContain('kernel-scope-ribbon');
  await page.keyboard.press('F6');
  await expect.poll(focused).toContain('kernel-scope-nav');
  await page.keyboard.press('Shift+F6');
  await expect.poll(focused).toContain('kernel-scope-ribbon');
  await page.keyboard.press('b');
  await expect.poll(focused).toContain('kernel-scope-hex');

  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keyboard' });
  await expect(sheet).toContainText('Go to an offset');
  await sheet.getByRole('checkbox').uncheck();
  await page.keyboard.press('Escape');
  await expect(sheet).toBeHidden();
  // Keys alone now do nothing; those with Control still do.
  await page.keyboard.press('?');
  await expect(sheet).toBeHidden();
  await page.keyboard.press('Control+k');
  await expect(page.getByLabel('Find in the file')).toBeVisible();
});

test('light and dark can be chosen and stay so', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('./');
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  expect(await background()).toBe('rgb(251, 250, 247)');
  await page.getByRole('button', { name: 'What else can be done' }).click();
  await page.getByRole('menuitemradio', { name: 'Dark', exact: true }).click();
  await expect.poll(background).toBe('rgb(20, 21, 25)');
  await page.reload();
  await expect.poll(background).toBe('rgb(20, 21, 25)');
  await drop(page, VADD);
  await expect(page.locator('kernel-scope-identity')).toHaveCSS('background-color', 'rgb(26, 28, 33)');
});

test('the focus stays with what is opened from a table', async ({ page }) => {
  await page.goto('./');
  await drop(page, 'tests/fixtures/own/two-kernels.cubin');
  await show(page, 'Kernels');
  const kernels = page.getByRole('grid', { name: 'Kernels' });
  await kernels.focus();
  await kernels.press('ArrowDown');
  await kernels.press('Enter');
  await expect(page.locator('kernel-scope-kernel')).toBeVisible();
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.localName))
    .toBe('kernel-scope-panel');
});

test('what is open above the page has the keys', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await expect(page.locator('kernel-scope-kernel')).toBeVisible();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeVisible();
  await page.keyboard.press('Shift+X');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'What else can be done' }).click();
  await page.keyboard.press('Shift+X');
  await page.keyboard.press('Escape');
  await expect(page.locator('kernel-scope-kernel')).toBeVisible();
  // A choice among several is nothing that one writes in.
  await show(page, 'Image');
  await page.getByRole('radio').nth(1).click();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeVisible();
});

test('a dock of a larger window leaves room in a smaller one', async ({ page }) => {
  await page.addInitScript(() =>
    localStorage.setItem('kernel-scope.docking', '{"side":"below","height":900,"width":1500,"split":0.5}'),
  );
  await page.goto('./');
  await drop(page, VADD);
  const box = async (name: string) => (await page.locator(name).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await expect(page.locator('kernel-scope-kernel')).toBeVisible();
  const dock = await box('kernel-scope-dock');
  expect(dock.y + dock.height).toBeLessThanOrEqual(720);
  expect((await box('kernel-scope-panel')).height).toBeGreaterThan(50);
  await page.keyboard.press('d');
  await expect.poll(async () => (await box('kernel-scope-panel')).width).toBeGreaterThanOrEqual(200);
  const right = await box('kernel-scope-dock');
  expect(right.x + right.width).toBeLessThanOrEqual(1280);
});

test('the focus stays in the page when a file is closed', async ({ page }) => {
  await page.goto('./');
  await page.locator('input[type="file"]').setInputFiles([VADD, 'tests/fixtures/own/two-kernels.cubin']);
  const tab = page.getByRole('tab', { selected: true });
  await tab.focus();
  await tab.press('Delete');
  const focused = () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.localName);
  await expect.poll(focused).toBe('kernel-scope-panel');
  await page.keyboard.press('Shift+X');
  await expect(page.getByRole('heading', { name: 'Open a GPU binary' })).toBeVisible();
  await expect.poll(focused).toBe('kernel-scope-start');
});
