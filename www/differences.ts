// Where two images of a file differ. Pure.

import type { ByteRun, Progress } from './protocol.ts';

/** An image whose bytes can be read, and the address of its first one. */
export interface Readable {
  address: bigint;
  size: number;
  read(offset: number, size: number): Uint8Array;
}

export interface Differences {
  runs: ByteRun[];
  /** Whether these are all. */
  isComplete: boolean;
}

/** Bytes that are compared at once. */
const STEP = 1 << 20;
/** Bytes that are compared, at most: an image can be as long as a number says. */
export const LIMIT = 1 << 30;
/** As many equal bytes between two runs part them. */
const APART = 16;

/**
 * Up to `most` runs of bytes in which `a` and `b` differ, in steps. Bytes of the same address are compared, where both images
 * have any; offsets count from the beginning of `a`.
 */
export function* differences(a: Readable, b: Readable, most: number): Generator<Progress, Differences, undefined> {
  const ahead = Number(a.address - b.address);
  const start = Math.max(0, -ahead);
  const end = Math.min(a.size, b.size - ahead);
  const stop = Math.min(end, start + LIMIT);
  const runs: ByteRun[] = [];
  for (let at = start; at < stop; at += STEP) {
    const size = Math.min(STEP, stop - at);
    const [left, right] = [a.read(at, size), b.read(at + ahead, size)];
    for (let i = 0; i < size; i++) {
      if (left[i] === right[i]) continue;
      const last = runs.at(-1);
      if (last && at + i - (last.offset + last.size) < APART) last.size = at + i + 1 - last.offset;
      else if (runs.length === most) return { runs, isComplete: false };
      else runs.push({ offset: at + i, size: 1 });
    }
    yield { done: at + size - start, total: stop - start };
  }
  return { runs, isComplete: stop >= end };
}
