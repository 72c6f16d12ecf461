// Bytes that can be shown and selected: those of a file, or of an image that a loader makes of it (image.ts).

import type { Field, Int, Location, Progress, StructRecord } from './protocol.ts';
import type { Leaves } from './ribbon.ts';
import type { Change, Session } from './session.ts';
import { hex, name, parseOffset } from './text.ts';

export interface Range {
  offset: number;
  size: number;
}

/** What is known of a byte. */
export interface Spot {
  offset: number;
  /** The part, the structure and the field that have it, from the outside in. */
  path: string[];
  /** The part's bytes. */
  part: Range;
  /** Its offset in the file where the bytes are an image's, and in the image where they are the file's; null where it is not there. */
  other: number | null;
  /** Where that ends: up to there, both count alike. */
  otherEnd: number;
  /** The bytes of the structure and of the field that have it. */
  record: Range | null;
  field: Range | null;
}

/** How a margin counts: from the first byte, from the first byte of the part, or as the other space does. */
export type Margin = 'own' | 'part' | 'other';

export interface ByteSpace {
  /** What the bytes are of: `file`, `image`. Names what is kept of the view. */
  readonly key: string;
  readonly size: number;
  readonly leaves: Leaves;
  readonly roles: readonly string[];
  /** What each margin is called. */
  readonly margins: Record<Margin, string>;
  readonly selection: Range;
  /** What is known of the selection's first byte; for a moment still that of the byte before. */
  readonly spot: Spot | null;
  read(offset: number, size: number, signal?: AbortSignal): Promise<Uint8Array>;
  locate(offset: number, signal?: AbortSignal): Promise<Spot>;
  /** Selects bytes, and unless they are in view already (`isInView`) brings them there. */
  select(offset: number, size: number, isInView?: boolean): void;
  /** Which of the bytes are not as the file has them, where that can be. */
  changed?(offset: number, size: number, signal?: AbortSignal): Promise<readonly Range[]>;
  /** Goes where an expression leads. Rejects with what is wrong with it. */
  goTo(expression: string): Promise<void>;
  /** The next match that begins at `start` or behind it; backwards, the last that begins before it. */
  search(pattern: string, isHex: boolean, start: number, isBackwards: boolean, options: Search): Promise<Range | null>;
  /** Bytes as something to save, and what to call it. */
  save(range: Range, options: Search): Promise<{ blob: Blob; name: string }>;
  /** Hears of changes until the function that is returned is called. */
  listen(listener: (change: Change) => void): () => void;
}

export interface Search {
  signal: AbortSignal;
  /** Says how far it has come. */
  progress(progress: Progress): void;
}

/** Where an expression that begins with a sign leads: it counts from the selection. Null for any other; throws where there are no bytes. */
export function fromHere(
  expression: string,
  { selection, size }: Pick<ByteSpace, 'selection' | 'size'>,
): number | null {
  const terms = /^\s*[+-]/.test(expression) ? (expression.match(/[+-][^+-]*/g) ?? []) : [];
  let at = selection.offset;
  for (const term of terms) {
    const by = parseOffset(term.slice(1));
    if (by === null) return null;
    at += term.startsWith('-') ? -by : by;
  }
  if (terms.length === 0) return null;
  if (at < 0) throw new Error(`${expression.trim()} from ${hex(selection.offset)} is before the first byte`);
  if (at >= size) throw new Error(`${expression.trim()} from ${hex(selection.offset)} is past the last byte`);
  return at;
}

export const range = ({ offset, size }: { offset: Int; size: Int }): Range => ({
  offset: Number(offset),
  size: Number(size),
});

/** The bytes that hold a field of a record. */
export function fieldRange(record: StructRecord, { bits: [msb, lsb] }: Field): Range {
  const first = Math.floor(lsb / 8);
  return { offset: Number(record.span.offset) + first, size: Math.floor(msb / 8) - first + 1 };
}

/** What the core says of a byte of the file, of whose records the one at `index` counts. */
export function spotOf({ offset, image_offset, parts, records }: Location, index = 0): Spot {
  const at = Number(offset);
  const [part] = parts;
  const record = records[index];
  const bit = (at - Number(record?.span.offset ?? 0)) * 8;
  const field = record?.fields.find(
    ({ bits: [msb, lsb], alternative_of }) => !alternative_of && lsb < bit + 8 && msb >= bit,
  );
  return {
    offset: at,
    path: [part?.name, record?.name, field?.name].filter((word) => word !== undefined).map((word) => name(word, 80)),
    part: part ? range(part.span) : { offset: at, size: 1 },
    other: image_offset === null || image_offset === undefined ? null : Number(image_offset),
    otherEnd: part ? Number(part.span.offset) + Number(part.span.size) : at + 1,
    record: record ? range(record.span) : null,
    field: record && field ? fieldRange(record, field) : null,
  };
}

/** Bytes that are asked for at once. */
const WINDOW = 4 << 20;

/** Bytes that only the reader has. */
export async function copied(space: ByteSpace, { offset, size }: Range, { signal, progress }: Search): Promise<Blob> {
  const parts: BlobPart[] = [];
  for (let done = 0; done < size; done += WINDOW) {
    const window = await space.read(offset + done, Math.min(WINDOW, size - done), signal);
    parts.push(window as Uint8Array<ArrayBuffer>);
    progress({ done: Math.min(size, done + WINDOW), total: size });
  }
  return new Blob(parts);
}

/** The bytes of a session's file. */
export class FileSpace implements ByteSpace {
  readonly key = 'file';
  readonly margins = { own: 'in the file', part: 'in the part', other: 'in the image' };
  readonly session: Session;

  constructor(session: Session) {
    this.session = session;
  }

  get size(): number {
    return this.session.size;
  }

  get leaves(): Leaves {
    return this.session.leaves;
  }

  get roles(): readonly string[] {
    return this.session.roles;
  }

  get selection(): Range {
    return this.session.selection;
  }

  get spot(): Spot | null {
    const { location, recordIndex, selection } = this.session;
    if (location.parts.length === 0) return null;
    // A field that is chosen lies in the record that the location knows, and has an offset of its own.
    const by = selection.field === null ? 0 : selection.offset - Number(location.offset);
    const { image_offset } = location;
    const moved = {
      ...location,
      offset: Number(location.offset) + by,
      image_offset: image_offset === null || image_offset === undefined ? null : Number(image_offset) + by,
    };
    return spotOf(moved, recordIndex);
  }

  read(offset: number, size: number, signal?: AbortSignal): Promise<Uint8Array> {
    return this.session.call('bytes', [offset, size], { signal });
  }

  async locate(offset: number, signal?: AbortSignal): Promise<Spot> {
    return spotOf(await this.session.call('locate', [offset], { signal }));
  }

  select(offset: number, size: number, isInView = false): void {
    this.session.select(offset, size, isInView);
  }

  async goTo(expression: string): Promise<void> {
    const there = fromHere(expression, this);
    if (there !== null) return this.session.select(there, 1);
    // As the margin has it, `000584`; a word of hexadecimal digits alone can be a name, too.
    const offset = parseOffset(expression);
    const isOffset = offset !== null && offset < this.size;
    if (isOffset && /^\s*\d/.test(expression)) return this.session.select(offset, 1);
    try {
      const { span } = await this.session.call('resolve', [expression]);
      this.session.select(Number(span.offset), Math.max(1, Number(span.size)));
    } catch (error) {
      if (!isOffset) throw error;
      this.session.select(offset, 1);
    }
  }

  async search(pattern: string, isHex: boolean, start: number, isBackwards: boolean, options: Search) {
    const found = await this.session.call('search', [pattern, isHex, start, isBackwards], options);
    return found && range(found);
  }

  async save({ offset, size }: Range, options: Search): Promise<{ blob: Blob; name: string }> {
    const { source, name, origin } = this.session;
    const { blob, member } = source;
    // A dump may be text: its bytes are those that have been read of it. A member may be compressed.
    const isThere = member ? origin !== null : blob.size === this.size;
    const start = (origin ?? 0) + offset;
    return {
      blob: isThere ? blob.slice(start, start + size) : await copied(this, { offset, size }, options),
      name: `${name}.${offset.toString(16)}-${(offset + size).toString(16)}.bin`,
    };
  }

  listen(listener: (change: Change) => void): () => void {
    return this.session.listen(listener);
  }
}
