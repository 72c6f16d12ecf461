// From an instruction to the line of PTX that it comes from, and back.
//
// A cubin's line table says which line of PTX an instruction comes from, and of a linked file with several texts not of which:
// that is the text that defines the function.

import type { Options } from './client.ts';
import type { Cell } from './protocol.ts';
import type { Session } from './session.ts';

/** Who is asked. */
export type Asked = Pick<Session, 'call' | 'countOf'>;

/** Rows that are asked for at once. */
const ROWS = 1000;
/** Texts, and functions other than that of the line, that are looked through. */
const MOST = 64;

/** The function that a line of PTX begins to define; declarations of functions elsewhere are none. */
export function definedIn(line: string): string | null {
  if (/^\s*(?:\/\/|\.extern\b)/.test(line)) return null;
  return /\.(?:entry|func)\b\s*(?:\([^)]*\)\s*)?([\w$]+)/.exec(line)?.[1] ?? null;
}

/** The index in the table of the first row that `filter` leaves and that is the one. */
async function first(
  asked: Asked,
  table: string,
  filter: string,
  is: (cells: readonly Cell[]) => boolean,
  options: Options,
): Promise<number | null> {
  const matched = await asked.call('query', [table, { sort: null, descending: false, filter }], options);
  for (let start = 0; start < matched; start += ROWS) {
    const { rows, index } = await asked.call('rows', [table, start, ROWS], options);
    const at = rows.findIndex(is);
    if (at >= 0) return index[at] ?? null;
  }
  return null;
}

/** The text with the PTX of a kernel, by its index; null where there is none. */
export async function textOf(asked: Asked, kernel: number, options: Options = {}): Promise<number | null> {
  const texts = asked.countOf('texts');
  if (texts < 2) return texts === 1 ? 0 : null;
  const name = (await asked.call('kernel', [kernel], options))?.name;
  for (let text = 0; name && text < Math.min(texts, MOST); text++) {
    const defines = ([, line]: readonly Cell[]) => definedIn(String(line)) === name;
    if ((await first(asked, `text/${text}`, `"${name}"`, defines, options)) !== null) return text;
  }
  return null;
}

/** The function that line `row` of a text is of. */
async function functionAt(asked: Asked, text: number, row: number, options: Options): Promise<string | null> {
  for (let end = row + 1; end > 0; end -= ROWS) {
    const start = Math.max(0, end - ROWS);
    const { rows } = await asked.call('list', [`text/${text}`, start, end - start], options);
    const names = rows.map(([, line]) => definedIn(String(line)));
    const name = names.findLast((one) => one !== null);
    if (name) return name;
  }
  return null;
}

/** The first instruction that comes from line `row`, counted from 0, of a text: its kernel, and its row in that one's code. */
export async function codeOf(
  asked: Asked,
  text: number,
  row: number,
  options: Options = {},
): Promise<{ kernel: number; row: number } | null> {
  const name = await functionAt(asked, text, row, options);
  const own = name === null ? null : await first(asked, 'kernels', `name:"${name}"`, ([of]) => of === name, options);
  // What is inlined has instructions in other functions; of several texts, these can be of another one.
  const others = asked.countOf('texts') > 1 ? 0 : Math.min(asked.countOf('kernels'), MOST);
  const kernels = new Set([...(own === null ? [] : [own]), ...Array(others).keys()]);
  for (const kernel of kernels) {
    const code = `code/${kernel}`;
    const columns = await asked.call('columns', [code], options);
    const at = columns.findIndex(({ key }) => key === 'ptx_line');
    if (at < 0) continue;
    const found = await first(asked, code, `ptx_line:${row + 1}`, (cells) => cells[at] === row + 1, options);
    if (found !== null) return { kernel, row: found };
  }
  return null;
}
