import { expect, test } from 'vitest';
import { asciiText, byteAt, clip, column, columns, hexText, tints } from './hex.ts';

test('a row is its bytes in two groups', () => {
  const bytes = Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0x41, 0xff, 0]);
  expect(hexText(bytes, 10)).toBe('7f 45 4c 46 02 01 01 41  ff 00');
  expect(asciiText(bytes, 10)).toBe('·ELF···A··');
  expect(hexText(undefined, 3)).toBe('        ');
  expect(hexText(undefined, 2, '??')).toBe('?? ??');
});

test('every byte is found where it is written', () => {
  for (const width of [8, 16, 32]) {
    const text = hexText(
      Uint8Array.from({ length: width }, (_, i) => i),
      width,
    );
    expect(text).toHaveLength(columns(width));
    for (let i = 0; i < width; i++) {
      expect(text.slice(column(i), column(i) + 2)).toBe(i.toString(16).padStart(2, '0'));
      expect(byteAt(column(i) + 0.5, width)).toBe(i);
      expect(byteAt(column(i) + 1.5, width)).toBe(i);
    }
    expect(byteAt(-3, width)).toBe(0);
    expect(byteAt(500, width)).toBe(width - 1);
  }
});

test('a selection is cut to the rows that it crosses', () => {
  expect(clip(0x584, 16, 0x570, 16)).toBe(null);
  expect(clip(0x584, 16, 0x580, 16)).toEqual({ from: 4, to: 16 });
  expect(clip(0x584, 16, 0x590, 16)).toEqual({ from: 0, to: 4 });
});

test('tints follow the parts of the file', () => {
  const leaves = {
    offset: Float64Array.from([0, 4, 4, 20]),
    size: Float64Array.from([4, 0, 16, 100]),
    role: Uint8Array.from([0, 1, 2, 3]),
    shared: new Uint8Array(4),
  };
  expect(tints(leaves, 0, 16)).toEqual([
    { from: 0, to: 4, role: 0 },
    { from: 4, to: 16, role: 2 },
  ]);
  expect(tints(leaves, 16, 16)).toEqual([
    { from: 0, to: 4, role: 2 },
    { from: 4, to: 16, role: 3 },
  ]);
});
