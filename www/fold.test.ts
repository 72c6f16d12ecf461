import { expect, test } from 'vitest';
import { foldsOf, gathered, indexIn, rowAt, unfolded } from './fold.ts';
import type { Window } from './protocol.ts';

// 0 ├ 1 ┬ 2
//   │   └ 3 ─ 4
//   └ 5 ─ 6
// 7
const TREE = [
  [0, 7],
  [1, 5],
  [2, 3],
  [2, 5],
  [3, 5],
  [1, 7],
  [2, 7],
  [0, 8],
] as const;

test('what is below a folded row is left out, also where more is folded in it', () => {
  expect(unfolded(new Map(), 8)).toEqual([[0, 8]]);
  expect(unfolded(new Map([[1, 5]]), 8)).toEqual([
    [0, 2],
    [5, 8],
  ]);
  const both = new Map([
    [3, 5],
    [1, 5],
    [5, 7],
  ]);
  expect(unfolded(both, 8)).toEqual([
    [0, 2],
    [5, 6],
    [7, 8],
  ]);
  expect(unfolded(new Map([[0, 8]]), 8)).toEqual([[0, 1]]);
  // A row that says it is before itself folds nothing.
  expect(unfolded(new Map([[2, 0]]), 4)).toEqual([
    [0, 3],
    [3, 4],
  ]);
});

test('rows that are left are read as if there were no others', () => {
  const asked: [number, number][] = [];
  const read = (start: number, count: number): Window => {
    asked.push([start, count]);
    const index = Array.from({ length: count }, (_, i) => start + i);
    const numbers = index.map((row) => row * 16);
    return {
      matched: 8,
      start,
      index,
      offset: numbers,
      size: numbers,
      target_offset: numbers,
      target_size: numbers,
      rows: index.map((row) => [row]),
    };
  };
  const left = unfolded(new Map([[1, 5]]), 8);
  const window = gathered(read, left)(1, 3);
  expect(asked).toEqual([
    [1, 1],
    [5, 2],
  ]);
  expect(window).toMatchObject({ matched: 5, start: 1, index: [1, 5, 6], rows: [[1], [5], [6]], offset: [16, 80, 96] });
  expect([0, 1, 3, 5, 7, 8].map((row) => indexIn(left, row))).toEqual([0, 1, undefined, 2, 4, undefined]);
});

test('everything is folded but for some levels', () => {
  const read = (start: number, count: number) => TREE.slice(start, start + count);
  expect([...foldsOf(read, 0)]).toEqual([[0, 7]]);
  expect([...foldsOf(read, 1)]).toEqual([
    [1, 5],
    [5, 7],
  ]);
  expect([...foldsOf(read, 2)]).toEqual([[3, 5]]);
  expect([...foldsOf(read, 3)]).toEqual([]);
});

test('a byte leads to the innermost row that has it', () => {
  const spans = [
    [0, 100],
    [10, 40],
    [12, 8],
    [20, 30],
    [60, 40],
    [70, 10],
    [200, 4],
  ];
  const row = (at: number) => ({ offset: spans[at]?.[0] ?? 0, size: spans[at]?.[1] ?? 0 });
  const found = [0, 11, 12, 25, 55, 65, 75, 90, 150, 203, 204].map((at) => rowAt(row, spans.length, at));
  expect(found).toEqual([0, 1, 2, 3, 0, 4, 5, 4, null, 6, null]);
  expect(rowAt(row, 0, 5)).toBeNull();
});

test('folds are those of a part of the tree, if that is what is asked for', () => {
  const read = (start: number, count: number) =>
    TREE.slice(start, start + count).map(([depth, next]) => [depth, next] as const);
  expect([...foldsOf(read, 2, 2, 5)]).toEqual([[3, 5]]);
  expect([...foldsOf(read, 1, 2, 5)]).toEqual([[3, 5]]);
  expect([...foldsOf(read, 1, 5, 7)]).toEqual([[5, 7]]);
});
