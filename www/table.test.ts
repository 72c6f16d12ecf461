import { expect, test } from 'vitest';
import type { Column } from './protocol.ts';
import { cellText, FULL, fullText, holders, unknownColumn, unknownText, widths } from './table.ts';

const column = (unit: Column['unit'], title = 'Title'): Column => ({ key: 'key', title, unit, is_shown: true });

test('cells are written in the unit of their column', () => {
  expect(cellText(0x318, column('hex'))).toBe('0x318');
  expect(cellText('18446744073709551615', column('hex'))).toBe('0xffffffffffffffff');
  expect(cellText(3976, column('size'))).toBe('3,976');
  expect(cellText(3976, column('number'))).toBe('3,976');
  expect(cellText(976, column('number'))).toBe('976');
  expect(cellText(1e5, column('size'))).toBe('100,000');
  expect(cellText('18446744073709551615', column('size'))).toBe('18,446,744,073,709,551,615');
  expect(cellText('1234', column('text'))).toBe('1234');
  // What something is called by is no count.
  expect(cellText(3976, { ...column('number'), key: 'line' })).toBe('3976');
  expect(cellText('a\nb', column('text'))).toBe('a\\u{a}b');
  expect(cellText(true, column('word'))).toBe('yes');
  expect(cellText(null, column('hex'))).toBe('');
});

test('columns are as wide as what is usual in them, and never endless', () => {
  const columns = [column('hex', '#'), column('text', 'Name')];
  expect(
    widths(
      columns,
      [
        [1, 'short'],
        [2, 'x'.repeat(500)],
      ],
      [0, 1],
    ),
  ).toEqual([3, 44]);
  expect(widths(columns, [], [0, 1])).toEqual([3, 6]);
});

test('the rows that have a byte are those that are read from it, else those that are about it', () => {
  const span = (offset: number, size: number) => ({ offset, size });
  const rows = [
    { own: span(0, 8), target: span(100, 10) },
    { own: span(8, 8), target: span(0, 50) },
    { own: null, target: span(105, 1) },
  ];
  expect(holders(rows, 0)).toEqual([0]);
  expect(holders(rows, 8)).toEqual([1]);
  expect(holders(rows, 16)).toEqual([1]);
  expect(holders(rows, 105)).toEqual([0, 2]);
  expect(holders(rows, 110)).toEqual([]);
  expect(holders([{ own: span(4, 0), target: null }], 4)).toEqual([]);
});

test('a filter for a column that is not there is told from words', () => {
  const columns = [
    { ...column('text', 'Name'), key: 'name' },
    { ...column('hex', 'Flags'), key: 'flags' },
  ];
  for (const filter of ['', 'name:a', 'FLAGS:2 name:x', 'ns::f', ':8', '"a b" name:"c: d"']) {
    expect(unknownColumn(filter, columns), filter).toBeNull();
  }
  expect(unknownColumn('name:a typ:b', columns)).toBe('typ');
  expect(unknownColumn('"two words:x"', columns)).toBe('two words');
});

test('what is not known yet says how far it is known', () => {
  const columns = [{ key: 'kernels_so_far', title: '', unit: 'number', is_shown: false } as const];
  expect(unknownText(columns, [0], false)).toBe('…');
  expect(unknownText(columns, [0], true)).toBe('not opened');
  expect(unknownText(columns, [1234], false)).toBe('1,234…');
  expect(unknownText(columns, [3], true)).toBe('3 so far');
});

test('what may not be seen of a cell is told whole, as far as that is sane', () => {
  const text = column('text');
  const told = (cell: string) => fullText(cell, text, cellText(cell, text));
  expect(told('x'.repeat(30))).toBeNull();
  const long = `${'x'.repeat(1500)}middle${'y'.repeat(1500)}`;
  expect(cellText(long, text).length).toBe(200);
  expect(told(long)).toBe(long);
  expect(told('z'.repeat(70_000))?.length).toBe(FULL);
  expect(told(`a\n${'x'.repeat(40)}`)).toBe(`a\\u{a}${'x'.repeat(40)}`);
});
