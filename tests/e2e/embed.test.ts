import { expect, test } from './site.ts';

test('another page holds the element by one script', async ({ page }) => {
  await page.goto('examples/embed.html');
  await expect(page.locator('kernel-scope').getByRole('heading')).toHaveText(/^Kernelscope \d/);
});
