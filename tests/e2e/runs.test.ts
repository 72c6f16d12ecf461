// On which GPUs a file runs, and which kernels are missing there. partial.fatbin has code for sm_80, sm_90 and compute_90: of the template
// fill only sm_80 has the instance for double, and only_90 is not in sm_80 (partial.cu, cuobjdump).

import { axe, drop } from './page.ts';
import { expect, test } from './site.ts';

test.describe.configure({ timeout: 90_000 });

test('whether a fatbin runs on a GPU is said, and which of its kernels do not', async ({ page }) => {
  await page.goto('./');
  await drop(page, 'tests/fixtures/container/partial.fatbin');
  const gpus = page.locator('kernel-scope-gpus');
  await expect(gpus).toContainText('Compiled by the driver for sm_100, sm_103');
  await gpus.getByLabel('On the GPU').selectOption('sm_90');
  await expect(gpus.getByRole('status')).toContainText('yes: the code is for it, by machine code for sm_90');
  await gpus.getByRole('button', { name: '1 kernel does not run there' }).click();
  await expect.poll(() => new URL(page.url()).hash).toContain('sm_90');
  const grid = page.getByRole('grid', { name: 'Missing kernels' });
  await expect(grid.locator('.row').first()).toContainText('_Z4fillIdEvPT_S0_');
  await expect(grid.locator('.row').first()).toContainText('there is code for this GPU, and the kernel is not in it');
  await page.locator('kernel-scope-missing').getByLabel('On the GPU').selectOption('');
  await expect(grid.locator('.row')).toHaveCount(2);
  await axe(page);
});
