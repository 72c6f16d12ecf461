import { expect, test } from 'vitest';
import { firstRows, has, length, withoutRow, withRows } from './runs.ts';

test('rows are added in either order, and what touches is one run', () => {
  let runs = withRows([], 7, 5);
  expect(runs).toEqual([[5, 8]]);
  runs = withRows(runs, 1, 2);
  expect(runs).toEqual([
    [1, 3],
    [5, 8],
  ]);
  expect(withRows(runs, 3, 4)).toEqual([[1, 8]]);
  expect(length(runs)).toBe(5);
  expect([0, 1, 2, 3, 5, 7, 8].filter((row) => has(runs, row))).toEqual([1, 2, 5, 7]);
});

test('a row is taken out of the middle and off the ends', () => {
  const runs = withRows([], 1, 3);
  expect(withoutRow(runs, 2)).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(withoutRow(runs, 1)).toEqual([[2, 4]]);
  expect(withoutRow([[4, 5]], 4)).toEqual([]);
  expect(withoutRow(runs, 9)).toEqual(runs);
});

test('the first of many rows', () => {
  const runs = withRows(withRows([], 0, 4), 10, 14);
  expect(firstRows(runs, 7)).toEqual([
    [0, 5],
    [10, 12],
  ]);
  expect(firstRows(runs, 5)).toEqual([[0, 5]]);
});
