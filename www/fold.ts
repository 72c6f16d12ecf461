// Trees as tables: each row is followed by those below it, and says by `depth` how many it lies in and by `next` which row is behind those
// below it. Of what is folded, the rows below are left out. Pure.

import type { Window } from './protocol.ts';
import { length, type Run, type Runs } from './runs.ts';

/** By the row that is folded, the row behind those below it. */
export type Folds = ReadonlyMap<number, number>;

/** The rows that are left of `total`. */
export function unfolded(folds: Folds, total: number): Run[] {
  const left: Run[] = [];
  let next = 0;
  for (const [row, behind] of [...folds].sort((a, b) => a[0] - b[0])) {
    if (row < next || row >= total) continue; // itself folded away
    left.push([next, row + 1]);
    next = Math.max(row + 1, behind);
  }
  if (next < total) left.push([next, total]);
  return left;
}

/** `count` of the rows that are left, from the one at `start` on, as rows of the whole. */
function slice(left: Runs, start: number, count: number): Run[] {
  const found: Run[] = [];
  let before = 0;
  for (const [from, to] of left) {
    const first = Math.max(from, from + start - before);
    const end = Math.min(to, from + start + count - before);
    if (first < end) found.push([first, end]);
    before += to - from;
  }
  return found;
}

/** Where a row stands among those that are left; nothing where it is folded away. */
export function indexIn(left: Runs, row: number): number | undefined {
  let before = 0;
  for (const [from, to] of left) {
    if (row < from) return undefined;
    if (row < to) return before + row - from;
    before += to - from;
  }
  return undefined;
}

type Read = (start: number, count: number) => Window;

/** Reads of the rows that are left. */
export function gathered(read: Read, left: Runs): Read {
  const matched = length(left);
  return (start, count) => {
    const windows = slice(left, start, count).map(([from, to]) => read(from, to - from));
    return {
      matched,
      start,
      index: windows.flatMap((window) => window.index),
      offset: windows.flatMap((window) => window.offset),
      size: windows.flatMap((window) => window.size),
      target_offset: windows.flatMap((window) => window.target_offset),
      target_size: windows.flatMap((window) => window.target_size),
      rows: windows.flatMap((window) => window.rows),
    };
  };
}

/** Rows that are read at once, of which most may be folded away. */
const STEP = 8;

/** Folds all that lies in more than `depth` rows, of those before `end` from `start` on; `read` gives depth and `next` of rows, and none past the last. */
export function foldsOf(
  read: (start: number, count: number) => (readonly [number, number])[],
  depth: number,
  start = 0,
  end = Number.POSITIVE_INFINITY,
): Map<number, number> {
  const folds = new Map<number, number>();
  let row = start;
  for (;;) {
    const rows = row < end ? read(row, STEP) : [];
    if (rows.length === 0) return folds;
    const first = row;
    while (row - first < rows.length && row < end) {
      const [deep, next] = rows[row - first] ?? [0, 0];
      if (deep >= depth && next > row + 1) {
        folds.set(row, next);
        row = next;
      } else row += 1;
    }
  }
}

/** The last of `total` rows in the order of bytes that has the byte at `at`: the innermost of a tree. */
export function rowAt(row: (at: number) => { offset: number; size: number }, total: number, at: number): number | null {
  let [low, high] = [0, total];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row(middle).offset <= at) low = middle + 1;
    else high = middle;
  }
  // What begins before it may end before it: then those around have it.
  for (let found = low - 1; found >= 0 && found > low - 1 - NEAR; found--) {
    const { offset, size } = row(found);
    if (at < offset + size) return found;
  }
  return null;
}

/** Rows that are looked at before one that begins behind a byte. */
const NEAR = 4096;
