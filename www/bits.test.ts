import { expect, test } from 'vitest';
import { type Bits, boxAt, layout, lines, placeOf, readings, shown, step } from './bits.ts';

const field = (name: string, msb: number, lsb: number, alternative_of: string | null = null): Bits => ({
  name,
  bits: [msb, lsb],
  alternative_of,
});

/** What is in a row, from the highest bit to the lowest: names and bits. */
function drawn(fields: Bits[], size: number, width = 32): string[] {
  const words = layout(fields, shown(fields, new Map()), size, width);
  return words.map(({ at, boxes, folded }) => {
    const texts = boxes.map((box) => `${fields[box.field]?.name ?? '?'} ${box.msb}-${box.lsb}`);
    return `+${at} ${texts.join(' | ')}${folded ? ` (+${folded})` : ''}`;
  });
}

test('the first word of an .nv.info entry has its size, attribute and format from left to right', () => {
  const entry = [field('format', 7, 0), field('attribute', 15, 8), field('size', 31, 16)];
  expect(drawn(entry, 4)).toEqual(['+0 size 31-16 | attribute 15-8 | format 7-0']);
});

test('bits that no field claims are boxes too', () => {
  expect(drawn([field('a', 3, 0), field('b', 36, 33)], 6)).toEqual([
    '+0 ? 31-4 | a 3-0',
    '+4 ? 47-37 | b 36-33 | ? 32-32',
  ]);
  expect(drawn([], 4)).toEqual(['+0 ? 31-0']);
});

test('a field that crosses rows is in each of them, and says where it begins and ends', () => {
  const fields = [field('a', 39, 20)];
  const words = layout(fields, [0], 8);
  const parts = words.flatMap((word) => word.boxes.filter((box) => box.field === 0));
  expect(parts.map(({ msb, lsb, isStart, isEnd }) => [msb, lsb, isStart, isEnd])).toEqual([
    [31, 20, false, true],
    [39, 32, true, false],
  ]);
});

test('a long field is one row, however long it is', () => {
  expect(drawn([field('address', 63, 0), field('rest', 64 + 32 * 1000 - 1, 64)], 8 + 4000)).toEqual([
    '+0 address 63-0 (+1)',
    '+8 rest 32063-64 (+999)',
  ]);
});

test('where fields overlap the first has the bits, and none is drawn past the end', () => {
  expect(drawn([field('a', 15, 0), field('b', 23, 8)], 4)).toEqual(['+0 ? 31-24 | b 23-16 | a 15-0']);
  expect(drawn([field('a', 63, 16)], 4)).toEqual(['+0 a 31-16 | ? 15-0']);
});

test('alternatives are offered in place of the field, those that overlap one after the other', () => {
  const fields = [
    field('other', 7, 0),
    field('visibility', 1, 0, 'other'),
    field('rest', 7, 2, 'other'),
    field('all', 7, 0, 'other'),
  ];
  expect(readings(fields, 'other')).toEqual([[0], [1, 2], [3]]);
  expect(shown(fields, new Map())).toEqual([0]);
  expect(shown(fields, new Map([['other', 1]]))).toEqual([1, 2]);
});

test('rows have 64 bits where that is asked for', () => {
  const fields = [field('low', 31, 0), field('high', 63, 32), field('address', 127, 64), field('rest', 135, 128)];
  expect(drawn(fields, 20, 64)).toEqual([
    '+0 high 63-32 | low 31-0',
    '+8 address 127-64',
    '+16 ? 159-136 | rest 135-128',
  ]);
});

test('a part of no field is one row even if it is larger than memory', () => {
  expect(drawn([field('size', 31, 0)], 2 ** 40)).toEqual(['+0 size 31-0', `+4 ? ${2 ** 43 - 1}-32 (+${2 ** 38 - 2})`]);
});

test('keys go from box to box, past what no field claims, and keep to their column', () => {
  //          31      16 15     0
  // row 0:   b          a
  // row 1:   wide
  // row 2:   -          -
  // row 3:   d          -
  const fields = [field('a', 15, 0), field('b', 31, 16), field('wide', 63, 32), field('d', 127, 112)];
  const words = layout(fields, [0, 1, 2, 3], 16);
  const start = placeOf(words, 0, words[0]?.boxes[1] as never, 32);
  const way = (...keys: string[]) => {
    let place = start;
    for (const key of keys) place = step(words, place, key, 32) ?? place;
    return fields[boxAt(words, place, 32)?.field ?? -1]?.name;
  };
  expect(way()).toBe('a');
  expect(way('ArrowLeft')).toBe('b');
  expect(way('ArrowLeft', 'ArrowLeft')).toBe('b');
  expect(way('Home')).toBe('b');
  expect(way('Home', 'End')).toBe('a');
  expect(way('ArrowDown')).toBe('wide');
  expect(way('ArrowDown', 'ArrowUp')).toBe('a');
  expect(way('ArrowDown', 'ArrowDown')).toBe('d');
  expect(way('ArrowDown', 'ArrowDown', 'ArrowDown')).toBe('d');
  expect(way('ArrowUp')).toBe('a');
  expect(step(words, start, 'Tab', 32)).toBeNull();
});

test('a list has every field, alternatives behind theirs, and what is unclaimed in its place', () => {
  const fields = [field('a', 7, 0), field('low', 3, 0, 'a'), field('b', 31, 16)];
  const texts = lines(fields, 8).map(({ field, msb, lsb }) => `${fields[field]?.name ?? '?'} ${msb}:${lsb}`);
  expect(texts).toEqual(['a 7:0', 'low 3:0', '? 15:8', 'b 31:16', '? 63:32']);
});
