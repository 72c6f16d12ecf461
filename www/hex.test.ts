import { expect, test } from 'vitest';
import { asciiText, boxes, byteAt, column, columns, edges, hexText, leavesIn, WIDTHS, widthFor } from './hex.ts';

test('a row is its bytes in two groups', () => {
  const bytes = Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0x41, 0xff, 0]);
  expect(hexText(bytes, 10)).toBe('7f 45 4c 46 02 01 01 41  ff 00');
  expect(asciiText(bytes, 10)).toBe('·ELF···A··');
  expect(hexText(undefined, 3)).toBe('        ');
  expect(hexText(undefined, 2, '??')).toBe('?? ??');
});

test('every byte is found where it is written', () => {
  for (const width of WIDTHS) {
    const shape = { width, digits: 6 };
    const { hex, ascii, end } = edges(shape);
    const bytes = Uint8Array.from({ length: width }, (_, i) => i);
    const text = hexText(bytes, width);
    expect(text).toHaveLength(columns(width));
    expect(end - ascii).toBe(width);
    for (let i = 0; i < width; i++) {
      expect(text.slice(column(i), column(i) + 2)).toBe(i.toString(16).padStart(2, '0'));
      expect(byteAt(hex + column(i) + 0.5, shape)).toBe(i);
      expect(byteAt(hex + column(i) + 1.5, shape)).toBe(i);
      expect(byteAt(ascii + i + 0.5, shape)).toBe(i);
    }
    expect(byteAt(-3, shape)).toBe(0);
    expect(byteAt(500, shape)).toBe(width - 1);
  }
});

test('as many bytes a row as there is room for', () => {
  // 6 digits and a gap of 2; 16 bytes are 16 × 3 - 1 characters and one more between the groups; a gap of 2; 16 characters.
  expect(edges({ width: 16, digits: 6 }).end).toBe(6 + 2 + 48 + 2 + 16);
  expect(widthFor(73, 6)).toBe(8);
  expect(widthFor(74, 6)).toBe(16);
  expect(widthFor(10, 6)).toBe(8);
});

test('a run of bytes is three rectangles at most', () => {
  const view = { start: 0x570, end: 0x5b0, width: 16 };
  expect(boxes(0x584, 4, view)).toEqual([{ row: 1, rows: 1, first: 4, last: 7 }]);
  expect(boxes(0x584, 16, view)).toEqual([
    { row: 1, rows: 1, first: 4, last: 15 },
    { row: 2, rows: 1, first: 0, last: 3 },
  ]);
  expect(boxes(0x574, 0x38, view)).toEqual([
    { row: 0, rows: 1, first: 4, last: 15 },
    { row: 1, rows: 2, first: 0, last: 15 },
    { row: 3, rows: 1, first: 0, last: 11 },
  ]);
  expect(boxes(0, 0x10000, view)).toEqual([{ row: 0, rows: 4, first: 0, last: 15 }]);
  expect(boxes(0x500, 0x10, view)).toEqual([]);
  expect(boxes(0x580, 0, view)).toEqual([]);
});

test('the leaves in view are those that have bytes there', () => {
  const leaves = {
    offset: Float64Array.from([0, 4, 4, 20]),
    size: Float64Array.from([4, 0, 16, 100]),
    role: Uint8Array.from([0, 1, 2, 3]),
    shared: new Uint8Array(4),
  };
  expect(leavesIn(leaves, { start: 0, end: 16, width: 16 })).toEqual([0, 2]);
  expect(leavesIn(leaves, { start: 16, end: 32, width: 16 })).toEqual([2, 3]);
  expect(leavesIn(leaves, { start: 120, end: 136, width: 16 })).toEqual([]);
});
