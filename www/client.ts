// The page's side of the conversation with the worker (protocol.ts). One client, one worker and one wasm instance serve all
// elements of a page.

import type { Call, Calls, FromWorker, Progress, ToWorker } from './protocol.ts';

/** What a client needs of a worker. */
export interface WorkerLike {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<FromWorker>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

export interface Options {
  signal?: AbortSignal | undefined;
  /** Hears how far long work has come. */
  progress?: (progress: Progress) => void;
}

/** The reader stopped before it answered; it has been replaced. */
export class Stopped extends Error {
  override name = 'Stopped';
}

/** Whether the error only says that nobody waits any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** What people read of an error. */
export function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface Waiting {
  message: ToWorker & { seq: number };
  resolve: (answer: never) => void;
  reject: (error: unknown) => void;
  since: number;
  progress: Progress | null;
  said: Options['progress'];
}

/** A worker that has not said anything for so long, while something waits, counts as dead. */
const SILENCE = 20_000;
/** What takes longer than this is shown as work. */
export const PATIENCE = 200;
/** Replacements within a minute before the client gives up. */
const REPLACEMENTS = 4;

/**
 * Says `working` (with a {@link Work} or null) when long work begins, goes on and ends, and `replaced` (with the reason) when
 * the worker has been replaced; files must then be opened again.
 */
export class Client extends EventTarget {
  readonly #spawn: () => WorkerLike;
  readonly #waiting = new Map<number, Waiting>();
  readonly #replacements: number[] = [];
  #worker: WorkerLike | null = null;
  #seq = 0;
  #file = 0;
  #heard = 0;
  #watch: ReturnType<typeof setInterval> | undefined;
  #work: Work | null = null;

  constructor(spawn: () => WorkerLike) {
    super();
    this.#spawn = spawn;
  }

  /** Starts the worker, so that it is there when the first file comes. */
  start(): void {
    if (this.#worker) return;
    const worker = this.#spawn();
    this.#worker = worker;
    worker.onmessage = ({ data }) => {
      if (worker === this.#worker) this.#hear(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (worker === this.#worker) this.#replace(event.message || 'its program could not be loaded');
    };
  }

  /** A number for a file that is going to be opened. */
  newFile(): number {
    this.#file += 1;
    return this.#file;
  }

  /** Asks something of a file. */
  call<C extends Call>(
    file: number,
    call: C,
    args: Parameters<Calls[C]>,
    options?: Options,
  ): Promise<ReturnType<Calls[C]>> {
    const signal = options?.signal;
    if (signal?.aborted) return Promise.reject(aborted());
    this.#seq += 1;
    const seq = this.#seq;
    const message = { seq, file, call, args } as Waiting['message'];
    return new Promise((resolve, reject) => {
      this.#waiting.set(seq, {
        message,
        resolve,
        reject,
        since: performance.now(),
        progress: null,
        said: options?.progress,
      });
      signal?.addEventListener('abort', () => this.cancel(seq), { once: true });
      this.#watchOver();
      try {
        this.start();
        this.#worker?.postMessage(message);
      } catch (error) {
        this.#settle(seq)?.reject(error);
      }
    });
  }

  /** Gives up a request: whoever waits for it is told, and what comes for it is dropped. */
  cancel(seq: number): void {
    const waiting = this.#settle(seq);
    if (!waiting) return;
    this.#worker?.postMessage({ cancel: seq });
    waiting.reject(aborted());
  }

  #hear(data: FromWorker): void {
    this.#heard = performance.now();
    const waiting = this.#waiting.get(data.seq);
    if ('trap' in data) {
      this.#settle(data.seq)?.reject(new Stopped(`the reader stopped: ${data.trap}`));
      this.#replace(data.trap);
      return;
    }
    if (!waiting) return; // stale
    if ('progress' in data) {
      waiting.progress = data.progress;
      waiting.said?.(data.progress);
      return;
    }
    this.#settle(data.seq);
    if ('error' in data) waiting.reject(new Error(data.error));
    else waiting.resolve(data.answer as never);
  }

  #settle(seq: number): Waiting | undefined {
    const waiting = this.#waiting.get(seq);
    this.#waiting.delete(seq);
    if (this.#waiting.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
    if (this.#work?.seq === seq) this.#show(null);
    return waiting;
  }

  #replace(reason: string): void {
    this.#worker?.terminate();
    this.#worker = null;
    for (const seq of [...this.#waiting.keys()])
      this.#settle(seq)?.reject(new Stopped(`the reader stopped: ${reason}`));
    const now = performance.now();
    this.#replacements.push(now);
    const recent = this.#replacements.filter((at) => now - at < 60_000).length;
    const isGivenUp = recent > REPLACEMENTS;
    this.dispatchEvent(new CustomEvent<Replaced>('replaced', { detail: { reason, isGivenUp } }));
  }

  /** While something waits: shows long work, and notices a worker that has died without a word. */
  #watchOver(): void {
    if (this.#watch !== undefined) return;
    this.#heard = performance.now();
    this.#watch = setInterval(() => {
      const now = performance.now();
      const oldest = [...this.#waiting].find(([, waiting]) => now - waiting.since >= PATIENCE);
      if (oldest) {
        const [seq, { message, progress }] = oldest;
        if ('call' in message) this.#show({ seq, file: message.file, call: message.call, progress });
        const isSilent = now - this.#heard > SILENCE && now - oldest[1].since > SILENCE;
        if (isSilent) this.#replace(`no answer for ${SILENCE / 1000} seconds`);
      }
    }, PATIENCE / 4);
  }

  #show(work: Work | null): void {
    this.#work = work;
    this.dispatchEvent(new CustomEvent<Work | null>('working', { detail: work }));
  }
}

/** Work that takes so long that it is shown. */
export interface Work {
  seq: number;
  /** The file that it is for, by the number that the page has given to it. */
  file: number;
  call: Call;
  progress: Progress | null;
}

export interface Replaced {
  reason: string;
  /** Whether it happens so often that nothing is opened again. */
  isGivenUp: boolean;
}

function aborted(): DOMException {
  return new DOMException('given up', 'AbortError');
}

let shared: Client | undefined;

/** The page's client. */
export function client(): Client {
  shared ??= new Client(() => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }));
  return shared;
}
