import { expect, test } from 'vitest';
import { derive, underived, withDerived } from './derived.ts';
import type { Column, Window } from './protocol.ts';

const column = (key: string): Column => ({ key, title: key, unit: 'hex', is_shown: true });
const columns = [column('offset'), column('size'), column('name')];

test('the map says where a part ends and its share of the file', () => {
  expect(withDerived('map', columns).map(({ key }) => key)).toEqual(['offset', 'end', 'size', 'share', 'name']);
  const window = { rows: [[0x40, 0x10, 'a']] } as Partial<Window> as Window;
  expect(
    derive(
      'map',
      () => columns,
      window,
      () => 0x40,
    ).rows,
  ).toEqual([[0x40, 0x50, 0x10, 0.25, 'a']]);
  expect(
    derive(
      'map',
      () => columns,
      window,
      () => 0,
    ).rows[0]?.[3],
  ).toBe(0);
});

test('other tables are as they are', () => {
  expect(withDerived('symbols', columns)).toEqual(columns);
  const window = { rows: [[1, 2, 'a']] } as Partial<Window> as Window;
  expect(
    derive(
      'symbols',
      () => columns,
      window,
      () => 9,
    ),
  ).toBe(window);
});

test('what follows from a column is sorted by it', () => {
  const query = { sort: 'share', descending: true, filter: 'a' };
  expect(underived('map', query)).toEqual({ ...query, sort: 'size' });
  expect(underived('symbols', query)).toBe(query);
});
