import { expect, test } from 'vitest';
import { decode, E4M3, E5M2, HALF, inspect, leb128, plain, time } from './inspect.ts';

const of = (isLittle: boolean, ...bytes: number[]) =>
  Object.fromEntries(inspect(Uint8Array.from(bytes), isLittle).map(({ name, value }) => [name, value]));

test('whole numbers in both orders of bytes', () => {
  // 0x3f800000 = 63 × 2^24 + 128 × 2^16; 0x0000803f = 128 × 2^8 + 63.
  expect(of(true, 0x00, 0x00, 0x80, 0x3f)).toMatchObject({
    u8: '0',
    u32: '1,065,353,216',
    hex: '0x3f800000',
    u64: null,
  });
  expect(of(false, 0x00, 0x00, 0x80, 0x3f)).toMatchObject({ u32: '32,831', hex: '0x0000803f' });
  expect(of(true, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)).toMatchObject({
    u8: '255',
    i8: '-1',
    i16: '-1',
    i32: '-1',
    i64: '-1',
    u64: '18,446,744,073,709,551,615', // 2^64 - 1
    hex: '0xffffffffffffffff',
  });
  expect(of(false, 0x80, 0, 0, 0, 0, 0, 0, 0)).toMatchObject({
    i8: '-128',
    i16: '-32,768',
    i64: '-9,223,372,036,854,775,808',
  });
});

test('floating point of IEEE 754', () => {
  // Its encodings of 1, of the nearest to 0.1, of -0, infinity and NaN.
  expect(of(true, 0x00, 0x00, 0x80, 0x3f)).toMatchObject({ float: '1' });
  expect(of(false, 0x3d, 0xcc, 0xcc, 0xcd)).toMatchObject({ float: '0.1' });
  expect(of(false, 0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a)).toMatchObject({ double: '0.1' });
  expect(of(false, 0x80, 0, 0, 0)).toMatchObject({
    float: '-0',
    half: '-0',
    bfloat16: '-0',
    'fp8 e4m3': '-0',
    'fp8 e5m2': '-0',
  });
  expect(of(false, 0xff, 0x80, 0, 0)).toMatchObject({ float: '-Infinity', bfloat16: '-Infinity' });
  expect(of(false, 0x7f, 0xc0, 0, 0)).toMatchObject({ float: 'NaN', bfloat16: 'NaN', half: 'NaN' });
  // The greatest float: (2 - 2^-23) × 2^127.
  expect(of(false, 0x7f, 0x7f, 0xff, 0xff)).toMatchObject({ float: '3.4028235e+38' });
});

test('half has 5 bits of exponent and 10 of fraction', () => {
  expect(decode(0x3c00, HALF)).toBe(1);
  expect(decode(0xc000, HALF)).toBe(-2);
  expect(decode(0x7bff, HALF)).toBe(65504); // (2 - 2^-10) × 2^15
  expect(decode(0x0001, HALF)).toBe(2 ** -24);
  expect(decode(0x03ff, HALF)).toBe((1023 / 1024) * 2 ** -14);
  expect(decode(0x7c00, HALF)).toBe(Number.POSITIVE_INFINITY);
  expect(decode(0x7c01, HALF)).toBeNaN();
  expect(decode(0x2e66, HALF)).toBe((1 + 0x266 / 1024) * 2 ** -4);
});

test('the values that OFP8 names, of both formats', () => {
  // OFP8 1.0, table 2: the greatest, the least normal, the greatest and the least subnormal; infinities and NaNs.
  expect(decode(0b0_1111_110, E4M3)).toBe(448);
  expect(decode(0b0_0001_000, E4M3)).toBe(2 ** -6);
  expect(decode(0b0_0000_111, E4M3)).toBe(0.875 * 2 ** -6);
  expect(decode(0b0_0000_001, E4M3)).toBe(2 ** -9);
  expect(decode(0x7f, E4M3)).toBeNaN();
  expect(decode(0xff, E4M3)).toBeNaN();
  expect(decode(0b1_1111_000, E4M3)).toBe(-256);
  expect(decode(0b0_11110_11, E5M2)).toBe(57344);
  expect(decode(0b0_00001_00, E5M2)).toBe(2 ** -14);
  expect(decode(0b0_00000_11, E5M2)).toBe(0.75 * 2 ** -14);
  expect(decode(0b0_00000_01, E5M2)).toBe(2 ** -16);
  expect(decode(0b1_11111_00, E5M2)).toBe(Number.NEGATIVE_INFINITY);
  for (const bits of [0b0_11111_01, 0b0_11111_10, 0b1_11111_11]) expect(decode(bits, E5M2)).toBeNaN();
});

test('bfloat16 is the upper half of a float', () => {
  expect(of(false, 0x3f, 0x80)).toMatchObject({ bfloat16: '1' });
  expect(of(true, 0x49, 0x40)).toMatchObject({ bfloat16: '3.140625' }); // 0x4049: (1 + 0x49 / 128) × 2
});

test('LEB128 is that of DWARF 5', () => {
  // Its figures 22 and 23.
  const u = (...bytes: number[]) => leb128(Uint8Array.from(bytes), false)?.value;
  const s = (...bytes: number[]) => leb128(Uint8Array.from(bytes), true)?.value;
  expect([u(2), u(127), u(0x80, 1), u(1 + 0x80, 1), u(57 + 0x80, 100)]).toEqual([2n, 127n, 128n, 129n, 12857n]);
  expect([s(2), s(0x7e), s(127 + 0x80, 0), s(1 + 0x80, 0x7f), s(0x80, 1), s(0x80, 0x7f)]).toEqual([
    2n,
    -2n,
    127n,
    -127n,
    128n,
    -128n,
  ]);
  expect(leb128(Uint8Array.of(0x80, 0x80), false)).toBe(null);
  // 2^64 - 1 has nine sevens and one bit; one bit more is too many.
  const ones = Array<number>(9).fill(0xff);
  expect(u(...ones, 0x01)).toBe(2n ** 64n - 1n);
  expect(u(...ones, 0x02)).toBe(undefined);
  expect(s(...ones, 0x7f)).toBe(-1n);
});

test('times that are plausible', () => {
  expect(time(1_000_000_000n)).toBe('2001-09-09 01:46:40 UTC');
  expect(time(0n)).toBe(null);
  expect(time(2n ** 40n)).toBe(null);
  // 0x3b9aca00 = 10^9.
  expect(of(true, 0x00, 0xca, 0x9a, 0x3b)).toMatchObject({ time32: '2001-09-09 01:46:40 UTC', time64: null });
});

test('bits and characters', () => {
  expect(of(true, 0x01, 0x80)).toMatchObject({ bits: '10000000 00000001', 'UTF-8': '\\u{1} · U+0001' });
  expect(of(true, 0xe2, 0x82, 0xac)).toMatchObject({ 'UTF-8': '€ · U+20AC' });
  expect(of(true, 0xf0, 0x9f, 0x98, 0x80)).toMatchObject({ 'UTF-8': '😀 · U+1F600' });
  expect(of(true, 0xff, 0xff)).toMatchObject({ 'UTF-8': null });
  expect(of(true, 0xe2, 0x80, 0xae)).toMatchObject({ 'UTF-8': '\\u{202e} · U+202E' });
});

test('no bytes are nothing', () => {
  expect(inspect(new Uint8Array(0), true).filter(({ value }) => value !== null)).toEqual([]);
});

test('what is copied of a value', () => {
  expect(plain('1,065,353,216')).toBe('1065353216');
  expect(plain('-128 · 2 bytes')).toBe('-128');
  expect(plain('2001-09-09 01:46:40 UTC')).toBe('2001-09-09 01:46:40 UTC');
});
