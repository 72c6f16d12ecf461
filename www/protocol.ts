// The conversation between a page and the worker that owns the wasm module.
//
// A request has a sequence number; what the worker says about it carries that number: any number of times how far it has
// come, then once an answer or an error. A request that nobody waits for any more is cancelled, and whatever still
// comes for it is dropped (client.ts). Long work is done in steps, between which the worker hears other requests (steps.ts).

import type {
  BankPart,
  BankPlace,
  CodeStatistics,
  Column as CoreColumn,
  Diagnostic,
  Directives,
  FoundKernel,
  ImageInfo,
  ImageLocation,
  KernelDetail,
  Launch,
  Location,
  OccupancyAnswer,
  Span,
  Record as StructRecord,
  Suggestion,
  Summary,
  Target,
  Unit,
  Window,
} from '../pkg/kernelscope.js';
import type { RowsForm } from './copy.ts';
import type { Differences } from './differences.ts';
import type { Saved } from './extract.ts';
import type { Folds } from './fold.ts';
import type { Leaves } from './ribbon.ts';
import type { Runs } from './runs.ts';
import type { Measure, SizeView } from './sizes.ts';
import type { Surveyed } from './survey.ts';

export type {
  BankPart,
  BankPlace,
  Cell,
  CodeStatistics,
  Diagnostic,
  Directives,
  Field,
  ImageInfo,
  ImageLocation,
  Input as LaunchInput,
  Int,
  KernelDetail,
  Launch,
  Location,
  Made,
  OccupancyAnswer,
  Origin,
  PartInfo,
  Problem,
  Record as StructRecord,
  Slot,
  Span,
  StallRun,
  Suggestion,
  Summary,
  SurveyProgress,
  TableInfo,
  Target,
  Window,
} from '../pkg/kernelscope.js';

/** A column of a table: of the core's, or one that follows from others (derived.ts). A `share` is a part of 1. */
export type Column = Omit<CoreColumn, 'unit'> & { unit: Unit | 'share' };

/** Which rows of a table, in which order. */
export interface Query {
  sort: string | null;
  descending: boolean;
  filter: string;
  /** Of a tree in its own order, what is folded away (fold.ts). */
  folds?: Folds | undefined;
}

/** What is known of a file, and may be more later. */
export interface Told {
  summary: Summary;
  /** The words for the numbers in `leaves.role`. */
  roles: string[];
  leaves: Leaves;
}

/** What the first view of a file needs. */
export interface Opened extends Told {
  /** What is known of the first byte, which is selected at first. */
  start: Location;
  /** Where its first byte lies in the file that was dropped; null where it was unpacked. */
  origin: number | null;
  /** What a member is called as a file; null for what is no member. */
  fileName: string | null;
}

/** An image as the map has a file: its pieces, and the zeros between them. */
export interface ImageMap {
  info: ImageInfo;
  /** The words for the numbers in `leaves.role`. */
  roles: string[];
  leaves: Leaves;
}

/** Some bytes of an image. */
export interface ByteRun {
  offset: number;
  size: number;
}

/** Patches of an image, a column each, in the order in which they are written. */
export interface Patched {
  offset: Float64Array;
  size: Float64Array;
  /** Rows of the table `patches/BASE`. */
  row: Uint32Array;
}

/** What can be asked of a file, with what it is asked by, and the answer. */
export type Calls = {
  /** With `options`, bytes that somebody has dumped, or text that has them: `as=pushbuffer;class=C6C0`. */
  open(blob: Blob, options?: string | null): Opened;
  /**
   * Long. Opens the member of that path of another file, which is open under the number `of` and called `name`; also of members whose own
   * members are known only when they are unpacked.
   */
  openPath(of: number, path: string, name: string): Opened;
  close(): null;
  /** Long. Members as something to save, of a file of that name: those in `runs` of the table's query, or all (extract.ts). */
  extract(runs: Runs | null, name: string): Saved;
  /**
   * Goes on opening the members that are code, for their kernels and for which are the same, for about so many milliseconds; tables
   * have what is known so far. For none, only tells how far that has come.
   */
  survey(milliseconds: number): Surveyed;
  /**
   * Long. Looks through the whole file for GPU code that no header tells of; without `isMore` not any further. What is found are members
   * behind the others, also where it is given up.
   */
  carve(isMore: boolean): Told;
  /** Where the kernel is that a cell of the table `across` is about. */
  foundKernel(row: number, column: string): FoundKernel | null;
  /** All of a cell's text, of which rows have the beginning. */
  text(table: string, row: number, column: string): string;
  /** The row of the member of that path, or of the nearest one around it; null where nothing is. */
  memberAt(path: string): number | null;
  /** Long. Runs the checks that read whole tables. */
  check(): Summary;
  columns(table: string): Column[];
  /** Long. Sorts and filters; the table's rows are then those of the query. Returns how many there are. */
  query(table: string, query: Query): number;
  rows(table: string, start: number, count: number): Window;
  /** Rows in the table's own order, whatever its query is. */
  list(table: string, start: number, count: number): Window;
  /** Long. The rows in `runs` of the table's query, of those columns, as text; only so many (copy.ts). */
  copyRows(table: string, columns: string[], runs: Runs, form: RowsForm): string;
  position(table: string, index: number): number | null;
  /** Of a tree: folds that leave the rows that lie in at most `depth` others; of the rows from `from` to `to`, if these are given. */
  folds(table: string, depth: number, from?: number, to?: number): Folds;
  /** What is to be shown of a row of the table `size`, in `most` rectangles at most (sizes.ts). */
  sizes(row: number, measure: Measure, most: number): SizeView;
  /** The last row of a table in the order of bytes that is read from the byte at `offset`; null where none is. */
  rowAt(table: string, offset: number): number | null;
  bytes(offset: number, size: number): Uint8Array;
  image(bySegments: boolean): ImageInfo | null;
  /** Bytes of an image; with `base`, an address in hexadecimal digits, as a loader leaves them there. */
  imageBytes(bySegments: boolean, offset: number, size: number, base?: string): Uint8Array;
  /** Which bytes of the image a loader changes; the table `patches/BASE` says how. Null where no loader is known. */
  patched(offset: number, size: number): Patched | null;
  /** The parts of constant bank 0 of a kernel, by the kernel's index, and what is at an offset of it. */
  bank0(kernel: number): BankPart[];
  bank0At(kernel: number, offset: number): BankPlace | null;
  imageMap(bySegments: boolean): ImageMap | null;
  /** What is at an offset of an image. Rejects past its end. */
  imageLocate(bySegments: boolean, offset: number): ImageLocation;
  /**
   * Long. Up to `most` runs of bytes in which the images differ that the sections and the segments make. Bytes of the same
   * address are compared, where both images have any; offsets count in the image by sections.
   */
  differences(most: number): Differences;
  locate(offset: number): Location;
  /**
   * Where an expression leads: `0x40`, `image:0x180`, the name of a section, symbol or kernel, `.text.vadd+0x20`. Rejects with
   * what is wrong.
   */
  resolve(expression: string): Target;
  /** Long. The kernels, sections and symbols whose names have all `words`, the best first, `most` at most. */
  suggest(words: string, most: number): Suggestion[];
  /** The structure of that index at `offset` in print. */
  print(offset: number, form: Form, index: number): string;
  kernel(index: number): KernelDetail | null;
  /** What a dispatch passes to a kernel of a code object, which no file has; null of other kernels. And in print. */
  kernarg(kernel: number): StructRecord | null;
  printKernarg(kernel: number, form: Form): string;
  /** The descriptor of a kernel of a code object as text for LLVM's assembler. */
  directives(kernel: number): Directives | null;
  /** What a launch of a kernel hands to the GPU, for what was typed: `grid=4096;block=256`. Null where nothing is known of the GPU. */
  launch(kernel: number, inputs: string): Launch | null;
  /** The structure of that key that comes of it, in print. */
  printMade(kernel: number, inputs: string, key: string, form: Form): string;
  /** How many blocks or workgroups of a launch a unit of the GPU holds at once. */
  occupancy(kernel: number, inputs: string): OccupancyAnswer | null;
  /** Long. What the scheduling of a kernel's code comes to. Rejects where it is not known how the code is encoded. */
  statistics(kernel: number): CodeStatistics | null;
  diagnostics(): Diagnostic[];
  /** Long. The next match from `start` on, or backwards the last one that begins before it. */
  search(pattern: string, isHex: boolean, start: number, isBackwards: boolean): Span | null;
  report(): string;
};

export type Form = 'text' | 'json' | 'markdown' | 'c';

export type Call = keyof Calls;

export interface Request<C extends Call = Call> {
  seq: number;
  /** The number that the page has given to the file. */
  file: number;
  call: C;
  args: Parameters<Calls[C]>;
}

export type ToWorker = Request | { cancel: number };

export type FromWorker =
  | { seq: number; answer: unknown }
  | { seq: number; progress: Progress }
  | { seq: number; error: string }
  /** The wasm instance has trapped: whatever it says from now on is worth nothing. */
  | { seq: number; trap: string };

export interface Progress {
  done: number;
  total: number;
}
