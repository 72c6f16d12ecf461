// What the worker answers beyond what a panel shows at once. Expected values are those of facts.json: .text of vadd has 512 bytes at
// 1664 of the file, its constants 556 at 2176.

import type { Page } from '@playwright/test';
import type { Call, Calls } from '../../www/protocol.ts';
import { ARGS, drop, VADD } from './page.ts';
import { expect, test } from './site.ts';

/** Asks the worker something of the file that is open. */
async function ask<C extends Call>(page: Page, call: C, args: Parameters<Calls[C]>): Promise<ReturnType<Calls[C]>> {
  return page.evaluate(
    async ([call, args]) => {
      const scope = document.querySelector('kernel-scope') as unknown as {
        session: { call(call: string, args: unknown): Promise<never> };
      };
      return scope.session.call(call, args);
    },
    [call, args] as const,
  );
}

async function open(page: Page, path: string): Promise<void> {
  await page.goto('./');
  await drop(page, path);
  await expect(page.locator('kernel-scope-identity')).toContainText('findings');
}

test('expressions and words lead to bytes', async ({ page }) => {
  await open(page, VADD);
  const code = '.text._Z4vaddPKfS0_Pfi';
  expect(await ask(page, 'resolve', [code])).toEqual({ span: { offset: 1664, size: 512 }, name: `section ${code}` });
  expect((await ask(page, 'resolve', [`${code}+0x20`])).span).toEqual({ offset: 1696, size: 1 });
  expect((await ask(page, 'resolve', ['image:0x200'])).span).toEqual({ offset: 2176, size: 1 });
  await expect(ask(page, 'resolve', ['nothing'])).rejects.toThrow('no section, kernel or symbol is called "nothing"');
  const found = await ask(page, 'suggest', ['vadd', 2]);
  expect(found.map(({ kind, view, span }) => [kind, view, span?.offset])).toEqual([
    ['kernel', 'kernels/0', 1664],
    ['section', 'sections', 1664],
  ]);
});

test('a search goes both ways, and a row knows what it is about', async ({ page }) => {
  await open(page, VADD);
  // The code's name is three times in the section names, and once more as a whole.
  const first = await ask(page, 'search', ['_Z4vadd', false, 0, false]);
  const last = await ask(page, 'search', ['_Z4vadd', false, 3976, true]);
  expect(Number(first?.offset)).toBeLessThan(Number(last?.offset));
  expect(await ask(page, 'search', ['_Z4vadd', false, Number(first?.offset), true])).toBeNull();
  expect(await ask(page, 'search', ['_Z4vadd', false, Number(first?.offset) + 1, true])).toEqual(first);
  expect(await ask(page, 'search', ['7f ? 4c, 0x46', true, 3976, true])).toEqual({ offset: 0, size: 4 });
  const rows = await ask(page, 'rows', ['sections', 12, 2]);
  expect([rows.target_offset, rows.target_size]).toEqual([
    [1664, -1],
    [512, 0],
  ]);
});

test('an image has a map, and what differs of the two is found', async ({ page }) => {
  await open(page, VADD);
  const map = await page.evaluate(async () => {
    const scope = document.querySelector('kernel-scope') as unknown as {
      session: { call(call: 'imageMap', args: [boolean]): Promise<ReturnType<Calls['imageMap']>> };
    };
    const map = await scope.session.call('imageMap', [false]);
    if (!map) return [];
    const { roles, leaves } = map;
    return [...leaves.offset].map((offset, i) => [offset, leaves.size[i], roles[leaves.role[i] ?? 0]]);
  });
  expect(map).toEqual([
    [0, 512, 'code'],
    [512, 556, 'data'],
    [1068, 8192 - 1068, 'padding'],
  ]);
  expect(await ask(page, 'imageLocate', [false, 520])).toEqual({
    name: '.nv.constant0._Z4vaddPKfS0_Pfi',
    span: { offset: 512, size: 556 },
    file_offset: 2184,
  });

  // By the sections the image begins at 0xc00, a multiple of 256 before .rodata at 0xcc0; by the segments names lie there up to
  // 0xc8b, and .dynamic has 112 bytes at 0x3440.
  await open(page, ARGS);
  const { runs, isComplete } = await ask(page, 'differences', [100]);
  expect(isComplete).toBe(true);
  const inNames = runs.filter(({ offset, size }) => offset + size <= 0xc8b - 0xc00);
  const inDynamic = runs.filter(({ offset, size }) => offset >= 0x3440 - 0xc00 && offset + size <= 0x34b0 - 0xc00);
  expect(inNames.length).toBeGreaterThan(0);
  expect(inDynamic.length).toBeGreaterThan(0);
  expect(inNames.length + inDynamic.length).toBe(runs.length);
});
