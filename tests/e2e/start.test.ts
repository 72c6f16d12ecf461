import { expect, test } from './site.ts';

test('the page starts the module in its worker', async ({ page }) => {
  await page.goto('./');
  await expect(page.getByRole('heading')).toHaveText(/^Kernelscope \d+\.\d+\.\d+$/);
});
