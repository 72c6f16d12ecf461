// The files that are open, side by side, and the one that is shown. Opening one never loses what is shown.

import { type Client, isAbort, message, PATIENCE } from './client.ts';
import { digest } from './digest.ts';
import { showRow } from './elements/table.ts';
import { isView } from './panels.ts';
import { type Place, parsePlace } from './place.ts';
import type { Progress } from './protocol.ts';
import { type Change, Session, type Tone } from './session.ts';
import { memberOf, OtherSite, outermost, type Source } from './source.ts';
import { forgetPlaces, keepPlace, placeOf } from './stored.ts';
import { name } from './text.ts';

/** A file that is on its way. */
export interface Opening {
  title: string;
  /** How far it has come, in words. */
  said: string;
  /** It has taken so long that it is shown. */
  isSlow: boolean;
  /** Gives it up. */
  cancel: () => void;
  /** The file that it was asked for in; that is closed, and it is given up. */
  asker: Session | null;
  /** What is opened, once that is known. */
  source?: Source;
}

/** How a file is got hold of. `said` is told how far it has come. */
export type Find = (signal: AbortSignal, said: (text: string) => void) => Promise<Source>;

/** Where a file of that digest is to be shown; null where it was left, or at its beginning. */
export type At = (digest: string | null) => Place | null;

export interface Told {
  /** Something is to be drawn anew. */
  changed(): void;
  /** `of`: the file that it is said of; `all`: more than is read there. */
  notice(text: string, tone: Tone, of?: Session | null, all?: string): void;
  /** What was said of a file that begins so is no matter any more. */
  done(what: string, of: Session): void;
  /** The file is on another site: the person has to ask for it. */
  ask(error: OtherSite, place: Place | null): void;
  /** A file, or a member of one, is open. */
  opened(session: Session): void;
  /** The file that is shown is another one, or has changed. */
  moved(session: Session, change: Change | null): void;
}

/** Milliseconds of rest after which the place of a file is kept. */
const REST = 400;

/** Whether both are the same member of one file. */
function isMember(one: Source, other: Source): boolean {
  return one.blob === other.blob && one.member !== undefined && one.member.path === other.member?.path;
}

export class Files {
  sessions: readonly Session[] = [];
  active: Session | null = null;
  openings: readonly Opening[] = [];
  /** Where this page leaves files is remembered. */
  isRemembering = false;
  /** What could not be opened last. */
  failed = '';
  readonly #client: Client;
  readonly #told: Told;
  readonly #digests = new WeakMap<Session, string>();
  /** Counts what has been shown: what comes late does not take the place of what was asked for since. */
  #turns = 0;
  /** Files that are being read anew, and what gives that up. */
  readonly #rereading = new WeakMap<Session, AbortController>();
  readonly #timers = new Map<Session, ReturnType<typeof setTimeout>>();

  constructor(client: Client, told: Told) {
    this.#client = client;
    this.#told = told;
  }

  /** What a file is told from others by; null where nothing is remembered. */
  digest(session: Session): string | null {
    return this.#digests.get(session) ?? null;
  }

  /**
   * Opens what `find` brings, at `at` or where it was left. Null where that fails, which has then been said: of `asker`, the file that it
   * was asked for in.
   */
  async open(title: string, find: Find, at: At = () => null, asker: Session | null = null): Promise<Session | null> {
    const turn = this.#turns;
    const controller = new AbortController();
    const { signal } = controller;
    const opening: Opening = { title, said: '', isSlow: false, cancel: () => controller.abort(), asker };
    this.openings = [...this.openings, opening];
    const timer = setTimeout(() => {
      opening.isSlow = true;
      this.#told.changed();
    }, PATIENCE);
    const said = (text: string) => {
      opening.said = text;
      this.#told.changed();
    };
    const progress = ({ done, total }: Progress) => {
      if (total > 0) said(`${Math.floor((100 * done) / total)}%`);
    };
    try {
      const source = await find(signal, said);
      opening.source = source;
      const [session, of] = await Promise.all([
        Session.open(this.#client, source, { signal, progress }, source.member && this.#outer(source)?.file),
        // What a dump was read as when it was left would have to be known before it is opened.
        this.isRemembering && source.decode === undefined && !source.member ? digest(source.blob) : null,
      ]);
      if (signal.aborted) {
        session.close();
        return null;
      }
      this.failed = '';
      const added = this.#add(session, of, at(of), turn === this.#turns);
      this.#told.opened(added);
      return added;
    } catch (error) {
      if (error instanceof OtherSite) this.#told.ask(error, at(null));
      else if (!isAbort(error) && !signal.aborted) {
        this.failed = title;
        const isNamed = message(error).includes(title);
        this.#told.notice(isNamed ? message(error) : `${name(title, 80)}: ${message(error)}`, 'error', asker);
      }
      return null;
    } finally {
      clearTimeout(timer);
      this.openings = this.openings.filter((one) => one !== opening);
      this.#told.changed();
    }
  }

  /** The file that a source is or lies in, if that is open. */
  #outer({ blob }: Source): Session | undefined {
    return this.sessions.find(({ source, isLost }) => source.blob === blob && !source.member && !isLost);
  }

  /** Shows the member of that path of the file that `source` is or lies in, at `place`; opens it unless it is open. */
  async openMember(source: Source, path: string, place: Place | null = null): Promise<void> {
    // Who asks for it is shown first, so that it does not come late.
    await null;
    const member = memberOf(source, path);
    // It is on its way.
    if (this.openings.some(({ source }) => source && isMember(source, member))) return;
    const twin = this.sessions.find((one) => isMember(one.source, member));
    if (!twin || twin.isLost) {
      await this.open(
        member.name,
        async () => member,
        () => place,
        this.sessions.find((one) => one.source === source),
      );
      return;
    }
    this.show(twin);
    this.go(twin, place);
  }

  /** Shows the file that a member lies in: at that place, or else with the outermost member around it in its table. */
  async #openOuter({ source }: Session, place?: Place): Promise<void> {
    const outer = outermost(source);
    const session =
      this.#outer(source) ??
      (await this.open(
        outer.name,
        async () => outer,
        () => null,
      ));
    if (!session) return;
    if (place) {
      this.show(session);
      this.go(session, place);
      return;
    }
    const row = await session.call('memberAt', [source.member?.path ?? '']);
    if (row !== null) showRow(session, 'members', row);
    session.view = 'members';
    this.show(session);
  }

  #add(session: Session, of: string | null, wanted: Place | null, isNext: boolean): Session {
    let place = wanted;
    const twin = this.sessions.find(
      (one) =>
        isMember(one.source, session.source) || (of && this.#digests.get(one) === of && one.name === session.name),
    );
    if (twin?.isLost) {
      // What the reader has lost is there again with the file that has just been opened.
      place ??= parsePlace(twin.place);
      this.close(twin);
    } else if (twin) {
      session.close();
      this.show(twin);
      if (place) this.go(twin, place);
      return twin;
    }
    if (of) this.#digests.set(session, of);
    this.sessions = [...this.sessions, session];
    this.#hear(session);
    const left = of && !place ? placeOf(of) : null;
    // The panel is set before it is seen, so that no other one flashes up.
    this.go(session, place ?? (left ? parsePlace(left) : null));
    if (isNext || this.active === null) this.show(session);
    else this.#told.notice(`${name(session.name, 80)} is open as well.`, 'info');
    void session.look();
    return session;
  }

  #hear(session: Session): void {
    session.onNotice = (text, tone = 'error', all) => this.#told.notice(text, tone, session, all);
    session.onDone = (what) => this.#told.done(what, session);
    session.onDecode = (decode) => this.#decode(session, decode, null);
    session.onMember = (path, place) => {
      if (path) void this.openMember(session.source, path, place);
      else this.#openOuter(session, place).catch((error) => isAbort(error) || session.onNotice(message(error)));
    };
    session.listen((change) => this.#changed(session, change));
  }

  /** Reads a file anew. It stays where it is among the others, and the panel that is open stays open where there still is one. */
  async #decode(session: Session, decode: string | null, place: Place | null): Promise<void> {
    this.#rereading.get(session)?.abort();
    const controller = new AbortController();
    this.#rereading.set(session, controller);
    try {
      const next = await session.reread(decode, { signal: controller.signal });
      clearTimeout(this.#timers.get(session));
      this.#timers.delete(session);
      this.sessions = this.sessions.map((one) => (one === session ? next : one));
      this.#hear(next);
      if (place) this.go(next, place);
      else if (isView(next, session.view)) next.view = session.view;
      if (this.active === session) {
        this.active = next;
        this.#told.moved(next, null);
      }
      this.#told.changed();
      void next.look();
    } catch (error) {
      if (!isAbort(error)) session.onNotice(`It could not be read anew: ${message(error)}`);
    }
  }

  /** Goes to a place of an open file. */
  go(session: Session, place: Place | null): void {
    if (!place) return;
    const { view, decode, member } = place;
    const { source } = session;
    if (member !== null && member !== source.member?.path) {
      void this.openMember(source, member, place);
      return;
    }
    // Of a file without an address the place does not say all: it may be a dump by how it was opened.
    const isSame =
      source.member || decode === (source.decode ?? null) || (decode === null && source.address === undefined);
    if (!isSame) {
      void this.#decode(session, decode, place);
      return;
    }
    const isThere = view === null || isView(session, view);
    if (!isThere) session.onNotice(`This file has no panel ${name(view, 60)}.`);
    void session.go(isThere ? place : { ...place, view: null });
  }

  /** Forgets where files were left, those included that are about to be kept. Says how many they were. */
  forget(): number {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    return forgetPlaces();
  }

  show(session: Session): void {
    if (this.active === session) return;
    this.active = session;
    this.#turns += 1;
    this.#told.moved(session, null);
    this.#told.changed();
  }

  /** Closes a file; its neighbour is shown then. */
  close(session: Session): void {
    const at = this.sessions.indexOf(session);
    this.sessions = this.sessions.filter((one) => one !== session);
    for (const opening of this.openings) if (opening.asker === session) opening.cancel();
    clearTimeout(this.#timers.get(session));
    this.#keep(session);
    session.close();
    if (this.active === session) {
      this.active = null;
      const next = this.sessions[Math.min(at, this.sessions.length - 1)];
      if (next) this.show(next);
    }
    this.#told.changed();
  }

  /** Closes all files and gives up those on their way. What comes back opens them again where they were. */
  leave(): { source: Source; place: Place | null }[] {
    for (const opening of this.openings) opening.cancel();
    const left = this.sessions.map((session) => ({ source: session.source, place: parsePlace(session.place) }));
    for (const session of this.sessions) this.close(session);
    return left;
  }

  #changed(session: Session, change: Change): void {
    if (session === this.active) this.#told.moved(session, change);
    if (change !== 'view' && change !== 'typed' && change !== 'selection' && change !== 'location') return;
    clearTimeout(this.#timers.get(session));
    this.#timers.set(
      session,
      setTimeout(() => this.#keep(session), REST),
    );
  }

  #keep(session: Session): void {
    const of = this.#digests.get(session);
    this.#timers.delete(session);
    if (of) keepPlace(of, session.place);
  }
}
