// What opening the members of a file tells (their kernels, which are the same), found out in the background: short requests one
// after the other, between which others are answered, and which can be left off at any time.

import { isAbort, type Options, Stopped } from './client.ts';
import type { Summary, SurveyProgress } from './protocol.ts';
import { count } from './text.ts';

/** What the reader says each time: how far it has come, and the file's summary, whose tables may have grown. */
export interface Surveyed {
  progress: SurveyProgress;
  summary: Summary;
}

/** What a survey needs of the file that it is of. */
export interface Surveying {
  /** Goes on for about so many milliseconds; for none, only tells how far it has come. */
  ask(milliseconds: number, options: Options): Promise<Surveyed>;
  /** Hears that something has changed; with a summary, where tables have more than they had. */
  said(summary: Summary | null): void;
  /** Hears why it cannot go on. */
  failed(error: unknown): void;
}

/** Members that unpack to at most so many bytes are opened without being asked for. */
export const UNASKED = 64 << 20;
/** Milliseconds of a request. */
const SLICE = 120;
/** Milliseconds between two times that tables are told of more: what is read stays still for so long. */
const REST = 700;

export class Survey {
  /** How far it has come; null before that is known. */
  progress: SurveyProgress | null = null;
  /** It has been told to open no more. */
  isStopped = false;
  readonly #of: Surveying;
  #controller: AbortController | null = null;
  /** When tables were told last, and how far it had come then. */
  #told = { at: Number.NEGATIVE_INFINITY, done: 0 };
  /** It was told to open members once, whether any is open by now or not. */
  #hasBegun = false;
  /** How often the reader has stopped while it was at this: it may do so again. */
  #stops = 0;

  constructor(of: Surveying) {
    this.#of = of;
  }

  get done(): number {
    return Number(this.progress?.done ?? 0);
  }

  get total(): number {
    return Number(this.progress?.total ?? 0);
  }

  /** Bytes of the members that were opened, and of all that are to be. */
  get bytes(): number {
    return Number(this.progress?.bytes ?? 0);
  }

  get totalBytes(): number {
    return Number(this.progress?.total_bytes ?? 0);
  }

  /** The part of 1 that is done: of bytes, for members differ. */
  get share(): number {
    return this.totalBytes > 0 ? Math.min(1, this.bytes / this.totalBytes) : this.done / Math.max(1, this.total);
  }

  get finished(): boolean {
    return this.progress?.finished ?? false;
  }

  /** There are members, packed ones, of whose code nothing but opening them tells, and not all members are open yet. */
  get hides(): boolean {
    return !this.finished && Number(this.progress?.unread ?? 0) > 0;
  }

  /** What members are opened for, in words. */
  get purpose(): string {
    const isOne = this.total === 1;
    if (this.hides) return `for what is in ${isOne ? 'it' : 'them'}: architectures, kernels`;
    return isOne ? 'for its kernels' : 'for their kernels, and for which are the same';
  }

  get running(): boolean {
    return this.#controller !== null;
  }

  /** It has begun, and waits to be told to go on. */
  get paused(): boolean {
    return !this.running && !this.isStopped && !this.finished && this.#hasBegun;
  }

  /** How far it has come, in words; none before it has begun. */
  get said(): string {
    const { running, isStopped } = this;
    if (!running && !isStopped && !this.#hasBegun) return '';
    const state = running ? 'Opening:' : isStopped ? 'Stopped at' : 'Paused at';
    const percent = Math.floor(this.share * 100);
    return `${state} ${percent} % · ${count(this.done)} of ${count(this.total)} members`;
  }

  /** Learns what there is to open, for a file that the reader has opened anew, and begins with it where that is little. */
  async begin(): Promise<void> {
    const wasRunning = this.running;
    this.#end();
    let summary: Summary;
    try {
      ({ progress: this.progress, summary } = await this.#of.ask(0, {}));
      this.#told.done = this.done;
    } catch (error) {
      if (!isAbort(error) && !(error instanceof Stopped)) this.#of.failed(error);
      return;
    }
    const isLittle = this.totalBytes <= UNASKED && !this.isStopped;
    if (this.total > 0 && !this.finished && (wasRunning || isLittle)) this.start();
    // The step that was given up may have been the last.
    else this.#of.said(wasRunning ? summary : null);
  }

  /** Begins, or goes on. */
  start(): void {
    if (this.running || this.finished) return;
    this.isStopped = false;
    this.#hasBegun = true;
    this.#controller = new AbortController();
    void this.#run(this.#controller);
  }

  /** Leaves off; what is known stays. */
  pause(): void {
    this.#end();
    this.#of.said(null);
  }

  /** Leaves off for good, as far as what is not known is no longer waited for. */
  cancel(): void {
    this.isStopped = true;
    this.pause();
  }

  #end(): void {
    this.#controller?.abort();
    this.#controller = null;
  }

  async #run(controller: AbortController): Promise<void> {
    const { signal } = controller;
    try {
      this.#of.said(null);
      while (!this.finished) {
        const { progress, summary } = await this.#of.ask(SLICE, { signal });
        if (signal.aborted) return;
        this.progress = progress;
        const now = performance.now();
        const isNew = this.finished || (this.done !== this.#told.done && now - this.#told.at >= REST);
        if (isNew) this.#told = { at: now, done: this.done };
        if (this.finished) this.#controller = null;
        this.#of.said(isNew ? summary : null);
      }
    } catch (error) {
      if (isAbort(error)) return;
      if (error instanceof Stopped) {
        this.#stops += 1;
        // The file is opened again, and this begins anew; not where it may be this that stops the reader.
        if (this.#stops === 1) return;
      }
      this.cancel();
      this.#of.failed(error);
    }
  }
}
