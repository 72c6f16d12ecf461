// Long work in steps, so that whoever does it hears messages in between. Without a DOM or a worker, for the tests.

import type { Progress } from './protocol.ts';

/** Work that stops now and then to say how far it has come. */
export type Steps<T> = Generator<Progress, T, undefined>;

/** Says that the work was given up. */
export const CANCELLED = Symbol('cancelled');

export interface Pace {
  /** Milliseconds of work between two yields. */
  slice: number;
  now: () => number;
  /** Lets the messages that wait be handled. */
  yield: () => Promise<void>;
}

/** Does `work` at that pace. Between slices it says how far it has come, and stops if it is cancelled. */
export async function run<T>(
  work: Steps<T>,
  isCancelled: () => boolean,
  said: (progress: Progress) => void,
  pace: Pace,
): Promise<T | typeof CANCELLED> {
  for (;;) {
    const end = pace.now() + pace.slice;
    let step: IteratorResult<Progress, T>;
    do {
      step = work.next();
      if (step.done) return step.value;
    } while (pace.now() < end);
    said(step.value);
    await pace.yield();
    if (isCancelled()) {
      // What it holds is given up with it.
      work.return(undefined as T);
      return CANCELLED;
    }
  }
}

/** A turn of the event loop without the delay that nested timers get. */
export function turn(): () => Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.onmessage = () => waiting.shift()?.();
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      port2.postMessage(null);
    });
}
