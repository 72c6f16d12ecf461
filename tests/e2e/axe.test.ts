// What axe-core finds wrong for people who do not see, or do not use a pointer: nothing, on any view, in both colour schemes, on a
// narrow screen and where the system forces its colours. And that the page is whole at a zoom of 400 %.

import type { Page } from '@playwright/test';
import { ARGS, axe, drop, goTo, show, VADD } from './page.ts';
import { expect, test } from './site.ts';

// It looks at every element of the page, again and again.
test.describe.configure({ timeout: 120_000 });

const NARROW = { width: 390, height: 844 };

/** Panels that every file has, by what `view` calls them. */
const PANELS = [
  'summary',
  'kernels',
  'kernels/0',
  'kernels/0/code',
  'occupancy/0',
  'launch/0',
  'sections',
  'segments',
  'symbols',
  'relocations',
  'image',
  'notes',
  'map',
  'diagnostics',
];

async function view(page: Page, key: string): Promise<void> {
  await page.locator('kernel-scope').evaluate((element, key) => element.setAttribute('view', key), key);
  await expect(page.locator('kernel-scope-panel h2').first()).not.toBeEmpty();
  if (key === 'launch/0') await expect(page.locator('kernel-scope-made .unit').first()).toBeVisible();
  await page.waitForTimeout(100);
}

for (const [kind, file, record] of [
  ['cubin', VADD, '0x584'],
  ['code object', ARGS, '0xcf0'],
] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe finds nothing on the panels of a ${kind}, ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto('./');
      await drop(page, file);
      await goTo(page, record);
      for (const key of kind === 'cubin' ? PANELS : [...PANELS, 'metadata']) {
        await view(page, key);
        // What is around the panels is the same for all.
        await axe(page, key, ...(key === 'summary' ? [] : ['kernel-scope-panel']));
      }
    });
  }
}

/** As a person would see it who has asked for less motion: nothing moves for longer than an instant. */
test('where less motion is asked for, nothing moves', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('./');
  await drop(page, VADD);
  await goTo(page, '0x584');
  await expect(page.locator('kernel-scope-diagram .box').first()).toBeVisible();
  const moving = await page.evaluate(() => {
    const all: string[] = [];
    const look = (root: ShadowRoot | Document) => {
      for (const element of root.querySelectorAll('*')) {
        const { transitionDuration, animationName } = getComputedStyle(element);
        if (!/^0s(, 0s)*$/.test(transitionDuration) || animationName !== 'none') all.push(element.localName);
        if (element.shadowRoot) look(element.shadowRoot);
      }
    };
    look(document);
    return all;
  });
  expect(moving).toEqual([]);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing before a file is open, nor when one cannot be, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.goto('./');
    await expect(page.getByRole('heading', { name: 'Open a GPU binary' })).toBeVisible();
    await axe(page, 'start');
    await drop(page, VADD);
    await expect(page.locator('kernel-scope-identity')).toContainText('sm_90a');
    await page.evaluate(() =>
      document.querySelector('kernel-scope')?.setAttribute('src', 'https://example.com/other.cubin'),
    );
    await expect(page.getByText('https://example.com').first()).toBeVisible();
    await axe(page, 'refused');
  });
}

test('axe finds nothing in what a file that is broken or of no format shows', async ({ page }) => {
  await page.goto('./');
  await drop(page, 'package.json');
  await axe(page, 'no format');
  await page
    .getByRole('button', { name: /finding/ })
    .first()
    .click();
  await axe(page, 'findings');
});

test('axe finds nothing in menus, in the list of fields, or on a narrow screen', async ({ page }) => {
  await page.goto('./');
  await drop(page, ARGS);
  await goTo(page, '0xcf0');
  await show(page, 'Sections');
  for (const within of [
    ['kernel-scope-identity'],
    ['kernel-scope-panel', 'kernel-scope-table'],
    ['kernel-scope-dock', 'kernel-scope-hex'],
    ['kernel-scope-dock', 'kernel-scope-diagram'],
  ]) {
    const menus = page.locator(`${within.at(-1)} kernel-scope-menu:visible`);
    for (let i = 0; i < (await menus.count()); i++) {
      await menus.nth(i).getByRole('button').first().click();
      await axe(page, `menu ${i} of ${within}`, ...within);
      await page.keyboard.press('Escape');
    }
  }
  await page.locator('kernel-scope-diagram').getByRole('button', { name: 'How the record is shown' }).click();
  await page.getByRole('menuitemradio', { name: 'List' }).click();
  await axe(page, 'list', 'kernel-scope-dock');

  for (const colorScheme of ['light', 'dark'] as const) {
    await page.setViewportSize(NARROW);
    await page.emulateMedia({ colorScheme });
    for (const tab of ['Bytes', 'Fields']) {
      await page.getByRole('button', { name: tab, exact: true }).click();
      await axe(page, `${tab}, narrow, ${colorScheme}`, 'kernel-scope-dock');
    }
  }
});

test('axe finds nothing where the system forces its colours', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('./');
  await drop(page, VADD);
  await goTo(page, '0x584');
  for (const key of ['summary', 'kernels/0', 'sections']) {
    await view(page, key);
    await axe(page, key, ...(key === 'summary' ? [] : ['kernel-scope-panel']));
  }
});

test('at a zoom of 400 % everything is there, and the page does not scroll in two directions', async ({ page }) => {
  // A window of 1280 × 1024 at that zoom.
  await page.setViewportSize({ width: 320, height: 256 });
  await page.goto('./');
  const fits = async () => {
    const wide = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      const layout = document.querySelector('kernel-scope')?.shadowRoot?.querySelector('.layout');
      return [scrollWidth - clientWidth, (layout?.scrollWidth ?? 0) - (layout?.clientWidth ?? 0)];
    });
    expect(wide).toEqual([0, 0]);
  };
  const open = page.getByRole('button', { name: /Open files/ }).first();
  await open.scrollIntoViewIfNeeded();
  await expect(open).toBeInViewport();
  await fits();
  await drop(page, VADD);
  for (const key of PANELS) {
    await view(page, key);
    await fits();
    // The panel is not squeezed to nothing by what is around it.
    const panel = page.locator('kernel-scope-panel');
    expect((await panel.boundingBox())?.height, key).toBeGreaterThanOrEqual(200);
    await panel.scrollIntoViewIfNeeded();
    await expect(panel).toBeInViewport({ ratio: 0.6 });
  }
  await page.getByRole('button', { name: 'Bytes', exact: true }).click();
  await fits();
  await expect(page.getByRole('grid', { name: 'Bytes' })).toBeInViewport();
  await page.getByRole('button', { name: 'Fields', exact: true }).click();
  await expect(page.locator('kernel-scope-diagram table')).toBeInViewport();
  await axe(page, 'zoomed');
});
