import { expect, test } from 'vitest';
import { DOCKING, isDocking, within } from './docking.ts';

test('only what is one is taken for a docking', () => {
  expect(isDocking(DOCKING)).toBe(true);
  expect(isDocking({ ...DOCKING, side: 'right', width: 500 })).toBe(true);
  for (const wrong of [null, 1, {}, { ...DOCKING, side: 'left' }, { ...DOCKING, height: -1 }, { ...DOCKING, split: 1 }])
    expect(isDocking(wrong)).toBe(false);
});

test('the rest of the page keeps some room', () => {
  expect(within(500, 800)).toBe(500);
  expect(within(700, 800)).toBe(600);
  expect(within(10, 800)).toBe(120);
  expect(within(500, 100)).toBe(120);
});
