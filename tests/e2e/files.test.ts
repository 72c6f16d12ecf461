// Opening files, side by side, and finding the way back to a place in them. Offsets are those of `readelf -SW` and `cuobjdump -elf`:
// .nv.info._Z4vaddPKfS0_Pfi begins at 0x57c and has the KPARAM_INFO of the fourth parameter at 0x584; .text._Z4vaddPKfS0_Pfi
// begins at 0x680.

import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { ARGS, drop, goTo, show, VADD } from './page.ts';
import { expect, test } from './site.ts';

const where = (page: Page) => page.locator('kernel-scope-hex .head');
const title = (page: Page) => page.locator('kernel-scope-identity h1');
const VADD_URL = 'examples/vadd.sm_90a.13.0.cubin';

test('several files are open side by side, each where it was left', async ({ page }) => {
  await page.goto('./');
  await page.locator('input[type="file"]').setInputFiles([VADD, ARGS]);
  const tabs = page.getByRole('region', { name: 'Files', exact: true });
  await expect(tabs.getByRole('tablist', { name: 'Files that are open' })).toHaveCount(1);
  await expect(tabs.getByRole('tab')).toHaveCount(2);
  await expect(title(page)).toHaveText('vadd.sm_90a.13.0.cubin');
  await goTo(page, '0x584');
  await show(page, 'Symbols');

  await tabs.getByRole('tab', { name: 'args' }).click();
  await expect(title(page)).toHaveText('args.gfx90a.v5.co');
  await expect(where(page)).toContainText('file 0x0');
  // By keyboard: to the other file, and away with it.
  await tabs.getByRole('tab', { selected: true }).press('ArrowLeft');
  await expect(title(page)).toHaveText('vadd.sm_90a.13.0.cubin');
  await expect(where(page)).toContainText('file 0x584');
  await expect(page.getByRole('grid', { name: 'Symbols' })).toBeVisible();
  await tabs.getByRole('tab', { selected: true }).press('Delete');
  await expect(title(page)).toHaveText('args.gfx90a.v5.co');
  await expect(tabs).toHaveCount(0);
});

test('an address names a file, a panel, a place and a field', async ({ page }) => {
  await page.goto(`./#src=${VADD_URL}&view=symbols&at=.nv.info._Z4vaddPKfS0_Pfi%2B8&select=ordinal`);
  await expect(page.getByRole('grid', { name: 'Symbols' })).toBeVisible();
  // The ordinal is the third word of the attribute: 2 bytes at 0x584 + 8.
  await expect(where(page)).toContainText('file 0x58c');
  await expect(where(page)).toContainText('2 bytes selected');
  await expect.poll(() => new URL(page.url()).hash).toBe(`#src=${VADD_URL}&view=symbols&at=0x584&select=Ordinal`);

  // Another one that somebody types.
  await page.evaluate(() => {
    location.hash = 'view=sections&at=0x680&select=16';
  });
  await expect(page.getByRole('grid', { name: 'Sections' })).toBeVisible();
  await expect(where(page)).toContainText('file 0x680');
  await expect(where(page)).toContainText('16 bytes selected');
});

test('back and forward go from place to place and from file to file', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await page.waitForTimeout(1000);
  await goTo(page, '0x584');
  await page.waitForTimeout(1000);
  await show(page, 'Sections');
  await page.waitForTimeout(1000);
  await drop(page, ARGS);
  await expect(title(page)).toHaveText('args.gfx90a.v5.co');
  await page.goBack();
  await expect(title(page)).toHaveText('vadd.sm_90a.13.0.cubin');
  await expect(page.getByRole('grid', { name: 'Sections' })).toBeVisible();
  await page.goBack();
  await expect(page.locator('kernel-scope-kernel')).toBeVisible();
  await expect(where(page)).toContainText('file 0x584');
  await page.goBack();
  await expect(where(page)).toContainText('file 0x0');
  await page.goForward();
  await expect(where(page)).toContainText('file 0x584');
});

test('a file that is dropped again is where it was left, until that is forgotten', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await show(page, 'Sections');
  await goTo(page, '0x680');
  await expect.poll(() => page.evaluate(() => localStorage.getItem('kernel-scope.places'))).toContain('0x680');

  await page.goto('./#');
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Open a GPU binary' })).toBeVisible();
  await drop(page, VADD, 'body', 'by another name');
  await expect(where(page)).toContainText('file 0x680');
  await expect(page.getByRole('grid', { name: 'Sections' })).toBeVisible();

  await page.getByRole('button', { name: 'What else can be done' }).click();
  await page.getByRole('menuitem', { name: 'Forget where files were left' }).click();
  await expect(page.locator('.notice')).toContainText('forgotten');
  await page.goto('./#');
  await page.reload();
  await drop(page, VADD);
  await expect(where(page)).toContainText('file 0x0');
});

test('an address that names a place in a file of ones own waits for it', async ({ page }) => {
  await page.goto('./#view=sections&at=0x680');
  await expect(page.getByText('in a file of your own')).toContainText('0x680');
  await drop(page, VADD);
  await expect(where(page)).toContainText('file 0x680');
  await expect(page.getByRole('grid', { name: 'Sections' })).toBeVisible();
});

test('files, digits and addresses are pasted', async ({ page }) => {
  await page.goto('./');
  const content = (await readFile(VADD)).toString('base64');
  const paste = (text: string, file?: string) =>
    page.evaluate(
      ([text, file]) => {
        const clipboardData = new DataTransfer();
        if (file) {
          const bytes = Uint8Array.from(atob(file), (c) => c.charCodeAt(0));
          clipboardData.items.add(new File([bytes], 'pasted.cubin'));
        } else clipboardData.setData('text/plain', text ?? '');
        document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      },
      [text, file],
    );
  await paste('', content);
  await expect(title(page)).toHaveText('pasted.cubin');
  await paste('7f 45 4c 46 02 01 01 33 07 00 00 00 00 00 00 00');
  await expect(title(page)).toHaveText('pasted bytes');
  await expect(page.locator('kernel-scope-identity')).toContainText('16 bytes');
  await paste(new URL(VADD_URL, page.url()).href);
  await expect(title(page)).toHaveText('vadd.sm_90a.13.0.cubin');
});

test('a file of another site is fetched only if one asks for it, and the page says why it cannot be', async ({
  page,
  wrongs,
}) => {
  await page.goto('./');
  await page.getByLabel('Address of a file').fill('https://example.com/other.cubin');
  await page.getByLabel('Address of a file').press('Enter');
  await expect(page.getByRole('alert')).toContainText('https://example.com is another site');
  await page.getByRole('button', { name: 'Fetch it' }).click();
  await expect(page.getByRole('alert')).toContainText('does not let it talk to https://example.com');
  await expect(page.getByRole('alert')).toContainText('connect-src');
  // The browser says so as well; nothing has been asked for.
  expect(wrongs.splice(0).join()).toMatch(/^said .*Content Security Policy/);
});

test('a file that is not there, and a place that is not there, are said', async ({ page, wrongs }) => {
  await page.goto('./#src=examples/none.cubin');
  await expect(page.getByRole('alert')).toContainText('none.cubin cannot be fetched: the server says 404');
  wrongs.splice(0);
  await page.goto(`./#src=${VADD_URL}&view=nothing&at=.text.nothing`);
  await expect(page.getByRole('alert').filter({ hasText: 'no panel nothing' })).toBeVisible();
  await expect(page.getByRole('alert').filter({ hasText: 'The place cannot be shown' })).toBeVisible();
  await expect(page.locator('kernel-scope-kernel')).toBeVisible();
});

test('a large file shows how far it has come, and can be given up', async ({ page }) => {
  await page.goto('./');
  await page.route('**/slow.cubin', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await route.abort().catch(() => {});
  });
  await page.getByLabel('Address of a file').fill('slow.cubin');
  await page.getByLabel('Address of a file').press('Enter');
  await expect(page.getByText('opening slow.cubin')).toBeVisible();
  await page.getByRole('button', { name: 'cancel' }).click();
  await expect(page.getByRole('heading', { name: 'Open a GPU binary' })).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('attributes that are set while a file is on its way are those of that file', async ({ page }) => {
  await page.goto('./examples/embed.html');
  const made = () => page.locator('kernel-scope').nth(2);
  await page.evaluate(() => {
    const scope = document.createElement('kernel-scope');
    scope.setAttribute('src', 'vadd.sm_90a.13.0.cubin');
    document.body.append(scope);
    scope.setAttribute('at', '0x584');
    scope.setAttribute('view', 'symbols');
  });
  // Three elements open their files at once.
  await expect(made().locator('kernel-scope-hex .head')).toContainText('file 0x584', { timeout: 15_000 });
  await expect(made().getByRole('grid', { name: 'Symbols' })).toBeVisible();
  await page.evaluate(() => {
    const scope = document.querySelectorAll('kernel-scope')[2];
    scope?.setAttribute('src', 'args.gfx90a.v5.co');
    scope?.setAttribute('view', 'notes');
    scope?.setAttribute('at', '0x40');
  });
  await expect(made().locator('kernel-scope-identity h1')).toHaveText('args.gfx90a.v5.co');
  await expect(made().locator('kernel-scope-hex .head')).toContainText('file 0x40');
  await expect(made().getByRole('grid', { name: 'Notes' })).toBeVisible();
});

test('an element that is taken away closes its files, and opens them again where they were when it is back', async ({
  page,
}) => {
  await page.goto('./examples/embed.html');
  const first = page.locator('kernel-scope').first();
  await expect(first.locator('kernel-scope-identity h1')).toHaveText('vadd.sm_90a.13.0.cubin');
  const many = await page.evaluate(async () => {
    const scope = document.querySelector('kernel-scope') as HTMLElement & {
      files: { sessions: unknown[] };
      session: { select(at: number, size: number): void };
    };
    scope.session.select(0x584, 16);
    const parent = scope.parentNode;
    const next = scope.nextSibling;
    scope.remove();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const many = scope.files.sessions.length;
    parent?.insertBefore(scope, next);
    return many;
  });
  expect(many).toBe(0);
  await expect(first.locator('kernel-scope-hex .head')).toContainText('file 0x584');
  await expect(first.locator('kernel-scope-hex .head')).toContainText('16 bytes selected');
});

const stop = (page: Page) =>
  page.workers()[0]?.evaluate(() => {
    setTimeout(() => {
      throw new WebAssembly.RuntimeError('unreachable');
    });
  });

test('a file that the reader has lost for good can be opened again', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await expect(title(page)).toHaveText('vadd.sm_90a.13.0.cubin');
  for (let i = 0; i < 5; i++) {
    await stop(page);
    await page.waitForTimeout(500);
  }
  await expect(page.locator('.notice').filter({ hasText: 'open the file again to go on' })).toBeVisible();
  await drop(page, VADD);
  await show(page, 'Symbols');
  await expect(page.getByRole('grid', { name: 'Symbols' }).getByText('.text._Z4vaddPKfS0_Pfi').first()).toBeVisible();
  await expect(page.getByRole('region', { name: 'Files', exact: true })).toHaveCount(0);
});

test('after a stop the fields are those of the selected bytes', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await expect(title(page)).toHaveText('vadd.sm_90a.13.0.cubin');
  await page.evaluate(() => {
    const scope = document.querySelector('kernel-scope') as HTMLElement & {
      session: { select(at: number, size: number): void };
    };
    setTimeout(() => scope.session.select(0x584, 1), 20);
  });
  await stop(page);
  await expect(page.locator('.notice')).toContainText('has been reopened');
  await expect(page.locator('kernel-scope-diagram .head')).toContainText('EIATTR_KPARAM_INFO');
});

test('back after a reload goes to the file that the address names', async ({ page }) => {
  await page.goto(`./#src=${VADD_URL}&at=0x584`);
  await expect(where(page)).toContainText('file 0x584');
  await page.waitForTimeout(1000);
  await page.evaluate(() => {
    location.hash = 'src=examples/args.gfx90a.v5.co';
  });
  await expect(title(page)).toHaveText('args.gfx90a.v5.co');
  await page.waitForTimeout(500);
  await page.reload();
  await expect(title(page)).toHaveText('args.gfx90a.v5.co');
  await page.goBack();
  await expect(title(page)).toHaveText('vadd.sm_90a.13.0.cubin');
  await expect(where(page)).toContainText('file 0x584');
});

test('a link that is slow does not take the place of what was opened since', async ({ page }) => {
  await page.goto('./');
  await page.route('**/vadd.sm_90a.13.0.cubin', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.continue();
  });
  await page.evaluate((url) => {
    location.hash = `src=${url}&at=0x584`;
  }, VADD_URL);
  await drop(page, ARGS);
  await expect(title(page)).toHaveText('args.gfx90a.v5.co');
  await expect(page.getByRole('tab')).toHaveCount(2);
  await expect(title(page)).toHaveText('args.gfx90a.v5.co');
  await expect(page.locator('.notice')).toContainText('vadd.sm_90a.13.0.cubin is open as well');
});

test('a place in a file that is closed is not taken for one in another', async ({ page }) => {
  await page.goto('./');
  await drop(page, ARGS);
  await expect(title(page)).toHaveText('args.gfx90a.v5.co');
  await page.waitForTimeout(1000);
  await drop(page, VADD);
  await expect(title(page)).toHaveText('vadd.sm_90a.13.0.cubin');
  await goTo(page, '0x584');
  await page.waitForTimeout(1000);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Close vadd' }).click();
  await expect(title(page)).toHaveText('args.gfx90a.v5.co');
  await page.goBack();
  await expect(page.locator('.notice')).toContainText('not open any more');
  await drop(page, 'tests/fixtures/own/two-kernels.cubin');
  await expect(title(page)).toHaveText('two-kernels.cubin');
  await expect(where(page)).toContainText('file 0x0');
});
