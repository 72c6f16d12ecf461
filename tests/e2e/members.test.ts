// What a file holds, each in a tab of its own. What is in vadd.3arch+ptx is what `cuobjdump -lelf -lptx` lists: cubins for sm_80, sm_90
// and sm_120, and PTX for sm_80; package.whl has an archive with a host object with a fatbin (make_containers.py).

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { drop, show } from './page.ts';
import { expect, test } from './site.ts';

const FATBIN = 'tests/fixtures/nvidia/fatbin/vadd.3arch+ptx.default.13.5.fatbin';
const title = (page: Page) => page.locator('kernel-scope-identity h1');
const facts = (page: Page) => page.locator('kernel-scope-identity .facts');
const crumbs = (page: Page) => page.getByRole('navigation', { name: 'What it lies in' });
const tabs = (page: Page) => page.getByRole('tablist', { name: 'Files that are open' }).getByRole('tab');

async function axe(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode(true)
    // Tabs of files stand beside what closes them.
    .exclude({ fromShadowDom: ['kernel-scope', 'kernel-scope-tabs'] })
    .analyze();
  expect(violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`))).toEqual([]);
}

test.describe.configure({ timeout: 90_000 });

test('a fatbin says its architectures, opens its members, and they lead back', async ({ page }) => {
  await page.goto('./');
  await drop(page, FATBIN);
  const archs = page.getByRole('table', { name: 'Architectures' });
  await expect(archs.locator('tbody td:first-child')).toHaveText(['sm_80', 'sm_90', 'sm_120', 'sm_80']);
  await page.getByRole('table', { name: 'Members' }).getByRole('button', { name: '2', exact: true }).click();
  await expect(title(page)).toHaveText('2');
  await expect(facts(page)).toContainText('sm_120');
  await expect(page.locator('kernel-scope-kernel')).toContainText('vadd');
  await expect(tabs(page)).toHaveText([/vadd/, /^2 of vadd/]);
  await expect.poll(() => new URL(page.url()).hash).toContain('member=2&view=summary');
  await axe(page);

  // Back in the table, at its row, and from there by keyboard to where it is open already.
  await crumbs(page).getByRole('button').click();
  const grid = page.getByRole('grid', { name: 'Members' });
  await expect(grid.locator('.row').nth(2).locator('.at')).toBeVisible();
  await grid.focus();
  await grid.press('Home');
  await grid.press('Enter');
  await expect(title(page)).toHaveText('2');
  await expect(tabs(page)).toHaveCount(2);

  // It does not need its file to be open, which is opened again for whoever goes there; dark and narrow as well.
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: /^Close vadd/ }).click();
  await expect(title(page)).toHaveText('2');
  await axe(page);
  await crumbs(page).getByRole('button').click();
  await expect(grid).toBeVisible();
});

test('an address names a member, in what is in a file', async ({ page }) => {
  await page.route('**/package.whl', (route) => route.fulfill({ path: 'tests/fixtures/container/package.whl' }));
  const path = 'package/libscale.a!/stripped.o!/0!/0';
  await page.goto(`./#src=package.whl&member=${path}&view=sections`);
  await expect(crumbs(page)).toHaveText(/package.whl\s*› package\/libscale.a\s*› stripped.o\s*› 0\s*›/);
  await expect(facts(page)).toContainText('sm_86');
  await expect(page.getByRole('grid', { name: 'Sections' })).toBeVisible();
  await page.waitForTimeout(1000);
  await crumbs(page).getByRole('button', { name: 'stripped.o' }).click();
  await expect(title(page)).toHaveText('stripped.o');
  await expect.poll(() => new URL(page.url()).hash).toContain('member=package/libscale.a!/stripped.o&');
  await page.goBack();
  await expect(facts(page)).toContainText('sm_86');
});

test('members of a compressed bundle open', async ({ page }) => {
  await page.goto('./');
  await drop(page, 'tests/fixtures/amdgpu/con/three.ccob-v3-zstd.hipfb');
  await show(page, 'Members');
  await page
    .getByRole('grid', { name: 'Members' })
    .locator('.row', { hasText: 'gfx' })
    .first()
    .getByRole('button')
    .first()
    .click();
  await expect(facts(page)).toContainText(/AMD code object · gfx/);
  await expect(page.getByRole('navigation').getByRole('treeitem', { name: 'Kernels' }).first()).toBeVisible();
});
