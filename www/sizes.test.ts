import { describe, expect, it } from 'vitest';
import type { Cell, Column, Window } from './protocol.ts';
import { holder, type SizeNode, sizeView } from './sizes.ts';

const KEYS = ['name', 'what', 'stored_size', 'size', 'role', 'is_share', 'same_as', 'row', 'depth', 'parent', 'next'];
const COLUMNS = KEYS.map((key): Column => ({ key, title: key, unit: 'text', is_shown: true }));

interface Made {
  name: string;
  stored: number;
  size?: number | null;
  within?: Made[];
}

/** Reads of the table that a tree is. */
function table(root: Made): (of: string, start: number, count: number) => Window {
  const rows: Cell[][] = [];
  const add = ({ name, stored, size = stored, within = [] }: Made, depth: number, parent: number | null): void => {
    const row = rows.length;
    rows.push([name, '', stored, size, '', false, null, row, depth, parent, 0]);
    for (const one of within) add(one, depth + 1, row);
    (rows[row] as Cell[])[10] = rows.length;
  };
  add(root, 0, null);
  return (of, start, count) => {
    const within = of.includes('/') ? Number(of.split('/')[1]) : null;
    const some = within === null ? rows : rows.filter((row) => row[9] === within);
    const none = { index: [], offset: [], size: [], target_offset: [], target_size: [] };
    return { ...none, matched: some.length, start, rows: some.slice(start, start + Math.min(count, 10_000)) };
  };
}

const FILE: Made = {
  name: 'file',
  stored: 1000,
  size: 4000,
  within: [
    {
      name: 'sm_90',
      stored: 600,
      size: 3000,
      within: [
        {
          name: 'a',
          stored: 400,
          size: 1000,
          within: [
            { name: 'k', stored: 300, size: 300 },
            { name: 'l', stored: 60, size: 700 },
          ],
        },
        { name: 'b', stored: 200, size: 2000 },
      ],
    },
    { name: 'rest', stored: 400, size: 1000 },
  ],
};

const names = (nodes: readonly SizeNode[]): string[] => nodes.map(({ name }) => name);
const count = (node: SizeNode): number => node.within.reduce((sum, inner) => sum + count(inner), node.within.length);

describe('sizeView', () => {
  it('has what is in each, the largest first', () => {
    const { node, above } = sizeView(table(FILE), COLUMNS, 0, 'stored', 100);
    expect(above).toEqual([]);
    expect(names(node.within)).toEqual(['sm_90', 'rest']);
    const [sm] = node.within;
    expect(names(sm?.within ?? [])).toEqual(['a', 'b']);
    // 400 bytes with parts of 300 and 60: 40 are padding.
    expect(sm?.within[0]?.within.map(({ name, value, role }) => [name, value, role])).toEqual([
      ['k', 300, ''],
      ['l', 60, ''],
      ['padding', 40, 'padding'],
    ]);
  });

  it('measures by what is unpacked', () => {
    const { node } = sizeView(table(FILE), COLUMNS, 0, 'unpacked', 100);
    expect(names(node.within[0]?.within ?? [])).toEqual(['b', 'a']);
    expect(node.value).toBe(4000);
  });

  it('knows where a row lies', () => {
    const { node, above } = sizeView(table(FILE), COLUMNS, 2, 'stored', 100);
    expect(node.name).toBe('a');
    expect(above.map(({ name }) => name)).toEqual(['file', 'sm_90']);
    // A row that there is no more is the whole file.
    expect(sizeView(table(FILE), COLUMNS, 999, 'stored', 100).node.name).toBe('file');
  });

  it('has so many rectangles at most, and sums up the others', () => {
    const many = (count: number, stored: number, depth: number): Made[] =>
      Array.from({ length: count }, (_, i) => ({
        name: `n${i}`,
        stored: stored / count,
        within: depth > 0 ? many(count, stored / count, depth - 1) : [],
      }));
    const tree = { name: 'file', stored: 1e6, within: many(100, 1e6, 1) };
    const { node } = sizeView(table(tree), COLUMNS, 0, 'stored', 300);
    expect(count(node)).toBeLessThanOrEqual(300);
    expect(node.within.at(-1)?.name).toBe('41 more');
    expect(node.within.at(-1)?.value).toBeCloseTo(41 * 1e4, 3);
    expect(node.within.reduce((sum, { value }) => sum + value, 0)).toBeCloseTo(1e6, 3);
  });

  it('tells the largest of many small ones', () => {
    const one = (i: number, stored: number) => ({ name: `n${i}`, stored });
    // 16,000 of 100 bytes but for ten of 200: 15,990 x 100 + 10 x 200 = 1,601,000 bytes, of which one has 1/16,010 or twice as much.
    const within = Array.from({ length: 16_000 }, (_, i) => one(i, i % 1600 === 7 ? 200 : 100));
    const { node } = sizeView(table({ name: 'file', stored: 1_601_000, within }), COLUMNS, 0, 'stored', 320);
    // With 49 others the ten are 59; 16,000 - 59 are left.
    expect(names(node.within).slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, i) => `n${7 + 1600 * i}`));
    expect(node.within.length).toBe(60);
    expect(node.within.at(-1)?.name).toBe('15,941 more');
    expect(node.within.at(-1)?.value).toBe(1_601_000 - 10 * 200 - 49 * 100);
    // What has no pixel is not told: of 100,000 each is 1/100,000.
    const tiny = Array.from({ length: 100_000 }, (_, i) => one(i, 10));
    const view = sizeView(table({ name: 'file', stored: 1e6, within: tiny }), COLUMNS, 0, 'stored', 320);
    expect(names(view.node.within)).toEqual(['100,000 more']);
  });

  it('takes what is not known, or nothing, as it is', () => {
    const { node } = sizeView(
      table({ name: 'file', stored: 0, size: null, within: [{ name: 'a', stored: 0 }] }),
      COLUMNS,
      0,
      'unpacked',
      9,
    );
    expect(node.unpacked).toBeNull();
    expect(node.value).toBe(0);
  });

  it('finds the innermost that has a row', () => {
    const { node } = sizeView(table(FILE), COLUMNS, 0, 'stored', 100);
    const all = [node, ...node.within, ...(node.within[0]?.within ?? [])];
    expect(all[holder(all, 3)]?.name).toBe('a');
    expect(all[holder(all, 6)]?.name).toBe('rest');
    expect(holder([], 0)).toBe(-1);
  });
});
