import { expect, test } from 'vitest';
import type { Column } from './protocol.ts';
import { cellText, widths } from './table.ts';

const column = (unit: Column['unit'], title = 'Title'): Column => ({ key: 'key', title, unit, is_shown: true });

test('cells are written in the unit of their column', () => {
  expect(cellText(0x318, column('hex'))).toBe('0x318');
  expect(cellText('18446744073709551615', column('hex'))).toBe('0xffffffffffffffff');
  expect(cellText(3976, column('size'))).toBe('3,976');
  expect(cellText(3976, column('number'))).toBe('3976');
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
