import { expect, test } from 'vitest';
import { bytes, count, hex, name, parseOffset, share, shorten, size, visible } from './text.ts';

test('numbers are grouped, and past 2^53 come as strings', () => {
  expect(count(3976)).toBe('3,976');
  expect(count('18446744073709551615')).toBe('18,446,744,073,709,551,615');
  expect(hex(0x584)).toBe('0x584');
  expect(hex(5, 8)).toBe('0x00000005');
  expect(hex('18446744073709551615')).toBe('0xffffffffffffffff');
  expect(hex(-16)).toBe('-0x10');
  expect(bytes(1)).toBe('1 byte');
  expect(size(3976)).toBe('3,976 bytes');
  expect(size(1_610_612_736)).toBe('1.5 GiB');
  expect(size(65_536)).toBe('64 KiB');
});

test('a share is never 0 % of something nor 100 % of less than all', () => {
  expect(share(1, 3)).toBe('33.3 %');
  expect(share(1, 1_000_000)).toBe('< 0.1 %');
  expect(share(999_999, 1_000_000)).toBe('> 99.9 %');
  expect(share(0, 0)).toBe('0 %');
});

test('characters that act instead of being seen are made visible', () => {
  expect(visible('a\nb\u202ec\u0000')).toBe('a\\u{a}b\\u{202e}c\\u{0}');
  expect(visible('_Z4vaddPKfS0_Pfi <b>&amp;</b> π')).toBe('_Z4vaddPKfS0_Pfi <b>&amp;</b> π');
});

test('long names lose their middle, and no character is cut in two', () => {
  expect(shorten('short', 5)).toBe('short');
  expect(shorten('abcdefghij', 7)).toBe('abcd…ij');
  expect([...shorten('😀'.repeat(50), 10)]).toHaveLength(10);
  expect(name('x'.repeat(5_000_000), 80)).toHaveLength(80);
});

test('offsets are read as people write them', () => {
  expect(parseOffset('0x40')).toBe(64);
  expect(parseOffset(' 64 ')).toBe(64);
  expect(parseOffset('40h')).toBe(64);
  expect(parseOffset('1f0')).toBe(0x1f0);
  expect(parseOffset('1,024')).toBe(1024);
  expect(parseOffset('001000')).toBe(0x1000);
  expect(parseOffset('0')).toBe(0);
  for (const wrong of ['', 'here', '0x', '-1', '0xffffffffffffffffff']) expect(parseOffset(wrong), wrong).toBe(null);
});
