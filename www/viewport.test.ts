import { expect, test } from 'vitest';
import { lastTop, reveal, scrollHeight, scrollTopOf, topOf, visible } from './viewport.ts';

const list = { rows: 1000, rowHeight: 20, height: 200 };
/** A 2 GB file in rows of 16 bytes. */
const huge = { rows: 2 ** 31 / 16, rowHeight: 21, height: 300 };

test('only visible rows are drawn, partly visible ones included', () => {
  expect(visible(0, list)).toEqual({ first: 0, count: 10, shift: 0 });
  expect(visible(3.5, list)).toEqual({ first: 3, count: 11, shift: 10 });
  expect(visible(99_999, list)).toEqual({ first: 990, count: 10, shift: 0 });
  expect(visible(0, { ...list, rows: 3 })).toEqual({ first: 0, count: 3, shift: 0 });
  expect(visible(0, { ...list, rows: 0 })).toEqual({ first: 0, count: 0, shift: 0 });
});

test('a short list scrolls pixel by pixel', () => {
  expect(scrollHeight(list)).toBe(20_000);
  expect(topOf(130, list)).toBeCloseTo(6.5);
  expect(scrollTopOf(6.5, list)).toBeCloseTo(130);
});

test('a list taller than a browser can be is scaled, and its ends are reached', () => {
  expect(scrollHeight(huge)).toBeLessThan(33_000_000);
  const end = scrollHeight(huge) - huge.height;
  expect(topOf(end, huge)).toBe(lastTop(huge));
  expect(visible(topOf(end, huge), huge).first + visible(topOf(end, huge), huge).count).toBe(huge.rows);
  expect(topOf(0, huge)).toBe(0);
  for (const row of [0, 1, 12_345_678, huge.rows / 2]) {
    // The scrollbar stands where the row is, to within what a pixel of it is worth.
    expect(Math.abs(topOf(scrollTopOf(row, huge), huge) - row)).toBeLessThan(0.001);
  }
});

test('a row comes into view by the shortest way', () => {
  expect(reveal(5, 3, list)).toBe(3);
  expect(reveal(2, 3, list)).toBe(2);
  expect(reveal(13, 3, list)).toBe(4);
  expect(reveal(999, 0, list)).toBe(990);
  expect(reveal(0, 50, list)).toBe(0);
});
