// The texts are those of tests/fixtures/nvidia/cubin/linked.sm_90.13.5.nvlink-lineinfo.cubin in short: `nvdisasm -g` says which
// lines of PTX its functions come from.

import { expect, test } from 'vitest';
import { type Asked, codeOf, definedIn, textOf } from './origin.ts';

test('a line of PTX says which function it begins', () => {
  expect(definedIn('.visible .entry first(')).toBe('first');
  expect(definedIn('.func  (.param .b32 func_retval0) _Z3farf(')).toBe('_Z3farf');
  expect(definedIn('.visible .func _Z1fv()')).toBe('_Z1fv');
  expect(definedIn('\t.weak .func (.param .align 8 .b8 func_retval0[16]) $k$f(')).toBe('$k$f');
  expect(definedIn('.extern .func  (.param .b32 func_retval0) vprintf')).toBe(null);
  expect(definedIn('// .entry first(')).toBe(null);
  expect(definedIn('.param .b32 _Z3farf_param_0')).toBe(null);
  expect(definedIn('.file 1 "/x/entry.cu"')).toBe(null);
});

const TABLES: Record<string, { keys: string[]; rows: (string | number | null)[][] }> = {
  kernels: { keys: ['name'], rows: [['far'], ['second'], ['third']] },
  'text/0': {
    keys: ['line', 'text'],
    rows: ['.version 9.5', '.func far(', 'fma;', '.entry second(', 'mul;', 'call far, ();', 'ret;'].map((text, i) => [
      i + 1,
      text,
    ]),
  },
  'text/1': {
    keys: ['line', 'text'],
    rows: ['.extern .func far', '.entry third(', 'ret;'].map((text, i) => [i + 1, text]),
  },
  // Line 16 has the digit of line 6.
  'code/0': { keys: ['offset', 'ptx_line'], rows: [[0, 3]] },
  'code/1': {
    keys: ['offset', 'ptx_line'],
    rows: [
      [0, null],
      [16, 16],
      [32, 5],
      [48, 6],
      [64, 6],
    ],
  },
  'code/2': { keys: ['offset', 'ptx_line'], rows: [[0, 3]] },
};

/** Answers as the worker does, of the tables that are given; a filter leaves the rows that have its last word. */
function asked(keys: string[]): Asked {
  const left = new Map<string, number[]>();
  const rowsOf = (table: string, index: number[]) => ({ index, rows: index.map((row) => TABLES[table]?.rows[row]) });
  const answers: Record<string, (...args: never[]) => unknown> = {
    columns: (table: string) => TABLES[table]?.keys.map((key) => ({ key })),
    kernel: (kernel: number) => ({ name: TABLES.kernels?.rows[kernel]?.[0] }),
    query: (table: string, { filter }: { filter: string }) => {
      const word = filter.replaceAll('"', '').replace(/^\w+:/, '');
      const index = TABLES[table]?.rows.flatMap((row, i) =>
        row.some((cell) => String(cell).includes(word)) ? [i] : [],
      );
      left.set(table, index ?? []);
      return index?.length;
    },
    rows: (table: string, start: number, count: number) =>
      rowsOf(table, (left.get(table) ?? []).slice(start, start + count)),
    list: (table: string, start: number, count: number) =>
      rowsOf(table, [...(TABLES[table]?.rows.keys() ?? [])].slice(start, start + count)),
  };
  return {
    countOf: (key: string) => (key === 'kernels' ? 3 : keys.length),
    call: async (call: string, args: never[]) => answers[call]?.(...args),
  } as unknown as Asked;
}

test('a kernel has the text that defines it', async () => {
  expect(await textOf(asked([]), 1)).toBe(null);
  expect(await textOf(asked(['text/0']), 2)).toBe(0);
  const two = asked(['text/0', 'text/1']);
  expect(await textOf(two, 1)).toBe(0);
  expect(await textOf(two, 2)).toBe(1);
  // The other text only declares it.
  expect(await textOf(two, 0)).toBe(0);
});

test('a line leads to the first instruction that comes from it', async () => {
  const two = asked(['text/0', 'text/1']);
  expect(await codeOf(two, 0, 5)).toEqual({ kernel: 1, row: 3 });
  expect(await codeOf(two, 1, 2)).toEqual({ kernel: 2, row: 0 });
  expect(await codeOf(two, 0, 2)).toEqual({ kernel: 0, row: 0 });
  // Line 7 is in no line table.
  expect(await codeOf(two, 0, 6)).toBe(null);
});

test('what was inlined is found in another function, where there is one text', async () => {
  const rows = TABLES['code/0']?.rows ?? [];
  const kept = rows.splice(0);
  TABLES['code/1']?.rows.push([80, 3]);
  expect(await codeOf(asked(['text/0']), 0, 2)).toEqual({ kernel: 1, row: 5 });
  TABLES['code/1']?.rows.pop();
  rows.push(...kept);
});
