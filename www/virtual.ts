// Virtual scrolling for an element: a scroller with a window that stays put and a spacer that makes the height. Which rows
// are visible is viewport.ts's; here are the events.
//
//   <div class="scroller"><div class="window">rows…</div><div class="spacer"></div></div>

import { css, type ReactiveController, type ReactiveControllerHost } from 'lit';
import {
  clampTop,
  isScaled,
  type List,
  lastTop,
  reveal,
  scrollHeight,
  scrollTopOf,
  topOf,
  type Visible,
  visible,
} from './viewport.ts';

export const virtualStyles = css`
  .scroller { position: relative; overflow: auto; block-size: 100%; overflow-anchor: none; contain: strict; }
  .window { position: sticky; inset-block-start: 0; inline-size: max-content; min-inline-size: 100%; overflow: hidden; }
`;

export class Virtual implements ReactiveController {
  /** The row, with a fraction, at the window's upper edge. */
  top = 0;
  #height = 0;
  #scroller: HTMLElement | null = null;
  #scrollTop = 0;
  readonly #host: ReactiveControllerHost & HTMLElement;
  readonly #rows: () => number;
  readonly #rowHeight: number;
  readonly #current: () => number;
  readonly #header: number;
  readonly #observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => this.#measure());

  /** `current`: the row that stays in view when the height changes; `header`: pixels of the window that a heading takes, above the rows. */
  constructor(
    host: ReactiveControllerHost & HTMLElement,
    rows: () => number,
    rowHeight: number,
    current: () => number = () => -1,
    header = 0,
  ) {
    this.#host = host;
    this.#rows = rows;
    this.#rowHeight = rowHeight;
    this.#current = current;
    this.#header = header;
    host.addController(this);
  }

  get list(): List {
    return { rows: this.#rows(), rowHeight: this.#rowHeight, height: this.#height };
  }

  get visible(): Visible {
    return visible(this.top, this.list);
  }

  /** Rows that are whole in view. */
  get page(): number {
    return Math.max(1, Math.floor(this.#height / this.#rowHeight));
  }

  /** Brings a row into view; `last`, as much of the rows up to there as fits. */
  reveal(row: number, last = row): void {
    const isFar = row < this.top - 1 || row > this.top + this.page;
    const top = isFar ? clampTop(row - Math.min(3, this.page / 3), this.list) : this.top;
    this.scrollTo(reveal(row, reveal(last, top, this.list), this.list));
  }

  scrollTo(top: number): void {
    const next = clampTop(top, this.list);
    if (next === this.top) return;
    this.top = next;
    this.#host.requestUpdate();
  }

  hostUpdated(): void {
    const scroller = this.#host.shadowRoot?.querySelector<HTMLElement>('.scroller') ?? null;
    if (scroller !== this.#scroller) {
      this.hostDisconnected();
      this.#scroller = scroller;
      if (scroller) {
        this.#scrollTop = scroller.scrollTop;
        scroller.addEventListener('scroll', this.#scrolled, { passive: true });
        scroller.addEventListener('wheel', this.#wheeled, { passive: false });
        this.#observer?.observe(scroller);
        this.#measure();
      }
    }
    if (!scroller) return;
    this.top = clampTop(this.top, this.list);
    const { style } = scroller.querySelector<HTMLElement>('.spacer') as HTMLElement;
    const window = scroller.querySelector<HTMLElement>('.window') as HTMLElement;
    const height = `${this.#height + this.#header}px`;
    if (window.style.height !== height) window.style.height = height;
    const rest = `${Math.max(0, scrollHeight(this.list) - this.#height)}px`;
    if (style.height !== rest) style.height = rest;
    // Reading where the scrollbar stands would lay the page out; what was last heard or set is known.
    const scrollTop = Math.round(scrollTopOf(this.top, this.list));
    if (Math.abs(this.#scrollTop - scrollTop) >= 1) {
      this.#scrollTop = scrollTop;
      scroller.scrollTop = scrollTop;
    }
  }

  hostConnected(): void {
    if (this.#scroller) this.#observer?.observe(this.#scroller);
  }

  hostDisconnected(): void {
    this.#observer?.disconnect();
    this.#scroller?.removeEventListener('scroll', this.#scrolled);
    this.#scroller?.removeEventListener('wheel', this.#wheeled);
    this.#scroller = null;
  }

  #measure(): void {
    const height = Math.max(0, (this.#scroller?.clientHeight ?? 0) - this.#header);
    if (height === this.#height) return;
    const row = this.#current();
    const isInView = row >= this.top && row + 1 <= this.top + this.#height / this.#rowHeight;
    this.#height = height;
    if (isInView) this.top = reveal(row, this.top, this.list);
    this.#host.requestUpdate();
  }

  readonly #scrolled = (): void => {
    const scroller = this.#scroller;
    if (!scroller) return;
    this.#scrollTop = scroller.scrollTop;
    // What was set comes back as an event, which must not be taken for the person's.
    if (Math.abs(this.#scrollTop - scrollTopOf(this.top, this.list)) < 1) return;
    this.top = topOf(this.#scrollTop, this.list);
    this.#host.requestUpdate();
  };

  readonly #wheeled = (event: WheelEvent): void => {
    // Where the list is scaled, a pixel of the scrollbar is many rows; the wheel goes on row by row.
    if (!isScaled(this.list) || event.ctrlKey || lastTop(this.list) === 0) return;
    event.preventDefault();
    const lines =
      event.deltaMode === 1
        ? event.deltaY
        : event.deltaMode === 2
          ? event.deltaY * this.page
          : event.deltaY / this.#rowHeight;
    this.scrollTo(this.top + lines);
  };
}
