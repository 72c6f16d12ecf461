import { expect, test } from 'vitest';
import { findIn, looksHex, parsePattern, scan } from './find.ts';

const quiet = { signal: new AbortController().signal, progress: () => {} };
const bytes = (...of: number[]) => Uint8Array.from(of);

test('what is meant is guessed', () => {
  for (const text of ['48 8b', '488b', '48 ?? f?', ' DE AD ']) expect(looksHex(text), text).toBe(true);
  for (const text of ['vadd', '4', '4 8', '', '??', 'de ad be e', 'face it']) expect(looksHex(text), text).toBe(false);
});

test('a pattern is bytes of which bits may be left open', () => {
  expect(parsePattern('48 8B ?? f?', true)).toEqual({
    bytes: bytes(0x48, 0x8b, 0x00, 0xf0),
    masks: bytes(0xff, 0xff, 0x00, 0xf0),
  });
  expect(parsePattern('ä', false)).toEqual({ bytes: bytes(0xc3, 0xa4), masks: bytes(0xff, 0xff) });
  expect(() => parsePattern('4x', true)).toThrow("'x' is not a hexadecimal digit or ?");
  expect(() => parsePattern('48 8', true)).toThrow('only one digit');
  expect(() => parsePattern(' ', true)).toThrow('nothing to find');
  expect(() => parsePattern('', false)).toThrow('nothing to find');
});

test('forwards the first and backwards the last match is found', () => {
  const window = bytes(1, 2, 3, 1, 2, 4, 1, 2);
  const pattern = parsePattern('01 02 ??', true);
  expect(findIn(window, pattern, 0, false)).toBe(0);
  expect(findIn(window, pattern, 1, false)).toBe(3);
  expect(findIn(window, pattern, 4, false)).toBe(-1);
  expect(findIn(window, pattern, 7, true)).toBe(3);
  expect(findIn(window, pattern, 2, true)).toBe(0);
});

test('matches across the edges of windows are found', async () => {
  // 3 MiB of zeros with a word across the first and the second window, and one at the very end.
  const size = 3 << 20;
  const all = new Uint8Array(size);
  all.set([0xde, 0xad], (1 << 20) - 1);
  all.set([0xde, 0xad], size - 2);
  const read = async (offset: number, count: number) => all.slice(offset, offset + count);
  const find = (start: number, isBackwards: boolean) =>
    scan(read, size, parsePattern('dead', true), start, isBackwards, quiet);
  expect(await find(0, false)).toEqual({ offset: (1 << 20) - 1, size: 2 });
  expect(await find(1 << 20, false)).toEqual({ offset: size - 2, size: 2 });
  expect(await find(size - 1, false)).toBe(null);
  expect(await find(size, true)).toEqual({ offset: size - 2, size: 2 });
  expect(await find(size - 2, true)).toEqual({ offset: (1 << 20) - 1, size: 2 });
  expect(await find((1 << 20) - 1, true)).toBe(null);
});
