// Rows of bytes as text, and where in that text each byte is. Pure.

import { type Leaves, leafAt } from './ribbon.ts';

/** Pixels of a row. */
export const ROW = 21;

/** Characters before byte `i` of a row: three a byte, and a wider gap after every eight. */
export function column(i: number): number {
  return i * 3 + Math.floor(i / 8);
}

/** Characters of a row of `width` bytes. */
export function columns(width: number): number {
  return column(width - 1) + 2;
}

/** The byte at a character of the row, with a fraction: blanks belong to the byte before them. */
export function byteAt(character: number, width: number): number {
  const group = Math.floor(character / 25);
  const within = Math.min(7, Math.floor((character - group * 25) / 3));
  return Math.min(Math.max(0, group * 8 + within), width - 1);
}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

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
  for (let i = 0; i < count; i++) {
    const byte = bytes?.[i];
    text += byte === undefined ? ' ' : byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·';
  }
  return text;
}

/** A run of bytes within a row. */
export interface Run {
  from: number;
  to: number;
}

/** The part of `offset, size` that lies in the row of `width` bytes from `start` on. */
export function clip(offset: number, size: number, start: number, width: number): Run | null {
  const from = Math.max(0, offset - start);
  const to = Math.min(width, offset + size - start);
  return from < to ? { from, to } : null;
}

/** The runs of a row that belong to one part each, with the part's role. */
export function tints(leaves: Leaves, start: number, count: number): (Run & { role: number })[] {
  const runs: (Run & { role: number })[] = [];
  for (let leaf = leafAt(leaves, start); leaf >= 0 && leaf < leaves.size.length; leaf++) {
    const run = clip(leaves.offset[leaf] ?? 0, leaves.size[leaf] ?? 0, start, count);
    if (!run) {
      // A leaf of no bytes has nothing to show, and the ones behind it may have.
      if ((leaves.offset[leaf] ?? 0) >= start + count) break;
      continue;
    }
    runs.push({ ...run, role: leaves.role[leaf] ?? 0 });
  }
  return runs;
}

/** A layer of a CSS background behind those bytes of the hexadecimal text. */
export function behind(run: Run, paint: string, position = '50%', height = `${ROW}px`): string {
  const from = column(run.from);
  return `${paint} ${from}ch ${position} / ${column(run.to - 1) + 2 - from}ch ${height} no-repeat`;
}

/** The same behind their characters. */
export function behindAscii(run: Run, paint: string): string {
  return `${paint} ${run.from}ch 50% / ${run.to - run.from}ch ${ROW}px no-repeat`;
}
