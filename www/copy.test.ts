import { expect, test } from 'vitest';
import { COPY_LIMIT, copyRows, type RowsForm } from './copy.ts';
import type { Cell, Column, Window } from './protocol.ts';
import type { Runs } from './runs.ts';

const column = (key: string, unit: Column['unit']): Column => ({ key, title: key.toUpperCase(), unit, is_shown: true });
const columns = [column('name', 'text'), column('at', 'hex'), column('size', 'size'), column('is', 'word')];

function copied(rows: Cell[][], runs: Runs, form: RowsForm, keys = columns.map(({ key }) => key)): string {
  const read = (start: number, count: number) => ({ rows: rows.slice(start, start + count) }) as Window;
  const steps = copyRows(read, columns, keys, runs, form);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const ROWS: Cell[][] = [
  ['.text', 0x40, 1234, true],
  ['a "b", c\nd', '18446744073709551615', 0, null],
  ['x|*y*_', null, 7, false],
];
const ALL: Runs = [[0, 3]];

test('text is aligned, and what would act is visible', () => {
  expect(copied(ROWS, ALL, 'text')).toBe(
    [
      `NAME${' '.repeat(28)}AT  SIZE  IS`,
      `.text${' '.repeat(25)}0x40  1234  yes`,
      'a "b", c\\u{a}d  0xffffffffffffffff     0',
      `x|*y*_${' '.repeat(33)}7  no`,
      '',
    ].join('\n'),
  );
});

test('CSV quotes what RFC 4180 says, and ends lines as it says', () => {
  expect(copied(ROWS, ALL, 'csv')).toBe(
    'name,at,size,is\r\n.text,0x40,1234,yes\r\n"a ""b"", c\nd",0xffffffffffffffff,0,\r\nx|*y*_,,7,no\r\n',
  );
});

test('JSON has the values that the core gave', () => {
  expect(JSON.parse(copied(ROWS, ALL, 'json'))).toEqual([
    { name: '.text', at: 64, size: 1234, is: true },
    { name: 'a "b", c\nd', at: '18446744073709551615', size: 0, is: null },
    { name: 'x|*y*_', at: null, size: 7, is: false },
  ]);
  expect(JSON.parse(copied(ROWS, [], 'json'))).toEqual([]);
});

test('Markdown takes no markup from names', () => {
  expect(copied(ROWS, [[2, 3]], 'markdown')).toBe(
    '| NAME | AT | SIZE | IS |\n| --- | --: | --: | --- |\n| x\\|\\*y\\*\\_ |  | 7 | no |\n',
  );
});

test('only the rows and the columns that are asked for, in that order', () => {
  const runs: Runs = [
    [0, 1],
    [2, 3],
  ];
  expect(copied(ROWS, runs, 'csv', ['size', 'name'])).toBe('size,name\r\n1234,.text\r\n7,x|*y*_\r\n');
});

test('so many rows at most', () => {
  const row: Cell[] = ['a', 1, 2, true];
  const read = (_: number, count: number) => ({ rows: Array.from({ length: count }, () => row) }) as unknown as Window;
  const steps = copyRows(read, columns, ['size'], [[0, COPY_LIMIT + 1000]], 'csv');
  let last = { done: 0, total: 0 };
  for (;;) {
    const step = steps.next();
    if (step.done) {
      expect(step.value.split('\r\n')).toHaveLength(COPY_LIMIT + 2);
      break;
    }
    last = step.value;
  }
  expect(last).toEqual({ done: COPY_LIMIT, total: COPY_LIMIT });
});
