import { expect, test } from 'vitest';
import { inspect } from './inspect.ts';

const of = (...bytes: number[]) =>
  Object.fromEntries(inspect(Uint8Array.from(bytes)).map(({ name, value }) => [name, value]));

test('bytes are read as little-endian numbers', () => {
  expect(of(0x00, 0x00, 0x80, 0x3f)).toEqual({
    '8 bits': '0x0 · 0',
    '16 bits': '0x0 · 0',
    '32 bits': '0x3f800000 · 1,065,353,216',
    float: '1',
  });
  expect(of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)).toMatchObject({
    '8 bits': '0xff · 255 · -1',
    '64 bits': '0xffffffffffffffff · 18,446,744,073,709,551,615 · -1',
    double: 'NaN',
  });
});

test('as many readings as there are bytes for', () => {
  expect(inspect(new Uint8Array(0))).toEqual([]);
  expect(Object.keys(of(1, 2, 3))).toEqual(['8 bits', '16 bits']);
});
