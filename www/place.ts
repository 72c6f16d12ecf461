// A place in a file as an address has it: `#src=a.cubin&view=kernels/0&at=0x584&select=ordinal`. Pure.

import { hex } from './text.ts';

export interface Place {
  /** The file, as an address on the page's own site; a file of the person's own has none. */
  src: string | null;
  /** The panel that is open, and what in it. */
  view: string | null;
  /** Where: an offset, or what else the core resolves (`.text.vadd+0x20`, `image:0x180`). */
  at: string | null;
  /** How many bytes are selected there, or the name of the field of the structure there. */
  select: string | null;
}

const KEYS = ['src', 'view', 'at', 'select'] as const;

/** Reads a fragment, with or without its `#`; null where it names no place. */
export function parsePlace(fragment: string): Place | null {
  const words = new URLSearchParams(fragment.replace(/^#/, ''));
  const [src, view, at, select] = KEYS.map((key) => words.get(key) || null);
  if (!src && !view && !at && !select) return null;
  return { src: src ?? null, view: view ?? null, at: at ?? null, select: select ?? null };
}

/** The fragment of a place, without `#`. Slashes, colons and commas stay readable. */
export function formatPlace(place: Place): string {
  const encode = (text: string) => encodeURIComponent(text).replace(/%(2F|3A|2C)/g, decodeURIComponent);
  return KEYS.flatMap((key) => (place[key] ? [`${key}=${encode(place[key])}`] : [])).join('&');
}

/** The place that a session shows. */
export interface Shown {
  view: string;
  selection: { offset: number; size: number; field: number | null };
  record: { name: string; span: { offset: number | string }; fields: readonly { name: string }[] } | null;
}

export function placeOfShown({ view, selection, record }: Shown, src: string | null): Place {
  const field = selection.field === null ? undefined : record?.fields[selection.field];
  // Names in a structure can repeat (an array's entries); the bytes then say which.
  const isNamed = field && record?.fields.filter((one) => one.name === field.name).length === 1;
  const at = isNamed ? Number(record?.span.offset) : selection.offset;
  const select = isNamed ? field.name : selection.size === 1 ? null : String(selection.size);
  return { src, view, at: hex(at), select };
}
