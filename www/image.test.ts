import { expect, test } from 'vitest';
import { firstNot, inImage, parseAddress } from './image.ts';

test('a byte of the file is where its segment puts it', () => {
  const pieces = [
    { offset: 0, file: { offset: 0, size: 0x400 } },
    { offset: 0x1400, file: { offset: 0x400, size: 0x200 } },
    { offset: 0x2000, file: { offset: -1, size: -1 } },
  ];
  expect(inImage(pieces, 0x3ff)).toBe(0x3ff);
  expect(inImage(pieces, 0x400)).toBe(0x1400);
  expect(inImage(pieces, 0x5ff)).toBe(0x15ff);
  expect(inImage(pieces, 0x600)).toBe(null);
});

test('where something ends is found in a few steps', async () => {
  let asked = 0;
  const end = await firstNot(100, 5000, async (at) => {
    asked += 1;
    return at < 4321;
  });
  expect(end).toBe(4321);
  expect(asked).toBeLessThan(14);
  expect(await firstNot(5, 9, async () => true)).toBe(9);
  expect(await firstNot(5, 9, async () => false)).toBe(5);
});

test('addresses are hexadecimal, of 64 bits at most', () => {
  expect(parseAddress('0x7f00_0000_0000')).toBe('7f0000000000');
  expect(parseAddress(' 7F00 ')).toBe('7f00');
  expect(parseAddress('0x000')).toBe('0');
  expect(parseAddress('')).toBeNull();
  expect(parseAddress('ffffffffffffffff')).toBe('ffffffffffffffff');
  for (const text of ['0x', '1ffffffffffffffff', 'twelve', '-1']) expect(parseAddress(text), text).toBeUndefined();
});
