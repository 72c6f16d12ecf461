// Where one is, in the address of the page and in its history: back and forward go from place to place, and from file to file.

import type { Files } from './files.ts';
import { formatPlace, type Place, parsePlace } from './place.ts';
import type { Change, Session } from './session.ts';

/** What an entry of the history keeps beside its address: which of the files that are open it was, in this visit, and its digest. */
interface State {
  visit: string;
  file: number;
  digest: string | null;
}

function stateOf(state: unknown): State | null {
  return typeof (state as State | null)?.visit === 'string' ? (state as State) : null;
}

/** Numbers of files begin anew with every visit. */
const VISIT = Math.random().toString(36).slice(2);

/** Steps within so many milliseconds are one step back. */
const STRIDE = 900;
/** The address follows the selection when it has rested for so long: browsers do not like it set all the time. */
const REST = 250;

export class History {
  readonly #files: Files;
  readonly #open: (place: Place) => Promise<unknown>;
  readonly #say: (text: string) => void;
  #last = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isGoing = false;
  /** The place that is being opened, which is in the address already. */
  #opening: Place | null = null;
  /** The place that the page's address named when no file was open, and the digest of its file where that is known. */
  pending: { place: Place; digest: string | null } | null = null;

  /** `open` opens a place whose file is not open, and settles when that has ended; `say` tells why nothing happens. */
  constructor(files: Files, open: (place: Place) => Promise<unknown>, say: (text: string) => void) {
    this.#files = files;
    this.#open = open;
    this.#say = say;
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
    if (change === null && this.#opening) {
      this.#opening = null;
      this.#last = now;
    }
    clearTimeout(this.#timer);
    if (isStep && now - this.#last > STRIDE) {
      this.#last = now;
      history.pushState(this.#state(session), '', `#${session.place}`);
      return;
    }
    if (isStep) this.#last = now;
    this.#timer = setTimeout(() => {
      if (this.#files.active === session) history.replaceState(this.#state(session), '', `#${session.place}`);
    }, REST);
  }

  #state(session: Session): State {
    return { visit: VISIT, file: session.file, digest: this.#files.digest(session) };
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

  #follow(place: Place | null, entry: unknown): void {
    if (!place) return;
    const { sessions, active } = this.#files;
    const state = stateOf(entry);
    const isOurs = state?.visit === VISIT;
    const isIt = ({ source }: Session) =>
      source.address === place.src && (source.member?.path ?? null) === place.member;
    // An entry of this visit knows its file; an address that somebody typed names it, or is about the one that is shown.
    const session =
      sessions.find((one) => isOurs && one.file === state.file) ??
      sessions.find(isIt) ??
      sessions.find(({ source }) => source.address === place.src && !source.member) ??
      (place.src === null && !state ? active : null);
    if (!session && place.src !== null) {
      this.#opening = place;
      // Where nothing was opened, the next file that is shown is a step of its own.
      void this.#open(place).finally(() => {
        if (this.#opening === place) this.#opening = null;
      });
    } else if (!session && active) {
      this.#say('The file of that place is not open any more: open it again to go there.');
    } else if (!session) {
      this.pending = { place, digest: state?.digest ?? null };
    }
    if (!session) return;
    this.#isGoing = true;
    this.#files.show(session);
    if (session.place !== formatPlace(place)) this.#files.go(session, place);
    // What follows at once (the view, the selection) is part of this step; what the person does next is another one.
    setTimeout(() => {
      this.#isGoing = false;
    }, REST);
  }
}
