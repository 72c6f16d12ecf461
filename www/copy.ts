// Rows of a table as text that leaves the page, made in the worker in steps. Pure.

import type { Cell, Column, Window } from './protocol.ts';
import { firstRows, length, type Runs } from './runs.ts';
import type { Steps } from './steps.ts';
import { isRight } from './table.ts';
import { hex, share, visible } from './text.ts';

export type RowsForm = 'text' | 'csv' | 'json' | 'markdown';

/** Rows that are copied at once, at most. */
export const COPY_LIMIT = 200_000;
/** Rows that are read in a step. */
const STEP = 250;
/** Characters that a column is widened to, at most: longer cells push the rest of their line aside, as in the terminal. */
const WIDTH = 48;

/** The rows in `runs` of a table, of the columns in `keys`. */
export function* copyRows(
  read: (start: number, count: number) => Window,
  columns: readonly Column[],
  keys: readonly string[],
  runs: Runs,
  form: RowsForm,
): Steps<string> {
  const indices = keys.map((key) => columns.findIndex((column) => column.key === key)).filter((index) => index >= 0);
  const shown = indices.map((index) => columns[index] as Column);
  const bounded = firstRows(runs, COPY_LIMIT);
  const total = length(bounded);
  const rows: Cell[][] = [];
  for (const [from, to] of bounded) {
    for (let start = from; start < to; start += STEP) {
      const window = read(start, Math.min(STEP, to - start));
      for (const row of window.rows) rows.push(indices.map((index) => row[index] ?? null));
      yield { done: rows.length, total };
    }
  }
  return FORMS[form](shown, rows);
}

const FORMS: Record<RowsForm, (columns: readonly Column[], rows: readonly Cell[][]) => string> = {
  text: aligned,
  csv: (columns, rows) => {
    const lines = [columns.map(({ key }) => key), ...rows.map((row) => row.map((cell, i) => plain(cell, columns[i])))];
    return lines.map((line) => `${line.map(quoted).join(',')}\r\n`).join('');
  },
  json: (columns, rows) => {
    const objects = rows.map((row) =>
      JSON.stringify(Object.fromEntries(row.map((cell, i) => [columns[i]?.key, cell]))),
    );
    return objects.length === 0 ? '[]\n' : `[\n  ${objects.join(',\n  ')}\n]\n`;
  },
  markdown: (columns, rows) => {
    const lines = [
      columns.map(({ title }) => escaped(title)),
      columns.map((column) => (isRight(column) ? '--:' : '---')),
      ...rows.map((row) => row.map((cell, i) => escaped(visible(plain(cell, columns[i]))))),
    ];
    return lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
  },
};

/** A cell as it is, with nothing between its digits. */
export function plain(cell: Cell, column: Column | undefined): string {
  if (cell === null) return '';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  const { unit } = column ?? {};
  if (unit === 'hex' && (typeof cell === 'number' || /^-?\d+$/.test(cell))) return hex(cell);
  if (unit === 'share') return share(Number(cell), 1);
  return String(cell);
}

function aligned(columns: readonly Column[], rows: readonly Cell[][]): string {
  const lines = [
    columns.map(({ title }) => title),
    ...rows.map((row) => row.map((cell, i) => visible(plain(cell, columns[i])))),
  ];
  const widths = columns.map(({ title }, i) =>
    lines.reduce((most, line) => Math.max(most, Math.min(line[i]?.length ?? 0, WIDTH)), title.length),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, i) =>
        columns[i] && isRight(columns[i]) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return `${lines.map(line).join('\n')}\n`;
}

/** A field of RFC 4180. */
function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What would be markup in Markdown stands for itself. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_~[\]<>|&#]/g, '\\$&');
}
