// Constant bank 0 of a kernel, and the image as a loader leaves it at an address. Parameters of vadd.sm_90a begin at 0x210 (cuobjdump:
// EIATTR_PARAM_CBANK). The first relocation of code of fnptr.sm_86 is R_CUDA_ABS32_HI_32 of ops, which is at 0x1100 of the image: at
// 0x7f0000000000 it writes the high half of 0x7f0000001100, 0x00007f00, to the 4 bytes 4 past 0x460.

import type { Page } from '@playwright/test';
import { drop, show, VADD } from './page.ts';
import { expect, test } from './site.ts';

const FNPTR = 'tests/fixtures/nvidia/cubin/fnptr.sm_86.13.5.nvcc-G.cubin';
const panel = (page: Page) => page.locator('kernel-scope-image');
const bank = (page: Page) => page.locator('kernel-scope-bank');

test('any operand of constant bank 0 is answered while it is typed', async ({ page }) => {
  await page.goto('./');
  await drop(page, VADD);
  await show(page, 'Kernels');
  const field = bank(page).getByRole('textbox', { name: 'Offset in constant bank 0' });
  const answer = bank(page).locator('output');
  await field.fill('0x210');
  await expect(answer).toContainText('parameter 0');
  await expect(answer).toContainText('EIATTR_KPARAM_INFO');
  await field.fill('c[0x0][0x2a]');
  await expect(answer).toContainText('stack_ptr + 0x2');
  await expect(answer).toContainText('measured');
  await field.fill('0x1860');
  await expect(answer).toContainText('reported');
  await field.fill('c[0x0][0xfff0]');
  await expect(answer).toContainText('nobody says');
  await field.fill('nowhere');
  await expect(answer).toContainText('An offset such as');

  // The table has the same, and leads to the bytes of the bank's section.
  const table = bank(page).getByRole('grid', { name: 'Constant bank 0' });
  await bank(page).getByRole('searchbox').fill('name:"parameter 1"');
  const row = table.getByRole('row', { name: /parameter 1/ });
  await expect(row).toContainText('0x218');
  await row.click();
  const dock = page.locator('kernel-scope-dock kernel-scope-hex');
  await expect(dock.locator('.head')).toContainText('.nv.constant0.');
  await expect(dock.locator('.head')).toContainText('+0x218');
  await expect(dock.locator('.foot .path')).toContainText('parameter 1');

  // Pointing at the strip says the same without changing what is typed.
  await field.fill('0x210');
  const box = await bank(page).locator('.strip').boundingBox();
  await page.mouse.move((box?.x ?? 0) + 1, (box?.y ?? 0) + 8);
  await expect(answer).toContainText('ntid.x');
  await expect(field).toHaveValue('0x210');
});

test('the image has the bytes of a loader at an address, and patches lead both ways', async ({ page }) => {
  await page.goto('./');
  await drop(page, FNPTR);
  await show(page, 'Image');
  const field = panel(page).getByRole('textbox', { name: 'Address that the image is loaded at' });
  const line = (at: string) =>
    panel(page)
      .locator('pre')
      .evaluate(
        (pre, at) =>
          (pre.textContent ?? '')
            .split('\n')
            .find((line) => line.startsWith(at))
            ?.slice(8),
        at,
      );
  const goTo = panel(page).getByRole('textbox', { name: 'Go to offset' });
  await goTo.fill('0x460');
  await goTo.press('Enter');
  const bytes = (row: string | undefined) => row?.slice(12, 23);
  await expect.poll(async () => bytes(await line('000460'))).toBe('00 00 00 00');
  await field.fill('0x7f0000000000');
  await expect.poll(async () => bytes(await line('000460'))).toBe('00 7f 00 00');
  await expect(panel(page).locator('.boxes .changed').first()).toBeVisible();

  // Of a patch to its bytes, and from there to its relocation.
  await panel(page).getByRole('button', { name: 'patches' }).click();
  const table = panel(page).getByRole('grid', { name: 'Patches' });
  await table
    .getByRole('row', { name: /R_CUDA_ABS32_HI_32/ })
    .first()
    .getByRole('button', { name: '0x464' })
    .click();
  await expect(panel(page).locator('kernel-scope-hex .head')).toContainText('image 0x464');
  await expect(panel(page).locator('.base')).toContainText(
    'R_CUDA_ABS32_HI_32 of ops: 00000000 → 007f0000, by the loader',
  );
  await panel(page).getByRole('button', { name: 'its relocation' }).click();
  await expect(page.getByRole('grid', { name: 'Relocations' })).toBeVisible();
  await expect(page.getByRole('grid', { name: 'Relocations' }).locator('.row.here')).toContainText(
    'R_CUDA_ABS32_HI_32',
  );

  // The address stays; one that is none is said to be none.
  await show(page, 'Image');
  await expect(field).toHaveValue('0x7f0000000000');
  await field.fill('0x12345678123456789');
  await expect(panel(page).locator('.base')).toContainText('16 hexadecimal digits');
  await field.fill('');
  await expect.poll(async () => bytes(await line('000460'))).toBe('00 00 00 00');
});
