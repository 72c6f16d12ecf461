// A place in a file as an address has it: `#src=a.cubin&view=kernels/0&at=0x584&select=ordinal`,
// `#src=a.cubin&view=launch/0&launch=grid:4096;block:256`. Pure.

import { fromAddress, toAddress } from './inputs.ts';
import type { Int, StructRecord } from './protocol.ts';
import { hex } from './text.ts';

export interface Place {
  /** The file, as an address on the page's own site; a file of the person's own has none. */
  src: string | null;
  /** What lies in that file, by its path there: `0!/2`. */
  member: string | null;
  /** The panel that is open, and what in it. */
  view: string | null;
  /** Where: an offset, or what else the core resolves (`.text.vadd+0x20`, `image:0x180`). */
  at: string | null;
  /** How many bytes are selected there, or the name of the field of the structure there. */
  select: string | null;
  /** What is typed in the form of that view: `grid=4096;block=256`. */
  launch: string | null;
  /** If the file is read as a dump, as what: `as=pushbuffer;class=C6C0`, or nothing where its bytes are to say so. */
  decode: string | null;
}

const KEYS = ['src', 'member', 'decode', 'view', 'at', 'select', 'launch'] as const;
/** A dump whose bytes say what it is. */
const AUTO = 'auto';

/** What a dump is read as, from what an address has of it. */
export function readDecode(words: string | null): string | null {
  return words === AUTO ? '' : words && fromAddress(words);
}

/** Reads a fragment, with or without its `#`; null where it names no place. */
export function parsePlace(fragment: string): Place | null {
  const words = new URLSearchParams(fragment.replace(/^#/, ''));
  const word = (key: (typeof KEYS)[number]) => words.get(key) || null;
  if (!KEYS.some(word)) return null;
  const launch = word('launch');
  return {
    src: word('src'),
    member: word('member'),
    decode: readDecode(word('decode')),
    view: word('view'),
    at: word('at'),
    select: word('select'),
    launch: launch && fromAddress(launch),
  };
}

/** The fragment of a place, without `#`. Slashes, colons, commas and semicolons stay readable. */
export function formatPlace(place: Place): string {
  const encode = (text: string) => encodeURIComponent(text).replace(/%(2F|3A|2C|3B)/g, decodeURIComponent);
  const words = {
    ...place,
    decode: place.decode === '' ? AUTO : place.decode && toAddress(place.decode),
    launch: place.launch && toAddress(place.launch),
  };
  return KEYS.flatMap((key) => (words[key] ? [`${key}=${encode(words[key])}`] : [])).join('&');
}

/** The place that a session shows. */
export interface Shown {
  view: string;
  /** What is typed in it. */
  typed: string;
  selection: { offset: number; size: number; field: number | null };
  record:
    | (Pick<StructRecord, 'name' | 'is_stored'> & { span: { offset: Int }; fields: readonly { name: string }[] })
    | null;
}

/** Where that is, in a file that comes from `address` and is read as `decode` says. */
export function placeOfShown(
  { view, typed, selection, record }: Shown,
  {
    address = null,
    member,
    decode = null,
  }: { address?: string | null; member?: { path: string }; decode?: string | null },
): Place {
  const field = selection.field === null ? undefined : record?.fields[selection.field];
  // Names in a structure can repeat (an array's entries), and one that is put together is nowhere; the bytes then say which.
  const isNamed = field && record?.is_stored && record?.fields.filter((one) => one.name === field.name).length === 1;
  const at = isNamed ? Number(record?.span.offset) : selection.offset;
  const select = isNamed ? field.name : selection.size === 1 ? null : String(selection.size);
  return { src: address, member: member?.path ?? null, decode, view, at: hex(at), select, launch: typed || null };
}
