// <kernel-scope>: the application. Attributes: `src`, a file to open; `member`, what lies in it, by its path (`0!/2`); `view`, the panel to show (`summary`, `kernels`, `kernels/0`,
// `sections`, …); `at`, where (`0x584`, `.text.vadd+0x20`, `image:0x180`); `select`, how many bytes there, or which field;
// `launch`, what is typed in the panel (`grid:4096;block:256`); `decode`, what a dump is read as (`as:pushbuffer`); `whole-window`, for a page that is nothing else: files may be dropped anywhere in the window, the address of the page names
// the place that is shown, and where files were left is remembered.

import { css, html, LitElement, nothing, type PropertyValues } from 'lit';
import { FileSpace } from '../bytes.ts';
import { client } from '../client.ts';
import { DOCKING, type Docking, isDocking, SIDES, within } from '../docking.ts';
import { AS_QMD, isDump, joined } from '../dump.ts';
import type { Example } from '../examples.ts';
import { type At, Files, type Find, type Opening } from '../files.ts';
import { History } from '../history.ts';
import { fromAddress } from '../inputs.ts';
import { copyText, save } from '../out.ts';
import { type Place, readDecode } from '../place.ts';
import type { Session, Tone } from '../session.ts';
import { type Action, actionOf } from '../shortcuts.ts';
import { fromDigits, fromFile, fromTransfer, fromUrl, hasFiles, type OtherSite, type Source } from '../source.ts';
import { store, stored } from '../stored.ts';
import { base, isolation } from '../style.ts';
import { styled } from '../styled.ts';
import { bytes, count, name } from '../text.ts';
import type { Decode, Dumps } from './decode.ts';
import './dock.ts';
import type { Dock } from './dock.ts';
import './identity.ts';
import type { Items } from './menu.ts';
import './nav.ts';
import './palette.ts';
import type { Palette } from './palette.ts';
import './panel.ts';
import { define } from './part.ts';
import './ribbon.ts';
import './sheet.ts';
import type { Sheet } from './sheet.ts';
import './start.ts';
import './tabs.ts';

interface Notice {
  text: string;
  tone: Tone;
  /** The file that it is said of: it is shown with that, and gone once that is left or closed. */
  of: Session | null;
  /** More than is read here, to be copied. */
  all: string;
}

/** Milliseconds that something stays which is only to be known. */
const MOMENT = 6000;
/** Milliseconds after which an element that is out of the page closes its files. */
const LEAVE = 1000;
const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const isTheme = (value: unknown): value is Theme => (THEMES as readonly unknown[]).includes(value);
const isBoolean = (value: unknown) => typeof value === 'boolean';

/** Attributes that name a place. */
const PLACE = ['member', 'view', 'at', 'select', 'launch', 'decode'];

const NOWHERE: Place = { src: null, member: null, decode: null, view: null, at: null, select: null, launch: null };

/** Regions in the order in which F6 goes through them. */
const REGIONS = ['kernel-scope-ribbon', 'kernel-scope-nav', 'kernel-scope-panel', 'bytes', 'fields'];

export class KernelScope extends LitElement {
  static override properties = {
    src: {},
    member: {},
    view: {},
    at: {},
    select: {},
    launch: {},
    decode: {},
    wholeWindow: { type: Boolean, attribute: 'whole-window' },
    notices: { state: true },
    isDragged: { state: true },
    asked: { state: true },
    docking: { state: true },
    hasSingle: { state: true },
  };
  static override styles = [
    base,
    isolation,
    css`
      :host { display: block; block-size: 640px; color-scheme: light dark; }
      :host([hidden]) { display: none; }
      .scope { position: relative; }
      .layout { display: grid; grid-template: auto auto auto minmax(0, 1fr) var(--dock) / 216px minmax(0, 1fr); block-size: 100%; position: relative;
        overflow: hidden; }
      .layout.none { grid-template-rows: auto auto auto minmax(0, 1fr); }
      .layout.empty { grid-template: auto auto auto minmax(0, 1fr) / minmax(0, 1fr); }
      kernel-scope-tabs, kernel-scope-identity, kernel-scope-ribbon, .body, kernel-scope-dock { grid-column: 1 / -1; min-inline-size: 0; }
      kernel-scope-tabs { grid-row: 1; }
      kernel-scope-identity { grid-row: 2; }
      kernel-scope-ribbon { grid-row: 3; }
      .body { grid-row: 4; }
      kernel-scope-nav { grid-area: 4 / 1; }
      kernel-scope-panel { grid-area: 4 / 2; }
      kernel-scope-dock { grid-row: 5; }
      .none kernel-scope-dock { display: none; }
      .notices { position: absolute; inset-block-start: 56px; inset-inline: 0; z-index: 5; display: grid; gap: 6px; justify-items: center; pointer-events: none; }
      .notice { pointer-events: auto; display: flex; flex-wrap: wrap; justify-content: end; gap: 2px 14px; background: var(--ink); color: var(--paper); border-radius: 8px; padding: 7px 14px;
        max-inline-size: min(76ch, calc(100cqi - 32px)); overflow-wrap: anywhere; box-shadow: 0 3px 14px rgb(0 0 0 / .2); }
      .notice button { font-weight: 600; text-decoration: underline; white-space: nowrap; }
      .message { align-content: center; justify-self: center; padding: 24px 20px; max-inline-size: 72ch; display: grid; gap: 12px; justify-items: start; overflow-wrap: anywhere; }
      .message h2 { font-size: 18px; font-weight: 650; }
      .opening { display: flex; gap: 12px; }
      .over { position: absolute; inset: 0; z-index: 6; display: grid; place-content: center; pointer-events: none; font-size: 20px; font-weight: 600;
        background: color-mix(in srgb, var(--paper) 82%, transparent); border: 3px dashed var(--accent); border-radius: 12px; }
      @container (min-width: 1000px) {
        .layout.right { grid-template: auto auto auto minmax(0, 1fr) / 216px minmax(0, 1fr) var(--dock); }
        .right kernel-scope-dock { grid-area: 4 / 3; }
      }
      @container (max-width: 700px) {
        /* Where there is hardly any height (a zoom of 400 %) what is above the panel scrolls away, and the sheet may have all of it. */
        .layout, .layout.none { grid-template: repeat(4, max-content) minmax(200px, 1fr) 46px / minmax(0, 1fr); position: static; overflow: hidden auto; }
        .layout kernel-scope-dock { display: grid; position: absolute; inset-inline: 0; inset-block-end: 0; z-index: 3;
          max-block-size: max(70%, min(100%, 320px)); }
        kernel-scope-dock[open] { block-size: max(70%, min(100%, 320px)); }
        .body, kernel-scope-panel { grid-area: 5 / 1; }
      }
      /* On paper: what the file is, the panel that is open, and the record, one below the other and in light colours. */
      @media print {
        :host { block-size: auto !important; color-scheme: only light !important; }
        .layout, .layout.empty { display: block; overflow: visible; block-size: auto; }
        kernel-scope-tabs, kernel-scope-ribbon, kernel-scope-nav, .notices { display: none; }
        .layout kernel-scope-dock { position: static; block-size: auto; max-block-size: none; }
      }
    `,
  ];

  declare src: string | null;
  declare member: string | null;
  declare view: string | null;
  declare at: string | null;
  declare select: string | null;
  declare launch: string | null;
  declare decode: string | null;
  declare wholeWindow: boolean;
  declare notices: readonly Notice[];
  declare isDragged: boolean;
  /** A file of another site that waits for the person's word. */
  declare asked: { error: OtherSite; place: Place | null } | null;
  declare docking: Docking;
  /** Whether keys alone do something. */
  declare hasSingle: boolean;
  readonly files: Files;
  #history: History | null = null;
  #theme: Theme = 'system';
  #left: EventTarget | null = null;
  /** The file that `src` has opened, and the one that it is opening. */
  #own: Session | null = null;
  /** The file that was shown last. */
  #last: Session | null = null;
  #fetching: Opening | null = null;
  /** What was open when the element was taken out of the page. */
  #leaving: ReturnType<Files['leave']> = [];

  constructor() {
    super();
    this.src = null;
    this.member = null;
    this.view = null;
    this.at = null;
    this.select = null;
    this.launch = null;
    this.decode = null;
    this.wholeWindow = false;
    this.notices = [];
    this.isDragged = false;
    this.asked = null;
    this.docking = DOCKING;
    this.hasSingle = true;
    this.files = new Files(client(), {
      changed: () => this.#changed(),
      notice: (text, tone, of = null, all = '') => this.#notice(text, tone, of, all),
      done: (what, of) => {
        this.notices = this.notices.filter((one) => one.of !== of || !one.text.startsWith(what));
      },
      ask: (error, place) => {
        this.asked = { error, place };
      },
      moved: (session, change) => this.#history?.moved(session, change),
      opened: ({ name, source }) =>
        this.dispatchEvent(new CustomEvent('opened', { detail: { name, member: source.member?.path ?? null } })),
    });
  }

  /** The file that is shown. */
  get session(): Session | null {
    return this.files.active;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    client().start();
    for (const { source, place } of this.#leaving.splice(0)) {
      void this.#open(
        source.name,
        async () => source,
        () => place,
      );
    }
    const isWhole = this.wholeWindow || this.hasAttribute('whole-window');
    this.#left = isWhole ? window : this;
    this.#listen('addEventListener');
    if (!isWhole) return;
    this.files.isRemembering = true;
    this.docking = stored('docking', DOCKING, isDocking);
    this.hasSingle = stored('single-keys', true, isBoolean);
    this.#setTheme(stored('theme', 'system', isTheme));
    this.#history = new History(
      this.files,
      (place) => this.openUrl(place.src ?? '', undefined, place),
      (text) => this.#notice(text, 'info'),
    );
    this.#history.start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#listen('removeEventListener');
    this.#history?.stop();
    this.#history = null;
    // One that is only moved is back at once.
    setTimeout(() => {
      if (this.isConnected) return;
      this.#own = null;
      this.#leaving = this.files.leave();
    }, LEAVE);
  }

  #listen(how: 'addEventListener' | 'removeEventListener'): void {
    this.#left?.[how]('dragover', this.#dragged);
    this.#left?.[how]('dragleave', this.#undragged);
    this.#left?.[how]('drop', this.#dropped);
    this.#left?.[how]('paste', this.#pasted);
    this.#left?.[how]('keydown', this.#keyed);
  }

  protected override willUpdate(properties: PropertyValues): void {
    if (properties.has('src') && this.src) void this.#openOwn(this.src);
    else if (this.session && !this.#fetching && PLACE.some((key) => properties.has(key))) {
      // What it has been told to be read as since stays, and so does the member that is shown, unless that is what is changed.
      const { source } = this.session;
      const { decode = null } = properties.has('decode') ? this.#attributes : source;
      const member = properties.has('member') ? this.#attributes.member : (source.member?.path ?? null);
      if (member === null && source.member) this.session.onMember('');
      else this.files.go(this.session, { ...this.#attributes, member, decode });
    }
  }

  get #attributes(): Place {
    return {
      src: null,
      member: this.member || null,
      decode: readDecode(this.decode || null),
      view: this.view || null,
      at: this.at || null,
      select: this.select || null,
      launch: this.launch && fromAddress(this.launch),
    };
  }

  /** Opens what the attributes name, in place of what they named before. */
  async #openOwn(src: string): Promise<void> {
    const own = this.#own?.file;
    const before = this.files.sessions.find(({ file }) => file === own);
    this.#fetching?.cancel();
    // The attributes count as they are when the file is there.
    const opening = this.#fetch(src, { at: () => this.#attributes });
    const fetching = this.files.openings.at(-1) ?? null;
    this.#fetching = fetching;
    const session = await opening;
    if (this.#fetching === fetching) this.#fetching = null;
    if (!session) return;
    this.#own = session;
    this.files.show(session);
    if (before && before !== session) this.files.close(before);
  }

  /** Opens a file of the person's own. */
  async openFile(file: File): Promise<void> {
    await this.#open(file.name, async () => fromFile(file));
  }

  /** Opens the file at `url`, at a place in it. A file of another site is opened only if the person then asks for it. */
  openUrl(url: string, as?: string, place: Place | null = null): Promise<Session | null> {
    return this.#fetch(url, { as, at: place ? () => place : undefined });
  }

  #fetch(url: string, { as, at, isAsked }: { as?: string | undefined; at?: At | undefined; isAsked?: boolean }) {
    this.asked = null;
    return this.#open(
      as ?? url,
      async (signal, said) => {
        const source = await fromUrl(url, { signal, said, isAsked: isAsked ?? false });
        const { decode = null } = at?.(null) ?? {};
        return { ...source, name: as ?? source.name, ...(decode === null ? {} : { decode }) };
      },
      at,
    );
  }

  async #open(title: string, find: Find, at: At = this.#pending, before = this.notices): Promise<Session | null> {
    const session = await this.files.open(title, find, at);
    if (!session) return null;
    // What could not be opened before is no matter any more.
    this.notices = this.notices.filter((one) => one.tone === 'info' || one.of || !before.includes(one));
    return session;
  }

  /** Opens bytes that somebody has dumped, or two dumps that are compared. */
  readonly #decoded = (event: CustomEvent<Dumps>): void => {
    event.stopPropagation();
    const { name, blobs, decode = '' } = event.detail;
    const find: Find = async (signal) => {
      const [first, second] = blobs;
      return second ? await joined(client(), [first, second], signal) : { name, blob: first, decode };
    };
    const view = blobs.length > 1 ? 'compare' : null;
    void this.#open(name || 'the dump', find, () => ({ ...NOWHERE, decode: view ? AS_QMD : decode, view }));
  };

  /** Shows where a dump is pasted, with `text` in it. */
  async #showDecode(text = ''): Promise<void> {
    await import('./decode.ts');
    await this.#part<Decode>('kernel-scope-decode')?.show(text);
  }

  /** The place that waits for a file of one's own: for any, unless it is known for which. */
  readonly #pending: At = (digest) => {
    const { pending } = this.#history ?? {};
    if (!this.#history || !pending || (pending.digest !== null && pending.digest !== digest)) return null;
    this.#history.pending = null;
    return pending.place;
  };

  /** Opens several files side by side; the first of them is shown. */
  async #openAll(sources: readonly Source[]): Promise<void> {
    let first: Session | null = null;
    const before = this.notices;
    for (const source of sources) {
      const session = await this.#open(source.name, async () => source, this.#pending, before);
      first ??= session;
    }
    if (first) this.files.show(first);
  }

  /** What is only to be known for a moment is said of no file. */
  #notice(text: string, tone: Tone, about: Session | null = null, all = ''): void {
    const of = tone === 'info' ? null : about;
    const notice = { text, tone, of, all };
    const others = this.notices.filter((one) => one.of !== of);
    const before = this.notices.filter((one) => one.of === of && one.text !== text);
    this.notices = [...others, ...before.slice(-2), notice];
    if (tone === 'info') setTimeout(() => this.#dismiss(notice), MOMENT);
  }

  /** Who goes to another file has read what could not be opened. */
  #show(session: Session): void {
    this.notices = this.notices.filter(({ tone, of }) => tone === 'info' || of);
    this.files.show(session);
  }

  /** Files were opened or closed, or another is shown. */
  #changed(): void {
    const { active, sessions } = this.files;
    const left = this.#last === active ? null : this.#last;
    this.#last = active;
    this.notices = this.notices.filter(({ of }) => of === null || (of !== left && sessions.includes(of)));
    this.requestUpdate();
  }

  #dismiss(notice: Notice): void {
    this.notices = this.notices.filter((one) => one !== notice);
  }

  override render() {
    const { session, docking, files } = this;
    const isRight = docking.side === 'right';
    const size = isRight ? docking.width : docking.height;
    // What was chosen in a larger window leaves room in a smaller one.
    const most = isRight ? 'calc(100% - 416px)' : 'calc(100% - 200px)';
    const dock =
      size === null ? (isRight ? 'clamp(380px, 46%, 800px)' : 'clamp(200px, 42%, 420px)') : `min(${size}px, ${most})`;
    return html`<div class="scope"><div class="layout ${session ? docking.side : 'empty'}" ${styled({ '--dock': dock })}>
      ${
        files.sessions.length > 1
          ? html`<kernel-scope-tabs role="region" aria-label="Files" .sessions=${files.sessions} .active=${session} @show=${(event: CustomEvent<Session>) => this.#show(event.detail)}
              @close=${(event: CustomEvent<Session>) => this.#close(event.detail)}></kernel-scope-tabs>`
          : nothing
      }
      <kernel-scope-identity role="region" aria-label="The file" .session=${session} .items=${this.#items()} @pick=${this.#pick} @find=${() => this.#do('find')}></kernel-scope-identity>
      ${session ? this.#file(session) : this.#empty()}
      <div class="notices">
        ${session ? this.#openings.map((opening) => this.#opening(opening)) : nothing}
        ${session && this.asked ? html`<div class="notice" role="alert">${this.#question(this.asked)}</div>` : nothing}
        ${this.notices.filter(({ of }) => of === null || of === session).map((notice) => this.#said(notice))}
      </div>
      ${this.isDragged ? html`<div class="over" aria-hidden="true">Drop to open</div>` : nothing}
      <input type="file" multiple hidden aria-label="Files to open" @change=${this.#picked}>
      <kernel-scope-palette .session=${session} @decode=${() => this.#do('decode')}></kernel-scope-palette>
      <kernel-scope-decode @decode=${this.#decoded}></kernel-scope-decode>
      <kernel-scope-sheet .hasSingle=${this.hasSingle} @single=${this.#switched}></kernel-scope-sheet>
    </div></div>`;
  }

  #said(notice: Notice) {
    const { text, tone, all } = notice;
    return html`<div class="notice" role=${tone === 'error' ? 'alert' : 'status'}><span>${name(text, 500)}</span>
      ${all && html`<button @click=${() => this.#copy(all, 'all of it')}>Copy all</button>`}
      <button @click=${() => this.#dismiss(notice)}>Dismiss</button></div>`;
  }

  /** A page has one main part; in the page of others it is not ours. */
  get #main(): string {
    return this.wholeWindow ? 'main' : 'region';
  }

  get #openings(): Opening[] {
    return this.files.openings.filter(({ isSlow }) => isSlow);
  }

  #opening({ title, said, cancel }: Opening) {
    return html`<div class="notice" role="status"><span>opening ${name(title, 80)}${said ? `, ${said}` : ''}…</span><button @click=${cancel}>Cancel</button></div>`;
  }

  #question({ error, place }: { error: OtherSite; place: Place | null }) {
    return html`<span>${error.message}: ${name(error.url, 200)} is fetched only if you say so. It then learns that you asked for it.</span>
      <button @click=${() => this.#fetch(error.url, { at: () => place, isAsked: true })}>Fetch it</button>
      <button @click=${() => (this.asked = null)}>No</button>`;
  }

  #empty() {
    const [opening] = this.#openings;
    if (opening) {
      return html`<div class="body message"><p class="opening" role="status">opening ${name(opening.title, 80)}${opening.said ? `, ${opening.said}` : ''}…
        <button class="link" @click=${opening.cancel}>cancel</button></p></div>`;
    }
    if (this.asked) return html`<div class="body message" role="alert">${this.#question(this.asked)}</div>`;
    // Who embeds the element chose the file: other files to try are not theirs.
    if (this.src && this.files.failed) {
      return html`<div class="body message"><p>${name(this.files.failed, 200)} could not be opened.</p>
        <button class="button" @click=${() => this.src && this.#openOwn(this.src)}>Try again</button>
        <button class="button" @click=${this.#pick}>Open a file…</button></div>`;
    }
    return html`<kernel-scope-start class="body" role=${this.#main} aria-label="Open a file" .isWhole=${this.wholeWindow} .pending=${this.#history?.pending?.place ?? null}
      @pick=${this.#pick} @decode=${() => this.#do('decode')} @address=${({ detail }: CustomEvent<string>) => this.openUrl(detail)}
      @example=${({ detail }: CustomEvent<Example>) => this.openUrl(detail.url, detail.name)}></kernel-scope-start>`;
  }

  #file(session: Session) {
    const { side, split } = this.docking;
    return html`
      <kernel-scope-ribbon role="region" aria-label="Map of the file" .session=${session}></kernel-scope-ribbon>
      <kernel-scope-nav role="navigation" aria-label="What the file has" .session=${session}></kernel-scope-nav>
      <kernel-scope-panel role=${this.#main} aria-label="What is open" .session=${session} @decode=${this.#decoded}></kernel-scope-panel>
      <kernel-scope-dock role="region" aria-label="Bytes and fields" .session=${session} .side=${side} .split=${split} @resize=${this.#resized}
        @split=${({ detail }: CustomEvent<number>) => this.#setDocking({ split: detail })}></kernel-scope-dock>
    `;
  }

  #items(): Items {
    const { session, docking } = this;
    const sides = {
      below: 'Bytes and fields below',
      right: 'Bytes and fields at the right',
      none: 'Bytes and fields away',
    };
    const themes = { system: 'Light or dark as the system', light: 'Light', dark: 'Dark' };
    const one = session
      ? [
          { title: 'Copy a link to this place', run: () => this.#copyLink(session) },
          { title: 'Save the report as JSON…', run: () => this.#saveReport(session) },
          { title: 'Print…', run: () => window.print() },
          ...(session.source.member
            ? [{ title: 'Save this member as a file…', run: () => this.#saveMember(session) }]
            : []),
          { title: 'Close the file', hint: 'Shift+X', run: () => this.#close(session) },
          null,
          ...SIDES.map((side) => ({
            title: sides[side],
            isChosen: docking.side === side,
            run: () => this.#setDocking({ side }),
          })),
          null,
        ]
      : [];
    return [
      { title: 'Open…', hint: 'Ctrl+O', run: this.#pick },
      { title: 'Decode a dump…', hint: 'P', run: () => this.#do('decode') },
      ...one,
      ...THEMES.map((theme) => ({
        title: themes[theme],
        isChosen: this.#theme === theme,
        run: () => this.#setTheme(theme),
      })),
      null,
      { title: 'Keyboard…', hint: '?', run: () => this.#do('sheet') },
      ...(this.files.isRemembering ? [{ title: 'Forget where files were left', run: () => this.#forget() }] : []),
    ];
  }

  async #copyLink(session: Session): Promise<void> {
    const { address } = session.source;
    // A file of the person's own has no address: what can be told is the place in it.
    const link = `${location.origin}${location.pathname}#${session.place}`;
    await this.#copy(link, address === undefined ? 'the place (whoever follows it has to open the file)' : 'the link');
  }

  async #copy(text: string, what: string): Promise<void> {
    const said = await copyText(text, what);
    this.#notice(said, said.startsWith('not') ? 'error' : 'info');
  }

  async #saveReport(session: Session): Promise<void> {
    await session.attempt('The report could not be made', async () => {
      save(new Blob([await session.call('report', [])], { type: 'application/json' }), `${session.name}.json`);
    });
  }

  async #saveMember(session: Session): Promise<void> {
    await session.attempt('The member could not be saved', async () => {
      const whole = { offset: 0, size: session.size };
      const options = { signal: new AbortController().signal, progress: () => {} };
      const { blob } = await new FileSpace(session).save(whole, options);
      save(blob, session.fileName);
      this.#notice(`${session.fileName} saved, ${bytes(blob.size)}.`, 'info');
    });
  }

  #forget(): void {
    const many = this.files.forget();
    this.#notice(
      many === 1 ? 'The place of 1 file is forgotten.' : `The places of ${count(many)} files are forgotten.`,
      'info',
    );
  }

  #setTheme(theme: Theme): void {
    this.#theme = theme;
    this.style.colorScheme = theme === 'system' ? '' : theme;
    if (this.files.isRemembering) {
      store('theme', theme);
      document.documentElement.style.colorScheme = this.style.colorScheme;
    }
    this.requestUpdate();
  }

  #setDocking(change: Partial<Docking>): void {
    this.docking = { ...this.docking, ...change };
    if (this.files.isRemembering) store('docking', this.docking);
  }

  #close(session: Session): void {
    const hadFocus = this.matches(':focus-within');
    this.files.close(session);
    if (this.#own?.file === session.file) this.#own = null;
    if (!this.session) this.#history?.emptied();
    // The focus goes to what has taken the file's place.
    if (hadFocus) {
      void this.updateComplete.then(() => {
        const tabs = this.#part('kernel-scope-tabs');
        firstFocusable(tabs ?? this.#part(this.session ? 'kernel-scope-panel' : 'kernel-scope-start'))?.focus();
      });
    }
  }

  readonly #switched = ({ detail }: CustomEvent<boolean>): void => {
    this.hasSingle = detail;
    if (this.files.isRemembering) store('single-keys', detail);
  };

  readonly #pick = (): void => {
    this.renderRoot.querySelector('input')?.click();
  };

  readonly #picked = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    void this.#openAll([...(input.files ?? [])].map(fromFile));
    input.value = '';
  };

  readonly #dragged = (event: Event): void => {
    const { dataTransfer } = event as DragEvent;
    if (!hasFiles(dataTransfer)) return;
    event.preventDefault();
    if (dataTransfer) dataTransfer.dropEffect = 'copy';
    this.isDragged = true;
  };

  readonly #undragged = (event: Event): void => {
    // Leaving for an element inside is not leaving.
    const to = (event as DragEvent).relatedTarget;
    if (!(to instanceof Node && (this.#left === window || this.contains(to)))) this.isDragged = false;
  };

  readonly #dropped = (event: Event): void => {
    const { dataTransfer } = event as DragEvent;
    if (!hasFiles(dataTransfer)) return;
    event.preventDefault();
    this.isDragged = false;
    void this.#openAll(fromTransfer(dataTransfer));
  };

  /** Files, the address of one, or the digits of some bytes; not where somebody writes. */
  readonly #pasted = (event: Event): void => {
    const { clipboardData } = event as ClipboardEvent;
    if (!clipboardData || isWriting(event)) return;
    const sources = fromTransfer(clipboardData);
    const text = clipboardData.getData('text/plain').trim();
    const digits = fromDigits(text);
    if (sources.length > 0) void this.#openAll(sources);
    else if (digits) void this.#openAll([digits]);
    else if (/^https?:\/\/\S+$/.test(text)) void this.openUrl(text);
    else if (isDump(text)) void this.#showDecode(text);
    else if (text && this.#left === window) {
      this.#notice(
        'What was pasted is no file, no address, no dump and no hexadecimal digits of 8 bytes or more.',
        'info',
      );
    } else return;
    event.preventDefault();
  };

  readonly #keyed = (event: Event): void => {
    if (event.defaultPrevented || !(event instanceof KeyboardEvent)) return;
    // What is open above the page has the keys.
    const isAbove = event.composedPath().some((one) => one instanceof Element && one.matches('dialog, [role="menu"]'));
    const action = isAbove ? null : actionOf(event, this.hasSingle && !isWriting(event));
    if (action && this.#do(action)) event.preventDefault();
  };

  /** Does something; false where there is nothing to do it to. */
  #do(action: Action): boolean {
    const { session, files } = this;
    const { sessions } = files;
    if (action === 'open') this.#pick();
    else if (action === 'decode') void this.#showDecode();
    else if (action === 'sheet') this.#part<Sheet>('kernel-scope-sheet')?.show();
    else if (!session) return false;
    else if (action === 'find') this.#part<Palette>('kernel-scope-palette')?.show();
    else if (action === 'dock')
      this.#setDocking({ side: SIDES[(SIDES.indexOf(this.docking.side) + 1) % SIDES.length] ?? 'below' });
    else if (action === 'close-file') this.#close(session);
    else if (action === 'next-file' || action === 'previous-file') {
      const step = action === 'next-file' ? 1 : -1;
      this.#show(sessions.at((sessions.indexOf(session) + step) % sessions.length) ?? session);
    } else if (action === 'next-region' || action === 'previous-region')
      this.#nextRegion(action === 'next-region' ? 1 : -1);
    else
      this.#focus({ bytes: 'bytes', fields: 'fields', tree: 'kernel-scope-nav', main: 'kernel-scope-panel' }[action]);
    return true;
  }

  #part<T extends Element>(of: string): T | null {
    return this.renderRoot.querySelector<T>(of);
  }

  #nextRegion(step: number): void {
    const root = this.renderRoot as ShadowRoot;
    const at = root.activeElement;
    const dock = this.#part<Dock>('kernel-scope-dock');
    const isFields = dock?.shadowRoot?.activeElement?.localName === 'kernel-scope-diagram';
    const here = at === dock ? (isFields ? 'fields' : 'bytes') : (at?.localName ?? '');
    const regions = this.docking.side === 'none' ? REGIONS.slice(0, 3) : REGIONS;
    const from = regions.indexOf(here);
    this.#focus(regions.at((from < 0 && step < 0 ? 0 : from + step) % regions.length) ?? '');
  }

  #focus(region: string): void {
    if (region === 'bytes' || region === 'fields') {
      if (this.docking.side === 'none') this.#setDocking({ side: 'below' });
      void this.updateComplete.then(() => this.#part<Dock>('kernel-scope-dock')?.show(region));
      return;
    }
    firstFocusable(this.#part(region))?.focus();
  }

  /** The dock is to have another size; the rest keeps some of it. */
  readonly #resized = ({ detail }: CustomEvent<number>): void => {
    const { width, height } = this.getBoundingClientRect();
    const change =
      this.docking.side === 'right' ? { width: within(detail, width - 216) } : { height: within(detail, height) };
    this.#setDocking(change);
  };
}

/** Whether the event comes from where somebody writes. */
function isWriting(event: Event): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof Element &&
    target.matches('input:not([type="radio"], [type="checkbox"]), textarea, select, [contenteditable="true"]')
  );
}

/** What takes the focus first in an element, in the shadow trees below it as well. */
function firstFocusable(element: Element | null): HTMLElement | null {
  const root = element?.shadowRoot ?? element;
  for (const one of root?.querySelectorAll<HTMLElement>('*') ?? []) {
    if (one.matches('[tabindex="0"], button:not([tabindex="-1"]), input, a[href]') && one.checkVisibility()) return one;
    const within = one.shadowRoot ? firstFocusable(one) : null;
    if (within) return within;
  }
  return null;
}

define('kernel-scope', KernelScope);
