// The worker: owns the wasm module and the files that are open.

import init, { Handle, type MapColumns, roles } from '../pkg/kernelscope.js';
import { copyRows } from './copy.ts';
import { derive, underived, withDerived } from './derived.ts';
import { differences, type Readable } from './differences.ts';
import { baseOf, extracted } from './extract.ts';
import { foldsOf, gathered, indexIn, rowAt, unfolded } from './fold.ts';
import type { Call, Calls, FromWorker, Opened, Query, Request, Told, ToWorker, Window } from './protocol.ts';
import type { Leaves } from './ribbon.ts';
import { length, type Runs } from './runs.ts';
import { sizeView } from './sizes.ts';
import { CANCELLED, run, type Steps, turn } from './steps.ts';

// Messages come before the module is there, so they are heard from the start and wait for it.
const ready = init();
const files = new Map<number, Handle>();
/** What each of them was dropped as, or lies in. */
const blobs = new WeakMap<Handle, Blob>();
/** By file and table, the rows of a tree that are left where some are folded away. */
const left = new WeakMap<Handle, Map<string, Runs>>();
const running = new Set<number>();
/** Bytes that are unpacked at once as a member is opened. */
const PIECE = 1 << 20;
const pace = { slice: 12, now: () => performance.now(), yield: turn() };

type Answers = {
  [C in Call]: (file: Handle, ...args: Parameters<Calls[C]>) => ReturnType<Calls[C]> | Steps<ReturnType<Calls[C]>>;
};

const answers: Omit<Answers, 'open' | 'openPath' | 'close'> = {
  *check(file) {
    for (;;) {
      const { done, total, finished } = file.check(20_000);
      if (finished) return file.summary();
      yield { done: Number(done), total: Number(total) };
    }
  },
  *extract(file, runs, name) {
    const indices = runs?.flatMap(([from, to]) => rows(file, 'members')(from, to - from).index);
    return yield* extracted(file, blobs.get(file) ?? new Blob(), name, indices && Uint32Array.from(indices));
  },
  *survey(file, milliseconds) {
    const end = performance.now() + milliseconds;
    let progress = file.survey(0);
    while (!progress.finished && performance.now() < end) {
      progress = file.survey(1 << 20);
      yield { done: Number(progress.done), total: Number(progress.total) };
    }
    return { progress, summary: file.summary() };
  },
  *carve(file, isMore) {
    while (isMore) {
      const { done, total, finished } = file.carve(4 << 20);
      if (finished) break;
      yield { done: Number(done), total: Number(total) };
    }
    return told(file);
  },
  foundKernel: (file, row, column) => file.foundKernel(row, column) ?? null,
  text: (file, table, row, column) => file.text(table, row, column),
  memberAt: (file, path) => file.memberAt(path) ?? null,
  columns: (file, table) => withDerived(table, file.columns(table)),
  *query(file, table, query: Query) {
    const { sort, descending, filter, folds } = underived(table, query);
    file.query(table, sort ?? undefined, descending, filter);
    for (;;) {
      const { done, total, finished } = file.prepare(table, 10_000);
      if (finished) {
        const { matched } = file.rows(table, 0, 0);
        const of = left.get(file) ?? new Map<string, Runs>();
        left.set(file, of);
        if (!folds || folds.size === 0) {
          of.delete(table);
          return matched;
        }
        const runs = unfolded(folds, matched);
        of.set(table, runs);
        return length(runs);
      }
      yield { done: Number(done), total: Number(total) };
    }
  },
  rows: (file, table, start, count) => rows(file, table)(start, count),
  list: (file, table, start, count) => file.list(table, start, count),
  copyRows: (file, table, columns, runs, form) =>
    copyRows(rows(file, table), withDerived(table, file.columns(table)), columns, runs, form),
  position(file, table, index) {
    const runs = left.get(file)?.get(table);
    return (runs ? indexIn(runs, index) : file.position(table, index)) ?? null;
  },
  folds(file, table, depth, from, to) {
    const columns = file.columns(table);
    const at = (key: string) => columns.findIndex((column) => column.key === key);
    const [deep, next] = [at('depth'), at('next')];
    return foldsOf(
      (start, count) => file.list(table, start, count).rows.map((row) => [Number(row[deep]), Number(row[next])]),
      depth,
      from,
      to,
    );
  },
  sizes: (file, row, measure, most) =>
    sizeView((table, start, count) => file.list(table, start, count), file.columns('size'), row, measure, most),
  rowAt(file, table, offset) {
    const row = (at: number) => {
      const { offset, size } = file.list(table, at, 1);
      return { offset: offset[0] ?? 0, size: size[0] ?? 0 };
    };
    return rowAt(row, file.list(table, 0, 0).matched, offset);
  },
  bytes: (file, offset, size) => file.bytes(offset, size),
  image: (file, bySegments) => file.image(bySegments) ?? null,
  imageBytes: (file, bySegments, offset, size, base) => file.imageBytes(bySegments, offset, size, base),
  patched(file, from, many) {
    const columns = file.patched(from, many);
    if (!columns) return null;
    const { offset, size, row } = columns;
    columns.free();
    return { offset, size, row };
  },
  bank0: (file, kernel) => file.bank0(kernel),
  bank0At: (file, kernel, offset) => file.bank0At(kernel, offset) ?? null,
  imageMap(file, bySegments) {
    const info = file.image(bySegments);
    const columns = file.imageMap(bySegments);
    return info && columns ? { info, roles: roles(), leaves: leaves(columns) } : null;
  },
  imageLocate: (file, bySegments, offset) => file.imageLocate(bySegments, offset),
  differences(file, most) {
    const [held, loaded] = [readable(file, false), readable(file, true)];
    return held && loaded ? differences(held, loaded, most) : { runs: [], isComplete: true };
  },
  locate: (file, offset) => file.locate(offset),
  resolve: (file, expression) => file.resolve(expression),
  *suggest(file, words, most) {
    file.suggest(words, most);
    for (;;) {
      const { done, total, finished } = file.suggestStep(10_000);
      if (finished) return file.suggestions();
      yield { done: Number(done), total: Number(total) };
    }
  },
  print: (file, offset, form, index) => file.print(offset, form, index),
  kernel: (file, index) => file.kernel(index) ?? null,
  kernarg: (file, kernel) => file.kernarg(kernel) ?? null,
  printKernarg: (file, kernel, form) => file.printKernarg(kernel, form),
  launch: (file, kernel, inputs) => file.launch(kernel, inputs) ?? null,
  printMade: (file, kernel, inputs, key, form) => file.printMade(kernel, inputs, key, form),
  occupancy: (file, kernel, inputs) => file.occupancy(kernel, inputs) ?? null,
  directives: (file, kernel) => file.directives(kernel) ?? null,
  *statistics(file, kernel) {
    file.count(kernel);
    for (;;) {
      const { done, total, finished } = file.countStep(20_000);
      if (finished) return file.counted() ?? null;
      yield { done: Number(done), total: Number(total) };
    }
  },
  diagnostics: (file) => file.diagnostics(),
  *search(file, pattern, isHex, start, isBackwards) {
    const size = Number(file.summary().size);
    const from = Math.min(start, size);
    const total = isBackwards ? from : size - from;
    file.search(pattern, isHex, from, isBackwards);
    for (;;) {
      const { span, next, finished } = file.searchStep(4 << 20);
      if (span || finished) return span ?? null;
      yield { done: Math.abs(Number(next) - from), total };
    }
  },
  report: (file) => file.report(),
};

/** Reads rows of a table's query. */
function rows(file: Handle, table: string): (start: number, count: number) => Window {
  const columns = () => file.columns(table);
  const size = () => Number(file.summary().size);
  const read = (start: number, count: number) => file.rows(table, start, count);
  const runs = left.get(file)?.get(table);
  const window = runs ? gathered(read, runs) : read;
  return (start, count) => derive(table, columns, window(start, count), size);
}

function leaves(columns: MapColumns): Leaves {
  const { offset, size, role, shared } = columns;
  columns.free();
  return { offset, size, role, shared };
}

function readable(file: Handle, bySegments: boolean): Readable | null {
  const info = file.image(bySegments);
  if (!info) return null;
  const read = (offset: number, size: number) => file.imageBytes(bySegments, offset, size);
  return { address: BigInt(info.address), size: Number(info.size), read };
}

function open(number: number, ...[blob, options]: Parameters<Calls['open']>): ReturnType<Calls['open']> {
  return opened(number, options == null ? Handle.fromBlob(blob) : Handle.decode(blob, options), blob, null);
}

function* openPath(number: number, ...[of, path, name]: Parameters<Calls['openPath']>): Steps<Opened> {
  const outer = known(of);
  const blob = blobs.get(outer);
  const opening = outer.beginPath(path);
  try {
    for (;;) {
      const member = opening.step(PIECE);
      if (member) {
        // It may have been closed meanwhile, and is not needed but for that.
        const fileName = files.get(of)?.fileName(path, baseOf(name), member) ?? null;
        return opened(number, member, blob, fileName);
      }
      const { done, total } = opening.progress();
      yield { done: Number(done), total: Number(total) };
    }
  } finally {
    opening.free();
  }
}

function opened(number: number, file: Handle, blob: Blob | undefined, fileName: string | null): Opened {
  close(number);
  files.set(number, file);
  if (blob) blobs.set(file, blob);
  const origin = file.origin ?? null;
  return { ...told(file), start: file.locate(0), origin, fileName };
}

/** What is known of a file so far. */
function told(file: Handle): Told {
  return { summary: file.summary(), roles: roles(), leaves: leaves(file.map()) };
}

/** The file that is open under that number. */
function known(number: number): Handle {
  const file = files.get(number);
  if (!file) throw new Error('this file is not open');
  return file;
}

function close(number: number): null {
  files.get(number)?.free();
  files.delete(number);
  return null;
}

function answer({ file: number, call, args }: Request): unknown {
  if (call === 'open') return open(number, ...(args as Parameters<Calls['open']>));
  if (call === 'openPath') return openPath(number, ...(args as Parameters<Calls['openPath']>));
  if (call === 'close') return close(number);
  // The table of answers has each call with its own arguments, which the type of one call among many cannot say.
  return (answers[call] as (file: Handle, ...args: unknown[]) => unknown)(known(number), ...args);
}

function say(message: FromWorker): void {
  self.postMessage(message);
}

async function handle(request: Request): Promise<void> {
  const { seq } = request;
  running.add(seq);
  try {
    await ready;
    let value = answer(request);
    if (isSteps(value)) {
      const said = (progress: { done: number; total: number }) => say({ seq, progress });
      value = await run(value, () => !running.has(seq), said, pace);
    }
    if (value !== CANCELLED) say({ seq, answer: value });
  } catch (error) {
    // Whatever comes out of a trap leaves the instance's memory in a state that nobody knows.
    if (error instanceof WebAssembly.RuntimeError) say({ seq, trap: error.message });
    else say({ seq, error: error instanceof Error ? error.message : String(error) });
  } finally {
    running.delete(seq);
  }
}

function isSteps(value: unknown): value is Steps<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && 'next' in value;
}

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if ('cancel' in data) running.delete(data.cancel);
  else void handle(data);
};
