// How numbers and names are written.

import type { Int } from './protocol.ts';

/** 1234567 as 1,234,567. */
export function count(value: Int): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** 0x1c0, with as many zeros in front as `digits` asks for. */
export function hex(value: Int, digits = 1): string {
  // Integers past 2^53 come as decimal strings.
  const whole = typeof value === 'string' ? BigInt(value) : value;
  const minus = whole < 0 ? '-' : '';
  return `${minus}0x${whole.toString(16).replace('-', '').padStart(digits, '0')}`;
}

/** 1 byte, 3,976 bytes. */
export function bytes(value: Int): string {
  return `${count(value)} ${Number(value) === 1 ? 'byte' : 'bytes'}`;
}

/** 8 KiB, 1.5 MiB; bytes up to 10,000. */
export function size(value: Int): string {
  let rest = Number(value);
  if (rest < 10_000) return bytes(value);
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (rest >= 1024 && unit < units.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${rest < 10 ? rest.toFixed(1).replace('.0', '') : Math.round(rest)} ${units[unit]}`;
}

/** A share of a whole as people read it: never 0 % of something, never 100 % of less than all. */
export function share(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '0 %';
  if (part === whole) return '100 %';
  const percent = (part / whole) * 100;
  if (percent < 0.1) return '< 0.1 %';
  if (percent > 99.9) return '> 99.9 %';
  return `${percent.toFixed(1)} %`;
}

/** Characters that would act instead of being seen: controls, line ends, marks that turn the direction of writing, invisible ones. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** `name` with such characters made visible, in the way that the core prints them: a line end is \\u{a}. */
export function visible(name: string): string {
  return name.replace(HIDDEN, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`);
}

/** `text` with at most `limit` characters: the middle goes first, since names differ at their ends. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const tail = Math.floor((limit - 1) / 3);
  const head = limit - 1 - tail;
  // A character has one or two units: of a megabyte, only the ends are looked at.
  const first = [...text.slice(0, 2 * limit)];
  if (text.length <= 2 * limit && first.length <= limit) return text;
  const last = tail > 0 ? [...text.slice(-2 * tail)].slice(-tail) : [];
  return `${first.slice(0, head).join('')}…${last.join('')}`;
}

/** A name from a file as it is shown. */
export function name(text: string, limit = 200): string {
  // Only so much of a megabyte is looked at.
  return shorten(visible(shorten(text, 4 * limit)), limit);
}

/** The offset that a person wrote: `0x40`, `64`, `40h`, `1f0` (hexadecimal where it cannot be decimal); null if it is none. */
export function parseOffset(text: string): number | null {
  const word = text.trim().replaceAll(/[_,]/g, '').toLowerCase();
  const digits = /^(?:0x)([0-9a-f]+)$/.exec(word)?.[1] ?? /^([0-9a-f]+)h$/.exec(word)?.[1];
  if (digits) return exact(Number.parseInt(digits, 16));
  // As the margin of the bytes has it.
  if (/^0[0-9a-f]+$/.test(word)) return exact(Number.parseInt(word, 16));
  if (/^\d+$/.test(word)) return exact(Number(word));
  if (/^[0-9a-f]+$/.test(word)) return exact(Number.parseInt(word, 16));
  return null;
}

function exact(value: number): number | null {
  return Number.isSafeInteger(value) ? value : null;
}
