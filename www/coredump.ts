// Rows of a core dump: from one to the code that it is about, in the cubin that the dump has. Pure.

import type { Place } from './place.ts';
import type { Cell, Column } from './protocol.ts';
import { hex } from './text.ts';

/** The cells of a row by their columns. */
export function cellsOf(columns: readonly Column[], row: readonly Cell[] | undefined): ReadonlyMap<string, Cell> {
  return new Map(columns.map(({ key }, i) => [key, row?.[i] ?? null]));
}

/** Where in the cubin the code of a row is: an instruction of 16 bytes, as all since Volta are. */
export function codePlace(cells: ReadonlyMap<string, Cell>): Place {
  const offset = cells.get('offset');
  const at = `${cells.get('function')}+${hex(Number(offset ?? 0))}`;
  return { src: null, member: null, view: null, at, select: '16', launch: null, decode: null };
}
