import { expect, test } from 'vitest';
import { fromHere } from './bytes.ts';

test('an expression that begins with a sign counts from the selection', () => {
  const space = { selection: { offset: 0x40, size: 4 }, size: 0x100 };
  expect(fromHere('+0x10', space)).toBe(0x50);
  expect(fromHere(' -16', space)).toBe(0x30);
  expect(fromHere('+ 20h - 1', space)).toBe(0x5f);
  expect(fromHere('0x10', space)).toBeNull();
  expect(fromHere('-name', space)).toBeNull();
  expect(fromHere('+', space)).toBeNull();
  expect(() => fromHere('-0x41', space)).toThrow('-0x41 from 0x40 is before the first byte');
  expect(() => fromHere('+0xc0', space)).toThrow('past the last byte');
});
