// What the treemap shows of the table `size`: a row, what is in it, and so on, as far as rectangles can be told apart. Pure.

import type { Cell, Column, Window } from './protocol.ts';

/** By what rectangles are measured. */
export type Measure = 'stored' | 'unpacked';

/** A row of the table. */
export interface SizeRow {
  /** Its index in the table; -1 of what is not told one by one. */
  row: number;
  name: string;
  /** What it is: a kind of code, a format, a part. */
  what: string;
  /** What its bytes are for; empty of what has bytes of all kinds. */
  role: string;
  stored: number;
  /** Unpacked; null where that is not known yet. */
  unpacked: number | null;
  /** Whether what is stored of it is its share of what is packed together. */
  isShare: boolean;
  sameAs: string;
  /** The row behind all that is in it. */
  next: number;
}

export interface SizeNode extends SizeRow {
  value: number;
  within: SizeNode[];
}

/** A row with what is in it, and the rows that it lies in, from the whole file on. */
export interface SizeView {
  node: SizeNode;
  above: SizeRow[];
}

type List = (table: string, start: number, count: number) => Window;

/** Rows that one is divided into: the others are one rectangle. */
const DIVIDED = 60;
/** The least part of the whole that is a rectangle of its own, some pixels of a map; and that is divided further. */
const LEAST = 1 / 40_000;
const DIVISIBLE = 1 / 150;
/** How many levels are shown in each other. */
const LEVELS = 3;
/** Rows that are in one, as far as they are looked at. */
const READ = 20_000;

/** What is to be shown of row `of`, in `most` rectangles at most. */
export function sizeView(list: List, columns: readonly Column[], of: number, measure: Measure, most: number): SizeView {
  const at = new Map(columns.map(({ key }, i) => [key, i]));
  const rows = (table: string): SizeRow[] => {
    const all: SizeRow[] = [];
    // So many at once are not handed out.
    while (all.length < READ) {
      const { rows: some } = list(table, all.length, READ - all.length);
      if (some.length === 0) break;
      for (const cells of some) all.push(sizeRow((key) => cells[at.get(key) ?? -1] ?? null));
    }
    return all;
  };
  const measured = ({ stored, unpacked }: SizeRow) => (measure === 'stored' ? stored : (unpacked ?? stored));
  const one = (row: number) => list('size', row, 1).rows[0];
  const cells = one(of) ?? one(0) ?? [];
  const top = node(
    sizeRow((key) => cells[at.get(key) ?? -1] ?? null),
    measured,
  );
  const above: SizeRow[] = [];
  for (let up = cells[at.get('parent') ?? -1] ?? null; up !== null; ) {
    const around = one(Number(up)) ?? [];
    above.unshift(sizeRow((key) => around[at.get(key) ?? -1] ?? null));
    up = around[at.get('parent') ?? -1] ?? null;
  }
  // The largest is divided next, so that what there is room for is told of what matters most.
  let left = most;
  const waiting: [SizeNode, number][] = [[top, 0]];
  while (waiting.length > 0 && left > 1) {
    waiting.sort(([a], [b]) => a.value - b.value);
    const [next, level] = waiting.pop() as [SizeNode, number];
    if (next.next <= next.row + 1 || next.row < 0) continue;
    if (level > 0 && next.value < top.value * DIVISIBLE) continue;
    next.within = divided(
      next,
      rows(`size/${next.row}`),
      list(`size/${next.row}`, 0, 0).matched,
      measured,
      top.value * LEAST,
      Math.min(DIVIDED, left),
    );
    left -= next.within.length;
    if (level + 1 < LEVELS) waiting.push(...next.within.map((inner): [SizeNode, number] => [inner, level + 1]));
  }
  return { node: top, above };
}

function divided(
  of: SizeNode,
  rows: readonly SizeRow[],
  all: number,
  measured: (row: SizeRow) => number,
  least: number,
  most: number,
): SizeNode[] {
  const nodes = rows.map((row) => node(row, measured)).sort((a, b) => b.value - a.value);
  const many = nodes.filter(({ value }) => value >= least).length;
  // One that would stand for one other is that one.
  const kept = nodes.slice(0, all <= most && all - many <= 1 ? all : Math.min(many, most - 1));
  const told = kept.reduce((sum, { value }) => sum + value, 0);
  const rest = of.value - told;
  const count = all - kept.length;
  if (rest <= 0) return kept;
  const sum = (key: 'stored' | 'unpacked') =>
    Math.max(0, (of[key] ?? 0) - kept.reduce((sum, row) => sum + (row[key] ?? 0), 0));
  const [stored, unpacked] = [sum('stored'), of.unpacked === null ? null : sum('unpacked')];
  const name = count > 0 ? `${count.toLocaleString('en')} more` : 'padding';
  const role = count > 0 ? '' : 'padding';
  const other = { row: -1, name, what: '', role, stored, unpacked, isShare: of.isShare, sameAs: '', next: 0 };
  return [...kept, { ...other, value: rest, within: [] }];
}

function node(row: SizeRow, measured: (row: SizeRow) => number): SizeNode {
  return { ...row, value: measured(row), within: [] };
}

function sizeRow(cell: (key: string) => Cell): SizeRow {
  const size = cell('size');
  return {
    row: Number(cell('row') ?? 0),
    name: String(cell('name') ?? ''),
    what: String(cell('what') ?? ''),
    role: String(cell('role') ?? ''),
    stored: Number(cell('stored_size') ?? 0),
    unpacked: size === null ? null : Number(size),
    isShare: cell('is_share') === true,
    sameAs: String(cell('same_as') ?? ''),
    next: Number(cell('next') ?? 0),
  };
}

/** The innermost of some rows, by their index, that the row at `index` is, or is in. */
export function holder(rows: readonly SizeRow[], index: number): number {
  let found = -1;
  rows.forEach(({ row, next }, i) => {
    if (row >= 0 && row <= index && index < next && row >= (rows[found]?.row ?? -1)) found = i;
  });
  return found;
}
