// Where the bytes and the fields are, and how large: chosen by the person, remembered where the page has the window.

export const SIDES = ['below', 'right', 'none'] as const;
export type Side = (typeof SIDES)[number];

export interface Docking {
  side: Side;
  /** Pixels of height below; null before anyone has moved the edge. */
  height: number | null;
  /** Pixels of width at the right. */
  width: number | null;
  /** The bytes' share of the dock. */
  split: number;
}

export const DOCKING: Docking = { side: 'below', height: null, width: null, split: 0.485 };

export function isDocking(value: unknown): value is Docking {
  const { side, height, width, split } = (value ?? {}) as Partial<Docking>;
  const isLength = (length: unknown) => length === null || (typeof length === 'number' && length > 0);
  const isSide = (SIDES as readonly unknown[]).includes(side);
  return isSide && isLength(height) && isLength(width) && typeof split === 'number' && split > 0 && split < 1;
}

/** Pixels that the rest of the page keeps. */
const REST = 200;
const LEAST = 120;

/** The size that someone wants for the dock, within what the room allows. */
export function within(wanted: number, room: number): number {
  return Math.round(Math.min(Math.max(LEAST, wanted), Math.max(LEAST, room - REST)));
}
