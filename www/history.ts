// Where one is, in the address of the page and in its history: back and forward go from place to place, and from file to file.

import type { Files } from './files.ts';
import { formatPlace, type Place, parsePlace } from './place.ts';
import type { Change, Session } from './session.ts';

/** What an entry of the history keeps beside its address: which of the files that are open it was. */
interface State {
  file: number;
}

function isState(state: unknown): state is State {
  return typeof (state as State | null)?.file === 'number';
}

/** Steps within so many milliseconds are one step back. */
const STRIDE = 900;
/** The address follows the selection when it has rested for so long: browsers do not like it set all the time. */
const REST = 250;

export class History {
  readonly #files: Files;
  readonly #open: (place: Place) => void;
  #last = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isGoing = false;
  /** The place that the page's address named when no file was open. */
  pending: Place | null = null;

  /** `open` opens a place whose file is not open. */
  constructor(files: Files, open: (place: Place) => void) {
    this.#files = files;
    this.#open = open;
  }

  start(): void {
    window.addEventListener('popstate', this.#popped);
    this.#follow(parsePlace(location.hash), history.state);
  }

  stop(): void {
    window.removeEventListener('popstate', this.#popped);
    clearTimeout(this.#timer);
  }

  /** The file that is shown has moved; `null`: it is another one. */
  moved(session: Session, change: Change | null): void {
    if (change === 'summary' || change === 'reopened') return;
    // What the history itself has brought about is in it already.
    const isStep = !this.#isGoing && (change === null || change === 'view' || change === 'reveal');
    const now = performance.now();
    clearTimeout(this.#timer);
    if (isStep && now - this.#last > STRIDE) {
      this.#last = now;
      history.pushState({ file: session.file } satisfies State, '', `#${session.place}`);
      return;
    }
    if (isStep) this.#last = now;
    this.#timer = setTimeout(() => {
      if (this.#files.active === session)
        history.replaceState({ file: session.file } satisfies State, '', `#${session.place}`);
    }, REST);
  }

  /** No file is open any more. */
  emptied(): void {
    clearTimeout(this.#timer);
    history.pushState(null, '', location.pathname + location.search);
  }

  readonly #popped = (event: PopStateEvent): void => {
    clearTimeout(this.#timer);
    this.#follow(parsePlace(location.hash), event.state);
  };

  #follow(place: Place | null, state: unknown): void {
    if (!place) return;
    const { sessions, active } = this.#files;
    const link = (session: Session) => session.source.address ?? null;
    // An entry of this visit knows its file; an address that somebody typed names it, or is about the one that is shown.
    const session =
      sessions.find((one) => isState(state) && one.file === state.file) ??
      sessions.find((one) => place.src !== null && link(one) === place.src) ??
      (place.src === null && !isState(state) ? active : null);
    if (!session) {
      if (place.src !== null) this.#open(place);
      else this.pending = place;
      return;
    }
    this.#isGoing = true;
    this.#files.show(session);
    if (session.place !== formatPlace(place)) this.#files.go(session, place);
    // What follows at once (the view, the selection) is part of this step; what the person does next is another one.
    setTimeout(() => {
      this.#isGoing = false;
    }, REST);
  }
}
