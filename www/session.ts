// An opened file as the page sees it: what it is, what is selected in it, and which view is open. One selection is shared by
// the ribbon, the tables, the bytes and the diagram.

import { type Client, isAbort, message, type Options, type Replaced, Stopped } from './client.ts';
import { formatPlace, type Place, placeOfShown } from './place.ts';
import type { Call, Calls, Field, Location, Opened, Progress, StructRecord, Summary, Told } from './protocol.ts';
import type { Leaves } from './ribbon.ts';
import { pathIn, probe, type Source } from './source.ts';
import { Survey } from './survey.ts';
import { hex, name, parseOffset } from './text.ts';

export interface Selection {
  offset: number;
  size: number;
  /** The field, by its index in the record, that was chosen; null where bytes were. */
  field: number | null;
}

/**
 * What has changed. `reveal`: the bytes of the selection are to be brought into view; `typed`: what is typed in the view; `survey`: how
 * far opening the members has come; `surveyed`: that has told something, which is in tables now.
 */
export type Change =
  | 'summary'
  | 'selection'
  | 'reveal'
  | 'location'
  | 'view'
  | 'typed'
  | 'reopened'
  | 'checking'
  | 'survey'
  | 'surveyed';

/** `error`: something could not be done; `info`: something is to be known for a moment. */
export type Tone = 'error' | 'info';

/** Opens what `source` is. A member does not need the file that it is opened out of to stay open. */
async function begin(
  client: Client,
  file: number,
  { blob, decode, member }: Source,
  options?: Options,
  of?: number,
): Promise<Opened> {
  if (!member) return client.call(file, 'open', [blob, decode], options);
  const { path, of: around } = member;
  if (of !== undefined) return client.call(file, 'openPath', [of, path, around.name], options);
  const outer = client.newFile();
  try {
    await client.call(outer, 'open', [blob], options);
    return await client.call(file, 'openPath', [outer, path, around.name], options);
  } finally {
    client.call(outer, 'close', []).catch(() => {});
  }
}

export class Session {
  readonly name: string;
  /** What elements keep of this file while others are shown: a table's order and filter, where a list was scrolled to. */
  readonly kept = new Map<string, unknown>();
  /** Where the bytes come from; `address` is what a link to the file names. */
  readonly source: Source;
  /** The number that the reader knows the file by. */
  readonly file: number;
  readonly #client: Client;
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #replaced = (event: Event) => this.#reopen((event as CustomEvent<Replaced>).detail);
  #opened: Opened;
  #selection: Selection;
  #location: Location;
  #locating: AbortController | undefined;
  /** Ends what is still done for a file that is closed. */
  readonly #closed = new AbortController();
  /** Settles when what is known of the selection is known. */
  #located: Promise<void> = Promise.resolve();
  #record = 0;
  #view: string;
  #mayCheck = true;
  /** What opening its members tells, in the background. */
  readonly survey = new Survey({
    ask: (milliseconds, options) => this.call('survey', [milliseconds], options),
    said: (summary) => {
      if (!summary) {
        this.#say('survey');
        return;
      }
      const had = headingOf(this.summary);
      this.#opened = { ...this.#opened, summary };
      this.#say('surveyed');
      if (had !== headingOf(summary)) this.#say('summary');
    },
    failed: (error) => this.onNotice(`The members could not all be opened: ${message(error)}`),
  });
  /** The reader has stopped and does not have the file any more: what is shown stays, and nothing can be asked. */
  isLost = false;
  #checking: Progress | null = null;
  /** Says what went wrong, or what has happened, to whoever shows it; `all`: more than is read there. */
  onNotice: (text: string, tone?: Tone, all?: string) => void = () => {};
  /** What was said that begins so is no matter any more. */
  onDone: (what: string) => void = () => {};
  /** Is told what the file is to be read as (null: as any file); another session then takes the place of this one. */
  onDecode: (decode: string | null) => void = () => {};
  /** Is told which member to show of the file that this is or lies in, by its path there; the file itself without one. And where. */
  onMember: (path: string, place?: Place) => void = () => {};

  private constructor(client: Client, source: Source, file: number, opened: Opened) {
    const unnamed = source.decode === undefined ? '(no name)' : `pasted ${opened.summary.format_title}`;
    this.name = source.name.trim() === '' ? unnamed : source.name;
    this.#client = client;
    this.source = source;
    this.file = file;
    this.#opened = opened;
    this.#view = 'summary';
    this.#location = opened.start;
    this.#selection = { offset: 0, size: Math.min(1, this.size), field: null };
    client.addEventListener('replaced', this.#replaced);
  }

  /**
   * Opens a file; a member, out of the file that is open under the number `of`, if it is. Where the reader stops meanwhile, which another file may be to blame for, it is tried once
   * more.
   */
  static async open(client: Client, source: Source, options?: Options, of?: number): Promise<Session> {
    try {
      return await Session.#open(client, source, options, of);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      return await Session.#open(client, source, options);
    }
  }

  static async #open(client: Client, source: Source, options?: Options, of?: number): Promise<Session> {
    const file = client.newFile();
    try {
      const opened = await begin(client, file, source, options, of);
      // The core opens whatever it is; that nothing at all can be read of it is the page's to say.
      if (opened.summary.format === 'unknown') await probe(source);
      return new Session(client, source, file, opened);
    } catch (error) {
      // One that was given up may be open by now.
      client.call(file, 'close', []).catch(() => {});
      if (!isAbort(error)) await probe(source);
      throw error;
    }
  }

  /** Reads the file anew: as a dump of what `decode` says, or as any file. This session is then no more. */
  async reread(decode: string | null, options: Options): Promise<Session> {
    const { decode: _, ...source } = this.source;
    const next = decode === null ? source : { ...source, decode };
    const opened = await begin(this.#client, this.file, next, options);
    this.#end();
    return new Session(this.#client, next, this.file, opened);
  }

  close(): void {
    this.#end();
    this.#client.call(this.file, 'close', []).catch(() => {});
  }

  #end(): void {
    this.survey.cancel();
    this.#client.removeEventListener('replaced', this.#replaced);
    this.#closed.abort();
    this.#locating?.abort();
    this.#listeners.clear();
  }

  /** Shows a member in a tab of its own. */
  openMember(path: string, place?: Place): void {
    this.onMember(pathIn(this.source, path), place);
  }

  /** Shows the member whose path is in a cell of a table. What is here of a long one may be its beginning alone. */
  async openCell(table: string, row: number, column = 'path'): Promise<void> {
    await this.attempt('The member cannot be opened', async () =>
      this.openMember(await this.call('text', [table, row, column])),
    );
  }

  /** Does what is asked for. That it cannot be done is said, as `what`, until it is done another time. */
  async attempt(what: string, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
      this.onDone(what);
    } catch (error) {
      if (!isAbort(error)) this.onNotice(`${what}: ${message(error)}`);
    }
  }

  /** Where its first byte lies in the file that was dropped; null where it was unpacked. */
  get origin(): number | null {
    return this.#opened.origin;
  }

  /** What it is called as a file of its own. */
  get fileName(): string {
    return this.#opened.fileName ?? this.name;
  }

  /** Of a member, where a byte of it lies in the file that was dropped, in words; null for what is no member. */
  around(offset: number): string | null {
    const { member } = this.source;
    if (!member) return null;
    const of = name(member.of.name, 40);
    return this.origin === null ? `unpacked from ${of}` : `${hex(this.origin + offset)} in ${of}`;
  }

  /** An offset; of a member, also where that is in the file that was dropped. */
  told(offset: number): string {
    const around = this.around(offset);
    return around === null ? hex(offset) : `${hex(offset)} · ${around}`;
  }

  /** Shows what is selected in the file that was dropped, of which this is a member. */
  showAround(): void {
    const { offset, size } = this.#selection;
    if (this.origin === null) return;
    const at = { at: hex(this.origin + offset), select: String(size) };
    this.onMember('', { src: null, member: null, decode: null, view: null, launch: null, ...at });
  }

  get summary(): Summary {
    return this.#opened.summary;
  }

  /** Rows of a table that the summary has; 0 where it has no such table. */
  countOf(key: string): number {
    return Number(this.summary.tables.find((table) => table.key === key)?.count ?? 0);
  }

  get size(): number {
    return Number(this.#opened.summary.size);
  }

  get roles(): string[] {
    return this.#opened.roles;
  }

  get leaves(): Leaves {
    return this.#opened.leaves;
  }

  get selection(): Selection {
    return this.#selection;
  }

  /** What is known of the selection's first byte; for a moment still that of the byte before. */
  get location(): Location {
    return this.#location;
  }

  /** Which of the records at that byte is shown. */
  get recordIndex(): number {
    return Math.min(this.#record, Math.max(0, (this.#location.records.length ?? 0) - 1));
  }

  get record(): StructRecord | null {
    return this.#location.records[this.recordIndex] ?? null;
  }

  /** The panel that is open, and behind a `/` what in it: `symbols`, `kernels/3`. */
  get view(): string {
    return this.#view;
  }

  set view(view: string) {
    if (view === this.#view) return;
    this.#view = view;
    this.#say('view');
  }

  /** What is typed in the form of the view that is open, which the file keeps: `grid=4096;block=256`. */
  get typed(): string {
    return (this.kept.get(this.#typedKey) as string | undefined) ?? '';
  }

  /** One text a panel and kernel: of the only one, the view needs no number, and what is shown of it is told behind that. */
  get #typedKey(): string {
    const [panel, index = '0'] = this.#view.split('/');
    // A launch and its occupancy are told by the same words; each leaves those of the other alone.
    return `typed ${panel === 'occupancy' ? 'launch' : panel}/${index}`;
  }

  set typed(text: string) {
    if (text === this.typed) return;
    this.kept.set(this.#typedKey, text);
    this.#say('typed');
  }

  call<C extends Call>(call: C, args: Parameters<Calls[C]>, options?: Options): Promise<ReturnType<Calls[C]>> {
    return this.#client.call(this.file, call, args, options);
  }

  /** Takes what has become known of the file: more than when it was opened. */
  async renew(told: Told): Promise<void> {
    this.#opened = { ...this.#opened, ...told };
    this.#say('summary');
    this.#say('surveyed');
    this.#located = this.#locate(this.#selection.offset);
    await this.look();
  }

  /** How far the checks have come that opening leaves out. */
  get checking(): Progress | null {
    return this.#checking;
  }

  /** Hears of changes until the function that is returned is called. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Selects bytes, and unless they are in view already (`isInView`) brings them there. */
  select(offset: number, size: number, isInView = false): void {
    const start = Math.min(Math.max(0, offset), Math.max(0, this.size - 1));
    this.#selection = { offset: start, size: Math.max(0, Math.min(size, this.size - start)), field: null };
    this.#say('selection');
    if (!isInView) this.#say('reveal');
    this.#located = this.#locate(start);
  }

  /** The place that is shown, as an address has it. */
  get place(): string {
    return formatPlace(placeOfShown(this, this.source));
  }

  /** Goes to a place of this file. Says so where there is no such place; what is shown then stays. */
  async go({ view, at, select, launch }: Omit<Place, 'src' | 'decode'>): Promise<void> {
    if (view) this.view = view;
    if (view || launch) this.typed = launch ?? '';
    if (!at) return;
    await this.attempt('The place cannot be shown', async () => {
      const offset = parseOffset(at) ?? Number((await this.call('resolve', [at])).span.offset);
      if (offset >= this.size) throw new Error(`${at} is past the end of the file`);
      // Where it was scrolled to counts for nothing now.
      for (const key of this.kept.keys()) if (key.startsWith('bytes ')) this.kept.delete(key);
      const size = select === null ? 1 : parseOffset(select);
      this.select(offset, size ?? 1);
      if (select === null || size !== null) return;
      const wanted = select.toLowerCase();
      if (!(await this.#choose((field) => field.name.toLowerCase() === wanted)))
        throw new Error(`there is no field ${name(select, 60)} at ${name(at, 60)}`);
    });
  }

  /** Selects the bytes of a field of the record that is shown. */
  selectField(index: number): void {
    const record = this.record;
    const field = record?.fields[index];
    if (!record || !field) return;
    if (!record.is_stored) {
      // It is put together from bytes of several places: the field is chosen, and the selection stays where it is.
      this.#selection = { ...this.#selection, field: index };
      this.#say('selection');
      return;
    }
    const [msb, lsb] = field.bits;
    const first = Math.floor(lsb / 8);
    const offset = Number(record.span.offset) + first;
    this.#selection = { offset, size: Math.floor(msb / 8) - first + 1, field: index };
    this.#say('selection');
    this.#say('reveal');
  }

  /** Selects bytes, and the first field of the structure there that is wanted. */
  async selectWhere(offset: number, size: number, isWanted: (field: Field) => boolean): Promise<void> {
    this.select(offset, size);
    await this.#choose(isWanted);
  }

  /** Whether the structure at the selection has such a field, which is then selected; not where another selection has come. */
  async #choose(isWanted: (field: Field) => boolean): Promise<boolean> {
    const selection = this.#selection;
    await this.#located;
    const field = this.record?.fields.findIndex(isWanted) ?? -1;
    if (field >= 0 && selection === this.#selection) this.selectField(field);
    return field >= 0;
  }

  /** Shows another of the records at the selection's first byte. */
  showRecord(index: number): void {
    this.#record = index;
    this.#selection = { ...this.#selection, field: null };
    this.#say('location');
  }

  /** Does what opening leaves out: checks it, then opens its members where they are few. */
  async look(): Promise<void> {
    await this.check();
    if (this.countOf('members') > 0 && !this.#closed.signal.aborted) await this.survey.begin();
  }

  /** Runs the checks that opening leaves out, then knows the verdict. */
  async check(): Promise<void> {
    if (this.summary.verdict.is_complete || !this.#mayCheck) return;
    // A reader that stops in the checks would stop in them again.
    this.#mayCheck = false;
    try {
      let said = 0;
      const progress = (checking: Progress) => {
        this.#checking = checking;
        // Slices of work are shorter than anyone reads.
        if (performance.now() - said < 100) return;
        said = performance.now();
        this.#say('checking');
      };
      this.#opened = {
        ...this.#opened,
        summary: await this.call('check', [], { progress, signal: this.#closed.signal }),
      };
      this.#mayCheck = true;
      this.#say('summary');
    } catch (error) {
      if (!isAbort(error)) this.onNotice('The checks could not be finished; what is shown is what opening found.');
    }
  }

  async #locate(offset: number): Promise<void> {
    this.#locating?.abort();
    this.#locating = new AbortController();
    const { signal } = this.#locating;
    try {
      const location = await this.call('locate', [offset], { signal });
      if (signal.aborted) return;
      this.#location = location;
      this.#record = 0;
      this.#say('location');
    } catch (error) {
      // A reader that stops says so itself, and the byte is located once the file is open again.
      if (!isAbort(error) && !(error instanceof Stopped)) this.onNotice(message(error));
    }
  }

  async #reopen({ isGivenUp }: Replaced): Promise<void> {
    this.isLost = true;
    if (isGivenUp) {
      this.survey.cancel();
      this.onNotice(
        'The reader stopped again and again, so it was not started once more. What is shown stays; open the file again to go on.',
      );
      return;
    }
    try {
      this.#opened = await begin(this.#client, this.file, this.source, { signal: this.#closed.signal });
      this.isLost = false;
      this.onNotice('The reader stopped and was started again; the file has been reopened.', 'info');
      this.#say('summary');
      this.#say('reopened');
      this.#located = this.#locate(this.#selection.offset);
      await this.look();
    } catch (error) {
      if (isAbort(error) || error instanceof Stopped) return;
      this.onNotice('The reader stopped, and the file could not be reopened. What is shown stays.');
    }
  }

  #say(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

/** What stands in the file's heading and may follow from what is in its members. */
function headingOf({ verdict, facts }: Summary): string {
  return [verdict.text, ...facts].join('\n');
}
