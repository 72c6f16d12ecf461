// A core dump: what failed, where, and what the thread had. What is expected is what make_coredump.py put in.

import { axe, drop, show } from './page.ts';
import { expect, test } from './site.ts';

const DUMP = 'tests/fixtures/coredump/synthetic.cudacore';

test.describe.configure({ timeout: 90_000 });

test('a core dump says what failed, and leads to the thread and to the code', async ({ page }) => {
  await page.goto('./');
  await drop(page, DUMP);
  const exceptions = page.getByRole('table', { name: 'Exceptions' });
  await expect(exceptions.locator('tbody tr')).toHaveCount(1);
  await expect(exceptions).toContainText('WARP_ILLEGAL_ADDRESS');
  await expect(exceptions).toContainText('inline.cu');
  await expect(page.locator('kernel-scope-identity .facts')).toContainText('no dump of a driver was at hand');
  await axe(page);

  // The exception leads to its first thread, and that to its registers.
  await exceptions.getByRole('button').click();
  const grid = page.getByRole('grid', { name: 'Exceptions' });
  await grid.getByRole('button', { name: 'WARP_ILLEGAL_ADDRESS' }).click();
  await expect(page.locator('kernel-scope-coredump')).toContainText('Thread (32, 0, 0) of block (2, 0, 0)');
  const parts = page.getByRole('grid', { name: 'What there is of it' });
  await expect(parts).toContainText('uniform predicates');
  await parts.getByText('registers', { exact: true }).first().click();
  await expect(page.locator('kernel-scope-diagram')).toContainText('R23');
  await axe(page);

  // The code is in the cubin of the dump, at the address that it was loaded at.
  await show(page, 'Call stacks');
  const frames = page.getByRole('grid', { name: 'Call stacks' });
  await frames.getByRole('button', { name: 'second' }).click();
  await expect(page.locator('kernel-scope-identity h1')).toContainText('relfimg');
  await expect.poll(() => new URL(page.url()).hash).toMatch(/at=0x[0-9a-f]+&select=16/);
});
