// Bytes as words of 32 bits, lowest byte first: whose they are, what has changed, and how they are written. Pure.

import { FORMS as BYTE_FORMS, type Copied } from './copied.ts';
import type { Field } from './protocol.ts';

/** The bytes that hexadecimal digits say. */
export function bytesOf(digits: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: digits.length >> 1 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

/** The digits of the unit of `width` bytes that begins at byte `at`, the highest first; past the end, bytes are 0. */
export function digitsAt(bytes: Uint8Array, at: number, width: number): string {
  let digits = '';
  for (let i = width - 1; i >= 0; i--) digits += (bytes[at + i] ?? 0).toString(16).padStart(2, '0');
  return digits;
}

export function words(bytes: Uint8Array): string[] {
  return Array.from({ length: Math.ceil(bytes.length / 4) }, (_, i) => digitsAt(bytes, 4 * i, 4));
}

/** The words that differ, by their indices. Of bytes that are not as many, nothing is said. */
export function changed(before: Uint8Array, after: Uint8Array): number[] {
  if (before.length !== after.length) return [];
  const of = words(before);
  return words(after).flatMap((word, i) => (word === of[i] ? [] : [i]));
}

/** The fields that have bits of the `width` bytes at byte `at`, from the lowest bit up. Other readings of a field's bits are left out. */
export function fieldsAt(fields: readonly Field[], at: number, width: number): number[] {
  const first = at * 8;
  const last = first + width * 8 - 1;
  const found = fields.flatMap(({ bits: [msb, lsb], alternative_of }, index) =>
    alternative_of === null && lsb <= last && msb >= first ? [index] : [],
  );
  return found.sort((a, b) => (fields[a]?.bits[1] ?? 0) - (fields[b]?.bits[1] ?? 0));
}

/** Some digits of a unit, marked alike. */
export interface Digits {
  text: string;
  mark: string;
}

/** The digits of a unit, taken together where their four bits are marked alike. */
export function marked(digits: string, at: number, markOf: (lsb: number) => string): Digits[] {
  const all: Digits[] = [];
  const top = at * 8 + digits.length * 4 - 4;
  for (let i = 0; i < digits.length; i++) {
    const mark = markOf(top - 4 * i);
    const last = all.at(-1);
    if (last?.mark === mark) last.text += digits[i];
    else all.push({ text: digits[i] ?? '', mark });
  }
  return all;
}

function lines(all: readonly string[], many: number, separator: string): string {
  const rows = Array.from({ length: Math.ceil(all.length / many) }, (_, i) => all.slice(i * many, (i + 1) * many));
  return rows.map((row) => row.join(separator)).join('\n');
}

/** The forms in which a structure's bytes are copied: as words first. */
export const FORMS: readonly Copied[] = [
  {
    key: 'words',
    title: 'Words',
    hint: '0x00001000 …',
    print: (bytes) =>
      `${lines(
        words(bytes).map((word) => `0x${word}`),
        8,
        ' ',
      )}\n`,
  },
  {
    key: 'list',
    title: 'List of words',
    hint: 'word 12: 0x…',
    print: (bytes) =>
      `${words(bytes)
        .map((word, i) => `word ${i}: 0x${word}`)
        .join('\n')}\n`,
  },
  {
    key: 'c32',
    title: 'C array',
    hint: 'uint32_t',
    print: (bytes) => {
      const all = words(bytes);
      const rows = lines(
        all.map((word) => `0x${word},`),
        8,
        ' ',
      ).replaceAll(/^/gm, '    ');
      return `static const uint32_t words[${all.length}] = {\n${rows}\n};\n`;
    },
  },
  ...BYTE_FORMS.filter(({ key }) => key === 'hex' || key === 'dump' || key === 'c' || key === 'rust').map((form) =>
    form.key === 'c' ? { ...form, title: 'C array of bytes' } : form,
  ),
];
