// Rows of bytes as text, and where in that text each byte is. Pure.
//
// A row is a margin with its offset, the bytes in hexadecimal in groups of eight, and the bytes as characters. All rows that
// are visible are one text; whatever is drawn behind it is a box of so many characters and rows.

import { type Leaves, leafAt } from './ribbon.ts';

/** Pixels of a row. */
export const ROW = 21;
/** Characters between the margin, the digits and the characters. */
const GAP = 2;

/** What the text of rows looks like. */
export interface Shape {
  /** Bytes a row. */
  width: number;
  /** Characters of the margin. */
  digits: number;
}

/** Characters before byte `i` of a row's digits: three a byte, and a wider gap after every eight. */
export function column(i: number): number {
  return i * 3 + Math.floor(i / 8);
}

/** Characters of the digits of `width` bytes. */
export function columns(width: number): number {
  return column(width - 1) + 2;
}

/** Where in a row the digits begin, where the characters do, and where it ends. */
export function edges({ width, digits }: Shape): { hex: number; ascii: number; end: number } {
  const hex = digits + GAP;
  const ascii = hex + columns(width) + GAP;
  return { hex, ascii, end: ascii + width };
}

/** The byte of a row at a character of it, with a fraction: blanks belong to the byte before them. */
export function byteAt(character: number, shape: Shape): number {
  const { hex, ascii } = edges(shape);
  const last = shape.width - 1;
  if (character >= ascii - 1) return Math.min(last, Math.max(0, Math.floor(character - ascii)));
  const at = character - hex;
  const group = Math.floor(at / 25);
  const within = Math.min(7, Math.floor((at - group * 25) / 3));
  return Math.min(Math.max(0, group * 8 + within), last);
}

/** The greatest number of bytes a row, of those that are offered, whose text fits in so many characters. */
export function widthFor(characters: number, digits: number): number {
  const fits = WIDTHS.filter((width) => edges({ width, digits }).end <= characters);
  return fits.at(-1) ?? 8;
}

/** The numbers of bytes a row that are offered. */
export const WIDTHS = [8, 16, 32] as const;

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const CHARACTERS = Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·',
);

/** `04 0b 08`; `??` where a byte could not be read, blanks where it is not here yet. */
export function hexText(bytes: Uint8Array | undefined, count: number, missing = '  '): string {
  let text = '';
  for (let i = 0; i < count; i++) {
    if (i > 0) text += i % 8 === 0 ? '  ' : ' ';
    text += bytes ? (DIGITS[bytes[i] ?? 0] ?? '') : missing;
  }
  return text;
}

/** The bytes as characters, `·` for those that are none. */
export function asciiText(bytes: Uint8Array | undefined, count: number): string {
  let text = '';
  for (let i = 0; i < count; i++) text += bytes ? CHARACTERS[bytes[i] ?? 0] : ' ';
  return text;
}

/** A run of rows in view: `start` is the first byte of the first row, `end` the byte behind the last one. */
export interface View {
  start: number;
  end: number;
  width: number;
}

/** Some bytes that are a rectangle in the view. */
export interface Box {
  row: number;
  rows: number;
  /** First and last byte of each of its rows. */
  first: number;
  last: number;
}

/** The rectangles that the bytes from `offset` on cover in the view: three at most. */
export function boxes(offset: number, size: number, { start, end, width }: View): Box[] {
  const from = Math.max(offset, start) - start;
  const to = Math.min(offset + size, end) - start;
  if (from >= to) return [];
  let row = Math.floor(from / width);
  const last = Math.floor((to - 1) / width);
  const right = (to - 1) % width;
  if (row === last) return [{ row, rows: 1, first: from % width, last: right }];
  const out: Box[] = [];
  if (from % width > 0) {
    out.push({ row, rows: 1, first: from % width, last: width - 1 });
    row += 1;
  }
  const whole = right === width - 1 ? last + 1 : last;
  if (whole > row) out.push({ row, rows: whole - row, first: 0, last: width - 1 });
  if (whole === last) out.push({ row: last, rows: 1, first: 0, last: right });
  return out;
}

/** The leaves that have bytes in the view, in their order. */
export function leavesIn(leaves: Leaves, { start, end }: View): number[] {
  const out: number[] = [];
  for (let leaf = Math.max(0, leafAt(leaves, start)); leaf < leaves.size.length; leaf++) {
    const offset = leaves.offset[leaf] ?? 0;
    const size = leaves.size[leaf] ?? 0;
    if (offset >= end) break;
    // A leaf of no bytes has nothing to show, and the ones behind it may have.
    if (size > 0 && offset + size > start) out.push(leaf);
  }
  return out;
}
