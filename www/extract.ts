// Members as files, in the worker: one as it is, several as a zip file whose entries are stored as they are. Pure.

import type { Extracted } from '../pkg/kernelscope.js';
import type { Steps } from './steps.ts';
import { count, name } from './text.ts';

/** Something to save. */
export interface Saved {
  blob: Blob;
  /** What it is to be called. */
  name: string;
  /** How many members that is. */
  count: number;
  /** Members that cannot be had or are not what they should be, by their paths, and why. */
  problems: { path: string; why: string }[];
}

/** What the core does of it: one member is open at a time. */
export interface Extractor {
  extract(base: string, rows: Uint32Array | undefined): number;
  extractStep(budget: number): boolean;
  extractNext(): Extracted | undefined;
  extractBytes(size: number): Uint8Array;
  extractHeader(): Uint8Array;
  extractEnd(): Uint8Array;
}

/** Members whose problems are told in words. */
const TOLD = 3;
/** Bytes that are unpacked or copied at once. */
const PIECE = 4 << 20;

const blobOf = (bytes: Uint8Array) => new Blob([bytes as Uint8Array<ArrayBuffer>]);

/**
 * The members of these rows of a file that is called so, or all that hold no others. What lies as it is in `whole`, the file that
 * was dropped, is not copied; the browser keeps the rest where it likes.
 */
export function* extracted(file: Extractor, whole: Blob, called: string, rows: Uint32Array | undefined): Steps<Saved> {
  const total = file.extract(baseOf(called), rows);
  const isOne = rows?.length === 1;
  const parts: Blob[] = [];
  const problems: Saved['problems'] = [];
  let saved = `${called}.members.zip`;
  let [done, count] = [0, 0];
  try {
    for (;;) {
      while (!file.extractStep(PIECE)) yield { done: Math.min(done, total), total };
      const next = file.extractNext();
      if (!next) break;
      if (next.problem) problems.push({ path: next.path, why: next.problem });
      if (!next.is_there) continue;
      const pieces: Blob[] = [];
      for (let at = 0; at < next.size; ) {
        const piece = file.extractBytes(PIECE);
        if (next.origin === null) pieces.push(blobOf(piece));
        at += piece.length;
        done += piece.length;
        yield { done: Math.min(done, total), total };
      }
      if (next.origin !== null) pieces.push(whole.slice(next.origin, next.origin + next.size));
      if (isOne) saved = next.name;
      else parts.push(blobOf(file.extractHeader()));
      parts.push(...pieces);
      count += 1;
    }
  } finally {
    const end = file.extractEnd();
    if (!isOne) parts.push(blobOf(end));
  }
  if (count === 0) throw new Error(problems[0]?.why ?? 'there are no members to save');
  return { blob: new Blob(parts), name: saved, count, problems };
}

/** The first few of them in words, and how many more there are. */
export function problemWords(problems: Saved['problems']): string {
  const first = problems.slice(0, TOLD).map(({ path, why }) => `${name(path, 40)} (${name(why, 100)})`);
  const rest = problems.length - first.length;
  return `${first.join('; ')}${rest > 0 ? `; and ${count(rest)} more` : ''}.`;
}

/** `libfoo` of `libfoo.so`: what files of its members are called after. */
export function baseOf(name: string): string {
  return name.replace(/(?<=.)\.[^.]*$/, '');
}
