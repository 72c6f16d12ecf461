// Which rows of a long list are visible. Pure: nothing here measures or draws.
//
// Browsers stop at about 33.5 million pixels of height, so a longer list is scaled: its scrollbar then moves in steps of
// several rows, while wheel and keys set the row itself.

export interface List {
  /** Rows in all. */
  rows: number;
  /** Pixels of a row. */
  rowHeight: number;
  /** Pixels of the window on it. */
  height: number;
}

export interface Visible {
  first: number;
  count: number;
  /** Pixels by which the first row begins above the window. */
  shift: number;
}

const LIMIT = 8_000_000;

/** Pixels that the list claims. */
export function scrollHeight(list: List): number {
  return Math.min(list.rows * list.rowHeight, LIMIT);
}

export function isScaled(list: List): boolean {
  return list.rows * list.rowHeight > LIMIT;
}

/** The greatest row, with a fraction, that can be at the window's upper edge. */
export function lastTop(list: List): number {
  return Math.max(0, list.rows - list.height / list.rowHeight);
}

/** The row, with a fraction, that the scrollbar puts at the window's upper edge. */
export function topOf(scrollTop: number, list: List): number {
  const range = scrollHeight(list) - list.height;
  if (range <= 0) return 0;
  return Math.min(1, Math.max(0, scrollTop / range)) * lastTop(list);
}

/** Where the scrollbar stands for a row at the window's upper edge. */
export function scrollTopOf(top: number, list: List): number {
  const last = lastTop(list);
  if (last === 0) return 0;
  return (clampTop(top, list) / last) * (scrollHeight(list) - list.height);
}

export function clampTop(top: number, list: List): number {
  return Math.min(Math.max(0, top), lastTop(list));
}

/** The rows to draw, partly visible ones included. */
export function visible(top: number, list: List): Visible {
  const at = clampTop(top, list);
  const first = Math.floor(at);
  const shift = (at - first) * list.rowHeight;
  const count = Math.min(list.rows - first, Math.ceil((list.height + shift) / list.rowHeight));
  return { first, count: Math.max(0, count), shift };
}

/** The top that shows `row` whole, as near to `top` as possible. */
export function reveal(row: number, top: number, list: List): number {
  const fits = list.height / list.rowHeight;
  if (row < top) return clampTop(row, list);
  if (row + 1 > top + fits) return clampTop(row + 1 - fits, list);
  return clampTop(top, list);
}
