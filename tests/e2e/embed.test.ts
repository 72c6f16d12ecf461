// Two elements in a page that is not ours, with a style sheet that reaches for everything.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { numbers } from './page.ts';
import { expect, test } from './site.ts';

test('two elements open their files with one worker', async ({ page }) => {
  await page.goto('./examples/embed.html');
  const [cubin, object] = [page.locator('kernel-scope').nth(0), page.locator('kernel-scope').nth(1)];
  expect(await numbers(cubin)).toMatchObject({ Registers: '12', Parameters: '28' });
  await expect(object.getByRole('grid', { name: 'Sections' }).getByRole('row', { name: '.rodata' })).toBeVisible();
  expect(page.workers()).toHaveLength(1);
});

test('the style of the page around does not reach inside', async ({ page }) => {
  await page.goto('./examples/embed.html');
  const title = page.locator('kernel-scope').first().locator('kernel-scope-identity h1');
  await expect(title).toHaveText('vadd.sm_90a.13.0.cubin');
  // The title is drawn anew while the file is checked, so that each property is asked for until it is there.
  await expect(title).toHaveCSS('text-transform', 'none');
  await expect(title).toHaveCSS('border-top-width', '0px');
  await expect(title).toHaveCSS('color', 'rgb(28, 27, 25)');
  // 0.12em outside; the element's own titles are set a little closer than usual.
  await expect(title).not.toHaveCSS('letter-spacing', /^[1-9.]/);
});

test('the module can be imported where there is no DOM', async () => {
  const { KernelScope } = await import(pathToFileURL(resolve('dist/kernel-scope.js')).href);
  expect(KernelScope).toBe(undefined);
});

test('a file that is not there is said in its place', async ({ page }) => {
  await page.goto('./examples/embed.html');
  const first = page.locator('kernel-scope').first();
  await expect(first.locator('kernel-scope-identity h1')).toBeVisible();
  await page.evaluate(() => {
    const other = document.createElement('kernel-scope');
    other.setAttribute('src', 'http://[nowhere');
    document.body.append(other);
  });
  const other = page.locator('kernel-scope').nth(2);
  await expect(other.getByText('could not be opened')).toBeVisible();
  await expect(other.getByRole('alert')).toContainText('is no address of a file');
  await expect(other.getByText('Try one of these')).toHaveCount(0);
});
