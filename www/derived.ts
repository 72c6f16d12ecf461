// Columns that follow from others: the worker adds them to those of the core, so that the page shows and copies them like any
// other. Pure.

import type { Cell, Column, Query, Window } from './protocol.ts';

interface Derived {
  column: Column;
  /** The column that it stands behind. */
  after: string;
  /** The column that puts rows in the same order. */
  sort: string;
  of(cell: (key: string) => number, fileSize: number): Cell;
}

const DERIVED: Record<string, readonly Derived[]> = {
  map: [
    {
      column: { key: 'end', title: 'End', unit: 'hex', is_shown: true },
      after: 'offset',
      sort: 'offset',
      of: (cell) => cell('offset') + cell('size'),
    },
    {
      column: { key: 'share', title: 'Share', unit: 'share', is_shown: true },
      after: 'size',
      sort: 'size',
      of: (cell, fileSize) => (fileSize > 0 ? cell('size') / fileSize : 0),
    },
  ],
  size: [
    {
      column: { key: 'share', title: 'Share of the file', unit: 'share', is_shown: true },
      after: 'stored_size',
      sort: 'stored_size',
      of: (cell, fileSize) => (fileSize > 0 ? cell('stored_size') / fileSize : 0),
    },
  ],
};

/** The columns of a table, with those that follow from them. */
export function withDerived(table: string, columns: readonly Column[]): Column[] {
  const derived = DERIVED[table] ?? [];
  return columns.flatMap((column) => [
    column,
    ...derived.filter(({ after }) => after === column.key).map((one) => one.column),
  ]);
}

/** Rows with cells for these columns too; what only some tables need is asked for by those. */
export function derive(table: string, columns: () => readonly Column[], window: Window, size: () => number): Window {
  const derived = DERIVED[table];
  if (!derived) return window;
  const [own, fileSize] = [columns(), size()];
  const rows = window.rows.map((row) => {
    const cell = (key: string) => Number(row[own.findIndex((column) => column.key === key)] ?? 0);
    return own.flatMap(({ key }, i): Cell[] => [
      row[i] ?? null,
      ...derived.filter(({ after }) => after === key).map((one) => one.of(cell, fileSize)),
    ]);
  });
  return { ...window, rows };
}

/** The query as the core can answer it. */
export function underived(table: string, query: Query): Query {
  const derived = DERIVED[table]?.find(({ column }) => column.key === query.sort);
  return derived ? { ...query, sort: derived.sort } : query;
}
