// What some bytes are as numbers, times and characters. Pure.

import { count, hex, visible } from './text.ts';

export interface Reading {
  name: string;
  /** As it is shown; null where the bytes are none, or too few. */
  value: string | null;
  /** What it is called in full. */
  title: string;
}

/** Bytes that a reading can need, at most: the longest LEB128 of 64 bits. */
export const INSPECTED = 10;

/** A binary floating-point format: sign, exponent, fraction, from the highest bit down. */
interface Format {
  exponent: number;
  fraction: number;
  /** Whether the highest exponent is of infinities and NaNs alone; else only all ones are NaN. */
  hasInfinities: boolean;
}

/** IEEE 754 binary16, and the two of "OCP 8-bit Floating Point Specification (OFP8)", revision 1.0. */
export const HALF: Format = { exponent: 5, fraction: 10, hasInfinities: true };
export const E5M2: Format = { exponent: 5, fraction: 2, hasInfinities: true };
export const E4M3: Format = { exponent: 4, fraction: 3, hasInfinities: false };

/** The number that the bits are in a format. */
export function decode(bits: number, { exponent, fraction, hasInfinities }: Format): number {
  const sign = (bits >> (exponent + fraction)) & 1 ? -1 : 1;
  const e = (bits >> fraction) & ((1 << exponent) - 1);
  const f = bits & ((1 << fraction) - 1);
  const bias = (1 << (exponent - 1)) - 1;
  const isHighest = e === (1 << exponent) - 1;
  if (isHighest && hasInfinities) return f === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (isHighest && f === (1 << fraction) - 1) return Number.NaN;
  if (e === 0) return sign * f * 2 ** (1 - bias - fraction);
  return sign * (1 + f / (1 << fraction)) * 2 ** (e - bias);
}

/** A LEB128 number of 64 bits (DWARF 5, section 7.6) and how many bytes it has; null where they do not end or are too many. */
export function leb128(bytes: Uint8Array, isSigned: boolean): { value: bigint; size: number } | null {
  let value = 0n;
  for (let i = 0; i < Math.min(bytes.length, INSPECTED); i++) {
    const byte = bytes[i] ?? 0;
    value |= BigInt(byte & 0x7f) << BigInt(7 * i);
    if (byte & 0x80) continue;
    if (isSigned && byte & 0x40) value -= 1n << BigInt(7 * (i + 1));
    const fits = isSigned ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value);
    return fits === value ? { value, size: i + 1 } : null;
  }
  return null;
}

/** Seconds since 1970 as a time, from 1990 to 2060: other numbers are hardly meant as one. */
export function time(seconds: bigint): string | null {
  if (seconds < 631_152_000n || seconds >= 2_840_140_800n) return null;
  return new Date(Number(seconds) * 1000).toISOString().replace('T', ' ').replace('.000Z', ' UTC');
}

/** The character in UTF-8 that the bytes begin with. */
function character(bytes: Uint8Array): string | null {
  for (let size = 1; size <= Math.min(4, bytes.length); size++) {
    try {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, size));
      const code = (text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      return `${visible(text)} · U+${code}`;
    } catch {
      // More bytes may make one.
    }
  }
  return null;
}

/** A number with no more digits than tell it from its neighbours of 32 bits. */
function float(value: number): string {
  if (value === 0) return written(value);
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return written(Number.isFinite(value) ? Number(value.toPrecision(9)) : value);
}

function written(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** What the first of `bytes` are, in one order of bytes or the other. */
export function inspect(bytes: Uint8Array, isLittle: boolean): Reading[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const has = (size: number) => bytes.length >= size;
  const unsigned = (size: number): bigint => {
    let value = 0n;
    for (let i = 0; i < size; i++) value = (value << 8n) | BigInt(bytes[isLittle ? size - 1 - i : i] ?? 0);
    return value;
  };
  const out: Reading[] = [];
  const add = (name: string, size: number, title: string, read: () => string | null) =>
    out.push({ name, title, value: has(size) ? read() : null });
  for (const size of [1, 2, 4, 8]) {
    const bits = size * 8;
    add(`u${bits}`, size, `${bits} bits without sign`, () => count(unsigned(size).toString()));
    add(`i${bits}`, size, `${bits} bits with sign`, () => count(BigInt.asIntN(bits, unsigned(size)).toString()));
  }
  const whole = [8, 4, 2, 1].find(has) ?? 1;
  add('hex', 1, `${whole * 8} bits in hexadecimal`, () => hex(unsigned(whole).toString(), whole * 2));
  add('double', 8, 'IEEE 754 binary64', () => written(view.getFloat64(0, isLittle)));
  add('float', 4, 'IEEE 754 binary32', () => float(view.getFloat32(0, isLittle)));
  add('half', 2, 'IEEE 754 binary16', () => written(decode(view.getUint16(0, isLittle), HALF)));
  add('bfloat16', 2, 'the upper half of a float', () => {
    const upper = new DataView(new ArrayBuffer(4));
    upper.setUint16(0, view.getUint16(0, isLittle));
    return float(upper.getFloat32(0));
  });
  add('fp8 e4m3', 1, 'OCP 8-bit floating point, 4 bits of exponent', () => written(decode(view.getUint8(0), E4M3)));
  add('fp8 e5m2', 1, 'OCP 8-bit floating point, 5 bits of exponent', () => written(decode(view.getUint8(0), E5M2)));
  for (const isSigned of [false, true]) {
    add(isSigned ? 'SLEB128' : 'ULEB128', 1, `LEB128 ${isSigned ? 'with' : 'without'} sign`, () => {
      const read = leb128(bytes, isSigned);
      return read && `${count(read.value.toString())} · ${read.size} ${read.size === 1 ? 'byte' : 'bytes'}`;
    });
  }
  add('time32', 4, 'seconds since 1970, 32 bits', () => time(unsigned(4)));
  add('time64', 8, 'seconds since 1970, 64 bits', () => time(unsigned(8)));
  const shown = [4, 2, 1].find(has) ?? 1;
  add('bits', 1, `${shown * 8} bits, the highest first`, () =>
    (
      unsigned(shown)
        .toString(2)
        .padStart(shown * 8, '0')
        .match(/.{8}/g) ?? []
    ).join(' '),
  );
  add('UTF-8', 1, 'the character that begins here', () => character(bytes));
  return out;
}

/** A value as other tools take it: without the marks between digits, or what is said behind it. */
export function plain(value: string): string {
  const [first = ''] = value.split(' · ');
  return /^-?[\d,]+$/.test(first) ? first.replaceAll(',', '') : first;
}
