// Presses and drags on rows of bytes, by mouse, pen and finger, as what they mean: a byte, a range from one to another, the field
// or the structure at a byte. A finger scrolls; a tap selects a byte, and a long press begins a range that has two handles.

export interface Pointed {
  /** The byte nearest to a point of the window; with `isExact`, null where the point is on none. */
  at(x: number, y: number, isExact?: boolean): number | null;
  /** Selects the byte, or up to it. */
  go(to: number, isExtending: boolean): void;
  /** Selects what there is around the byte. */
  widen(at: number, to: 'field' | 'record'): void;
  /** What is pointed at; null when nothing is any more. */
  hover(at: number | null): void;
  /** Whether the range is to have handles. */
  hold(isHeld: boolean): void;
  /** Holds the other end than `end` fast. */
  pin(end: 'from' | 'to'): void;
  /** Scrolls by so many rows. */
  scroll(rows: number): void;
}

/** Milliseconds of a long press, and pixels by which a finger may tremble. */
const LONG = 450;
const TREMBLE = 10;
/** Pixels from a handle up to the middle of the row that it hangs on. */
const HANG = 20;

export class Pointing {
  readonly #pointed: Pointed;
  /** Whether a range is being drawn, and where the pointer was last. */
  #isDrawing = false;
  #hang = 0;
  #x = 0;
  #y = 0;
  #pressed: ReturnType<typeof setTimeout> | undefined;
  #scrolling = 0;
  /** A tap that ends a long press is none. */
  #isSpent = false;

  constructor(pointed: Pointed) {
    this.#pointed = pointed;
  }

  readonly down = (event: PointerEvent): void => {
    const scroller = event.currentTarget as HTMLElement;
    const { left, top } = scroller.getBoundingClientRect();
    // A press on a scrollbar is no press on a byte, and the right button leaves the selection to the menu that it opens.
    const isOnBar = event.clientX - left >= scroller.clientWidth || event.clientY - top >= scroller.clientHeight;
    if (event.button !== 0 || isOnBar) return;
    [this.#x, this.#y] = [event.clientX, event.clientY];
    this.#isSpent = false;
    const handle = (event.target as HTMLElement).dataset.end;
    this.#hang = handle ? HANG : 0;
    if (handle) {
      this.#pointed.pin(handle === 'from' ? 'from' : 'to');
      this.#draw(scroller, event.pointerId);
    } else if (event.pointerType === 'touch') {
      clearTimeout(this.#pressed);
      this.#pressed = setTimeout(() => {
        this.#isSpent = true;
        this.#go(false);
        this.#pointed.hold(true);
        this.#draw(scroller, event.pointerId);
      }, LONG);
    } else {
      this.#pointed.hold(false);
      this.#go(event.shiftKey);
      this.#draw(scroller, event.pointerId);
    }
  };

  readonly move = (event: PointerEvent): void => {
    if (!this.#isDrawing) {
      if (Math.hypot(event.clientX - this.#x, event.clientY - this.#y) > TREMBLE) clearTimeout(this.#pressed);
      if (event.pointerType === 'mouse') this.#pointed.hover(this.#pointed.at(event.clientX, event.clientY, true));
      return;
    }
    [this.#x, this.#y] = [event.clientX, event.clientY - this.#hang];
    this.#go(true);
    this.#scrollPast(event.currentTarget as HTMLElement);
  };

  readonly up = (): void => {
    clearTimeout(this.#pressed);
    this.#isDrawing = false;
    cancelAnimationFrame(this.#scrolling);
    this.#scrolling = 0;
  };

  readonly leave = (): void => this.#pointed.hover(null);

  readonly click = (event: MouseEvent): void => {
    const at = this.#pointed.at(event.clientX, event.clientY);
    if (at === null) return;
    if ((event as PointerEvent).pointerType === 'touch') {
      if (this.#isSpent || (event.target as HTMLElement).dataset.end) return;
      this.#pointed.hold(false);
      this.#pointed.go(at, false);
    } else if (event.detail === 3) {
      this.#pointed.widen(at, 'record');
    }
  };

  readonly double = (event: MouseEvent): void => {
    const at = this.#pointed.at(event.clientX, event.clientY);
    if (at !== null) this.#pointed.widen(at, 'field');
  };

  /** A long press is a range's beginning, not a wish for the browser's menu. */
  readonly menu = (event: Event): void => {
    if (this.#isSpent) event.preventDefault();
  };

  /** Keeps the browser from scrolling while a finger draws a range. */
  readonly touch = {
    handleEvent: (event: TouchEvent): void => {
      if (this.#isDrawing && event.cancelable) event.preventDefault();
    },
    passive: false,
  };

  #draw(scroller: HTMLElement, pointer: number): void {
    this.#isDrawing = true;
    try {
      scroller.setPointerCapture(pointer);
    } catch {
      // The finger has been lifted in the meantime.
      this.#isDrawing = false;
    }
  }

  #go(isExtending: boolean): void {
    const at = this.#pointed.at(this.#x, this.#y);
    if (at !== null) this.#pointed.go(at, isExtending);
  }

  /** Goes on scrolling, the faster the farther, while the pointer is past an edge. */
  #scrollPast(scroller: HTMLElement): void {
    const { top } = scroller.getBoundingClientRect();
    const past = () => Math.min(0, this.#y - top) + Math.max(0, this.#y - top - scroller.clientHeight);
    if (this.#scrolling || past() === 0) return;
    const step = () => {
      const pixels = past();
      this.#scrolling = pixels === 0 || !this.#isDrawing ? 0 : requestAnimationFrame(step);
      if (!this.#scrolling) return;
      this.#pointed.scroll(Math.sign(pixels) * Math.min(8, 0.1 + Math.abs(pixels) / 60));
      this.#go(true);
    };
    this.#scrolling = requestAnimationFrame(step);
  }
}
