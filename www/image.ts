// The bytes of an image that a loader makes of a file. What of them comes from the file is selected there as well, and what is
// selected in the file is selected here.

import { type ByteSpace, copied, fromHere, type Range, range, type Search, type Spot, spotOf } from './bytes.ts';
import { isAbort } from './client.ts';
import { parsePattern, scan } from './find.ts';
import type { ImageMap } from './protocol.ts';
import type { Leaves } from './ribbon.ts';
import type { Change, Session } from './session.ts';
import { parseOffset } from './text.ts';

/** Segments that are looked through for the place of a byte of the file. */
const SEGMENTS = 1000;

/** A piece of an image and the bytes of the file that it is made of. */
export interface Piece {
  offset: number;
  file: Range;
}

/** Where in the image the byte at `offset` of the file is; null where it is in no piece. */
export function inImage(pieces: readonly Piece[], offset: number): number | null {
  const piece = pieces.find(({ file }) => offset >= file.offset && offset < file.offset + file.size);
  return piece ? piece.offset + (offset - piece.file.offset) : null;
}

/** The first of `low` to `high` (exclusive) for which `is` says no, if it says yes for all before it. */
export async function firstNot(low: number, high: number, is: (at: number) => Promise<boolean>): Promise<number> {
  let [yes, no] = [low, high];
  while (yes < no) {
    const middle = Math.floor((yes + no) / 2);
    if (await is(middle)) yes = middle + 1;
    else no = middle;
  }
  return yes;
}

/** The address in hexadecimal digits, without `0x` and zeros before it; null where nothing is typed, undefined where that is none. */
export function parseAddress(text: string): string | null | undefined {
  const word = text.trim().replaceAll('_', '');
  if (word === '') return null;
  return /^(?:0x)?0*([0-9a-f]{1,16})$/i.exec(word)?.[1]?.toLowerCase();
}

export class ImageSpace implements ByteSpace {
  readonly key: string;
  readonly size: number;
  readonly leaves: Leaves;
  readonly roles: readonly string[];
  readonly margins = { own: 'in the image', part: 'in the part', other: 'in the file' };
  readonly session: Session;
  readonly bySegments: boolean;
  #base: string | null = null;
  #selection: Range = { offset: 0, size: 0 };
  #spot: Spot | null = null;
  readonly #listeners = new Set<(change: Change) => void>();
  #quiet: (() => void) | undefined;
  #asking: AbortController | undefined;
  /** What this has selected in the file: it comes back as a change, which is then not the person's. */
  #sent: Range | null = null;
  #pieces: Promise<Piece[]> | undefined;
  /** Where the bytes of the file end in a part, by where the part begins. */
  readonly #ends = new Map<number, number>();

  constructor(session: Session, bySegments: boolean, { info, roles, leaves }: ImageMap) {
    this.session = session;
    this.bySegments = bySegments;
    this.key = bySegments ? 'load_image' : 'image';
    this.size = Number(info.size);
    this.roles = roles;
    this.leaves = leaves;
  }

  get selection(): Range {
    return this.#selection;
  }

  get spot(): Spot | null {
    return this.#spot;
  }

  /** The address that it is loaded at, in hexadecimal digits: its bytes are then as a loader leaves them. Null: as the file has them. */
  get base(): string | null {
    return this.#base;
  }

  set base(base: string | null) {
    if (base === this.#base) return;
    this.#base = base;
    // All that was read of it counts no more.
    this.#say('reopened');
  }

  read(offset: number, size: number, signal?: AbortSignal): Promise<Uint8Array> {
    return this.session.call('imageBytes', [this.bySegments, offset, size, this.#base ?? undefined], { signal });
  }

  async changed(offset: number, size: number, signal?: AbortSignal): Promise<readonly Range[]> {
    if (this.#base === null) return [];
    const patched = await this.session.call('patched', [offset, size], { signal });
    return patched ? Array.from(patched.offset, (at, i) => ({ offset: at, size: patched.size[i] ?? 0 })) : [];
  }

  async locate(offset: number, signal?: AbortSignal): Promise<Spot> {
    const { name, span, file_offset } = await this.#place(offset, signal);
    const part = range(span);
    const spot = { offset, path: [name], part, other: null, otherEnd: offset, record: null, field: null };
    if (file_offset === null) return spot;
    const at = Number(file_offset);
    const location = await this.session.call('locate', [at], { signal });
    const { path, record, field } = spotOf(location);
    const moved = (of: Range | null) => of && { offset: of.offset - at + offset, size: of.size };
    const otherEnd = await this.#end(part, offset);
    return { ...spot, path: [name, ...path.slice(1)], other: at, otherEnd, record: moved(record), field: moved(field) };
  }

  select(offset: number, size: number, isInView = false): void {
    const start = Math.min(Math.max(0, offset), Math.max(0, this.size - 1));
    this.#selection = { offset: start, size: Math.max(0, Math.min(size, this.size - start)) };
    this.#say('selection');
    if (!isInView) this.#say('reveal');
    void this.#know(async ({ other, otherEnd }) => {
      if (other === null) return;
      const sent = { offset: other, size: Math.min(this.#selection.size, otherEnd - start) };
      this.#sent = sent;
      this.session.select(sent.offset, sent.size);
    });
  }

  async goTo(expression: string): Promise<void> {
    const there = fromHere(expression, this);
    if (there !== null) return this.select(there, 1);
    const offset = parseOffset(expression.replace(/^\s*image:/, this.bySegments ? '$&' : ''));
    if (offset !== null && offset < this.size) return this.select(offset, 1);
    const { span } = await this.session.call('resolve', [expression]);
    const at = await this.#fromFile(Number(span.offset));
    if (at === null) throw new Error('the image has no such bytes');
    this.select(at, Math.max(1, Number(span.size)));
  }

  async search(pattern: string, isHex: boolean, start: number, isBackwards: boolean, options: Search) {
    const read = this.read.bind(this);
    return scan(read, this.size, parsePattern(pattern, isHex), start, isBackwards, options);
  }

  async save({ offset, size }: Range, options: Search): Promise<{ blob: Blob; name: string }> {
    const which = size === this.size ? '' : `.${offset.toString(16)}-${(offset + size).toString(16)}`;
    const at = this.#base === null ? '' : `@${this.#base}`;
    return {
      blob: await copied(this, { offset, size }, options),
      name: `${this.session.name}.${this.bySegments ? 'segments' : 'image'}${at}${which}.bin`,
    };
  }

  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#quiet) {
      this.#quiet = this.session.listen((change) => this.#hear(change));
      void this.#follow();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#quiet?.();
      this.#quiet = undefined;
    };
  }

  #place(offset: number, signal?: AbortSignal) {
    return this.session.call('imageLocate', [this.bySegments, offset], { signal });
  }

  /** Where the bytes of the file end of which `offset` is one. */
  async #end(part: Range, offset: number): Promise<number> {
    const known = this.#ends.get(part.offset);
    if (known !== undefined && known > offset) return known;
    const has = async (at: number) => (await this.#place(at)).file_offset !== null;
    const last = part.offset + part.size;
    const end = (await has(last - 1)) ? last : await firstNot(offset, last, has);
    this.#ends.set(part.offset, end);
    return end;
  }

  #hear(change: Change): void {
    if (change === 'selection' || change === 'location') {
      const { offset, size } = this.session.selection;
      // A field is chosen within what is selected here.
      if (this.#sent?.offset === offset && this.#sent.size === size) return;
      this.#sent = null;
      // Where the byte is in the image is known when it has been located.
      if (change === 'selection' && !this.bySegments && this.#isNew(offset)) return;
      void this.#follow();
    } else if (change === 'reopened') {
      this.#say(change);
    }
  }

  #isNew(offset: number): boolean {
    return Number(this.session.location.offset) !== offset;
  }

  /** Selects here what is selected in the file. */
  async #follow(): Promise<void> {
    const { offset, size } = this.session.selection;
    const at = await this.#fromFile(offset);
    if (this.session.selection.offset !== offset) return;
    if (at === null) {
      this.#asking?.abort();
      this.#selection = { ...this.#selection, size: 0 };
      this.#spot = null;
      this.#say('selection');
      return;
    }
    this.#selection = { offset: at, size: Math.min(size, this.size - at) };
    this.#say('selection');
    this.#say('reveal');
    void this.#know();
  }

  async #fromFile(offset: number): Promise<number | null> {
    if (this.bySegments) {
      this.#pieces ??= this.#segments();
      return inImage(await this.#pieces, offset);
    }
    const { image_offset } = this.#isNew(offset) ? await this.session.call('locate', [offset]) : this.session.location;
    return image_offset === null || image_offset === undefined ? null : Number(image_offset);
  }

  async #segments(): Promise<Piece[]> {
    const [columns, { rows, offset, size }] = await Promise.all([
      this.session.call('columns', ['load_image']),
      this.session.call('rows', ['load_image', 0, SEGMENTS]),
    ]);
    const at = columns.findIndex(({ key }) => key === 'offset');
    return rows.map((row, i) => ({ offset: Number(row[at]), file: { offset: offset[i] ?? 0, size: size[i] ?? 0 } }));
  }

  /** Learns what the selection's first byte is. */
  async #know(then?: (spot: Spot) => Promise<void>): Promise<void> {
    this.#asking?.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    try {
      const spot = await this.locate(this.#selection.offset, signal);
      if (signal.aborted) return;
      this.#spot = spot;
      this.#say('location');
      await then?.(spot);
    } catch (error) {
      if (!isAbort(error)) this.session.onNotice(error instanceof Error ? error.message : String(error));
    }
  }

  #say(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}
