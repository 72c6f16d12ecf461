// Pages of something long, fetched when they are looked at; those looked at longest ago are forgotten.

export class Pages<T> {
  readonly #pages = new Map<number, T>();
  readonly #wanted = new Map<number, AbortController>();
  readonly #failed = new Set<number>();

  readonly #fetch: (page: number, signal: AbortSignal) => Promise<T>;
  readonly #arrived: (error?: unknown) => void;
  readonly #limit: number;

  /** `fetch` fetches a page; `arrived` is told that one has come, or could not; `limit` pages are kept. */
  constructor(
    fetch: (page: number, signal: AbortSignal) => Promise<T>,
    arrived: (error?: unknown) => void,
    limit: number,
  ) {
    this.#fetch = fetch;
    this.#arrived = arrived;
    this.#limit = limit;
  }

  /** The page, if it is here; else it is fetched. */
  get(page: number): T | undefined {
    const got = this.#pages.get(page);
    if (got !== undefined) {
      // The map's order is that of use.
      this.#pages.delete(page);
      this.#pages.set(page, got);
      return got;
    }
    if (!this.#wanted.has(page) && !this.#failed.has(page)) void this.#load(page);
    return undefined;
  }

  /** The page, if it is here; it is not fetched. */
  peek(page: number): T | undefined {
    return this.#pages.get(page);
  }

  /** A page that has come in another way. */
  put(page: number, got: T): void {
    this.#pages.set(page, got);
  }

  /** Whether the page could not be fetched. */
  hasFailed(page: number): boolean {
    return this.#failed.has(page);
  }

  /** Gives up the pages that are still on their way, apart from some. */
  keepOnly(isWanted: (page: number) => boolean): void {
    for (const [page, controller] of this.#wanted) {
      if (!isWanted(page)) controller.abort();
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.keepOnly(() => false);
    this.#wanted.clear();
    this.#pages.clear();
    this.#failed.clear();
  }

  async #load(page: number): Promise<void> {
    const controller = new AbortController();
    this.#wanted.set(page, controller);
    const isCurrent = () => this.#wanted.get(page) === controller;
    try {
      const got = await this.#fetch(page, controller.signal);
      if (!isCurrent()) return;
      this.#wanted.delete(page);
      this.#pages.set(page, got);
      for (const oldest of this.#pages.keys()) {
        if (this.#pages.size <= this.#limit) break;
        this.#pages.delete(oldest);
      }
      this.#arrived();
    } catch (error) {
      if (!isCurrent()) return;
      this.#wanted.delete(page);
      if (controller.signal.aborted) return;
      this.#failed.add(page);
      this.#arrived(error);
    }
  }
}
