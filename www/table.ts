// How a table's cells are written, how wide its columns are, and which of them are shown. Pure.

import type { Cell, Column, Span, Window } from './protocol.ts';
import { count, hex, name, share } from './text.ts';

/** Characters of what is shown whole, at most. */
export const FULL = 4096;

/** A cell as it is shown. */
export function cellText(cell: Cell | undefined, { key, unit }: Column, limit = 200): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (unit === 'hex' && (typeof cell === 'number' || /^-?\d+$/.test(cell))) return hex(cell);
  if (typeof cell === 'number' && unit === 'share') return share(cell, 1);
  if (unit === 'size' || (unit === 'number' && !ORDINALS.has(key))) return grouped(cell);
  return name(String(cell), limit);
}

/** Numbers of something, which are called by them: nothing stands between their digits. Numbers of other columns are counts. */
const ORDINALS: ReadonlySet<string> = new Set([
  'burst',
  'callee_symbol',
  'caller_symbol',
  'descriptor',
  'frame',
  'index',
  'info',
  'kernel',
  'line',
  'link',
  'member',
  'next',
  'owner',
  'parent',
  'ptx_line',
  'relocation',
  'row',
  'section',
  'symbol',
  'table',
  'target',
  'type_id',
]);

/** A count as it is shown; integers past 2^53 come as decimal strings. */
function grouped(cell: number | string): string {
  return /^-?\d+$/.test(String(cell)) ? count(cell) : name(String(cell));
}

/** All of a cell of which `text` is shown, as far as that is sane, where it may not be seen there; null where it is. */
export function fullText(cell: Cell | undefined, column: Column, text: string): string | null {
  if (text.length <= 30) return null;
  return typeof cell === 'string' ? cellText(cell, column, FULL) : text;
}

/** Whether the column's cells stand against the right edge. */
export function isRight({ unit }: Column): boolean {
  return unit !== 'word' && unit !== 'text';
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
    // The title, its arrow, and a blank; a bar stands beside its number.
    const least = column.unit === 'share' ? 22 : Math.max(column.title.length + 2, 3);
    return Math.min(Math.max(usual, least), Math.max(most, least));
  });
}

/** How someone has set up a table: the columns that are shown, by their keys, or null for the usual ones; widths in characters. */
export interface Setup {
  shown: string[] | null;
  widths: Record<string, number>;
}

export function isSetup(value: unknown): value is Setup {
  if (typeof value !== 'object' || value === null || !('shown' in value) || !('widths' in value)) return false;
  const { shown, widths: wide } = value;
  return (
    (shown === null || (Array.isArray(shown) && shown.every((key) => typeof key === 'string'))) &&
    typeof wide === 'object' &&
    wide !== null &&
    Object.values(wide).every((width) => typeof width === 'number' && width >= 2 && width <= 400)
  );
}

/** Indices of the columns that are shown; never none. */
export function shownColumns(columns: readonly Column[], { shown }: Setup): number[] {
  const indices = (isShown: (column: Column) => boolean) =>
    columns.flatMap((column, index) => (isShown(column) ? [index] : []));
  const chosen = shown ? indices(({ key }) => shown.includes(key)) : [];
  return chosen.length > 0 ? chosen : indices(({ is_shown }) => is_shown);
}

/** The column that leads to what the row is about, by table: where it begins, or for want of that what it is called. */
export const LINKS: Record<string, string> = {
  kernels: 'name',
  methods: 'burst',
  exceptions: 'exception',
  lanes: 'thread',
  frames: 'pc',
  warps: 'pc',
  sms: 'pc',
  grids: 'pc',
  qmds: 'index',
  launches: 'descriptor',
  sections: 'offset',
  segments: 'offset',
  symbols: 'name',
  relocations: 'offset',
  other_relocations: 'offset',
  notes: 'size',
  texts: 'name',
  members: 'offset',
  patches: 'image_offset',
};

/** The column that says what a row is called, by table; rows of tables that are not here have no names of their own. */
export const NAMES: Record<string, string> = {
  kernels: 'name',
  sections: 'name',
  segments: 'type_name',
  symbols: 'name',
  relocations: 'symbol_name',
  other_relocations: 'symbol_name',
  image: 'name',
  load_image: 'name',
  notes: 'owner',
  texts: 'name',
  members: 'path',
  map: 'name',
  size: 'name',
};

/**
 * Tables that are trees (fold.ts), by the column that branches, and the one whose cells stand in it where rows stand in the tree. Where
 * they do not, it has the column `path`.
 */
export const TREES: Readonly<Record<string, { column: string; name: string }>> = {
  metadata: { column: 'key', name: 'key' },
  members: { column: 'path', name: 'name' },
  size: { column: 'name', name: 'name' },
};

/** Tables that have more once members are opened (survey.ts). */
export const SURVEYED: ReadonlySet<string> = new Set([
  'archs',
  'members',
  'all_kernels',
  'across',
  'size',
  'gpus',
  'missing',
]);

/** Those that only opening members tells anything of. */
export const TOLD_BY_MEMBERS: ReadonlySet<string> = new Set(['across', 'all_kernels', 'missing']);

/** Columns of rows that say whether their members are open: empty cells are not known before they are. */
const TOLD: ReadonlySet<string> = new Set(['kernel_count', 'same_as']);

/** Whether an empty cell is one that only opening members tells, which has not been done. */
export function isUnknown(columns: readonly Column[], cells: readonly Cell[], { key }: Column): boolean {
  return TOLD.has(key) && cells[columns.findIndex((column) => column.key === 'is_open')] === false;
}

/** What stands in such a cell. */
export function unknownText(columns: readonly Column[], row: readonly Cell[], isStopped: boolean): string {
  const soFar = Number(row[columns.findIndex(({ key }) => key === 'kernels_so_far')] ?? 0);
  if (soFar > 0) return `${count(soFar)}${isStopped ? ' so far' : '…'}`;
  return isStopped ? 'not opened' : '…';
}

export interface Tree {
  depth: number;
  next: number;
}

/** Where a row is in a tree: how many it lies in, and the row behind those below it. */
export function treeOf(columns: readonly Column[], cells: readonly Cell[]): Tree {
  const of = (key: string) => Number(cells[columns.findIndex((column) => column.key === key)] ?? 0);
  return { depth: of('depth'), next: of('next') };
}

/** The bytes that a row of the window is read from, where the file has any. */
export function ownOf({ offset, size }: Window, at: number): Span | null {
  const from = offset[at] ?? -1;
  return from < 0 ? null : { offset: from, size: size[at] ?? 0 };
}

/** The bytes that a row of the window is about, where the file has any. */
export function targetOf({ target_offset, target_size }: Window, at: number): Span | null {
  const offset = target_offset[at] ?? -1;
  return offset < 0 ? null : { offset, size: target_size[at] ?? 0 };
}

/** A row by its bytes: those that it is read from, and those that it is about. */
export interface Bytes {
  own: Span | null;
  target: Span | null;
}

/** Which of some rows have a byte: those that are read from it; where there are none, those that are about it. */
export function holders(rows: readonly Bytes[], at: number): number[] {
  const those = (of: keyof Bytes) =>
    rows.flatMap((row, i) => {
      const span = row[of];
      const within = span ? at - Number(span.offset) : -1;
      return span && within >= 0 && within < Number(span.size) ? [i] : [];
    });
  const own = those('own');
  return own.length > 0 ? own : those('target');
}

/** What stands before a colon in the words of a filter and is no column; null if there is no such thing. */
export function unknownColumn(filter: string, columns: readonly Column[]): string | null {
  const names = columns.flatMap(({ key, title }) => [key.toLowerCase(), title.toLowerCase()]);
  for (const word of filter.match(/(?:"[^"]*"?|[^\s"])+/g) ?? []) {
    // `ns::name` and `:8` name no column.
    const named = /^([^:]+):(?!:)/.exec(word.replaceAll('"', ''))?.[1];
    if (named !== undefined && !names.includes(named.toLowerCase())) return named;
  }
  return null;
}

/** How a row of the map looks: tinted by its role; bytes that nothing claims, and bytes that two parts claim, stand out. */
export function rowTone(table: string, columns: readonly Column[], row: readonly Cell[]): string {
  if (table !== 'map') return '';
  const of = (key: string) => row[columns.findIndex((column) => column.key === key)];
  return `role-${of('role')} ${of('shared') === true ? 'twice' : ''}`;
}
