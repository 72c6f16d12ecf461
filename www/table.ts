// How a table's cells are written and how wide its columns are. Pure.

import type { Cell, Column } from './protocol.ts';
import { count, hex, name } from './text.ts';

/** A cell as it is shown. */
export function cellText(cell: Cell | undefined, { unit }: Column, limit = 200): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (unit === 'hex' && (typeof cell === 'number' || /^-?\d+$/.test(cell))) return hex(cell);
  if (typeof cell === 'number') return unit === 'size' ? count(cell) : String(cell);
  return name(cell, limit);
}

/** Whether the column's cells stand against the right edge. */
export function isRight({ unit }: Column): boolean {
  return unit === 'number' || unit === 'hex' || unit === 'size';
}

/** Widths in characters, from what is in some rows: wide enough for what is usual, bounded for what is not. */
export function widths(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  indices: readonly number[],
): number[] {
  return indices.map((index) => {
    const column = columns[index];
    if (!column) return 4;
    const lengths = rows.map((row) => cellText(row[index], column).length).sort((a, b) => a - b);
    const usual = lengths[Math.floor(lengths.length * 0.98)] ?? 0;
    const most = column.key === 'message' ? 90 : column.unit === 'text' ? 44 : 36;
    // The title, its arrow, and a blank.
    return Math.min(Math.max(usual, column.title.length + 2, 3), Math.max(most, column.title.length + 2));
  });
}

/** The columns whose cells lead to the bytes that their row is about, for tables whose rows are headers of something. */
export const LEADS: Record<string, string> = { sections: 'offset', segments: 'offset' };
