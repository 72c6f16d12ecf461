// <kernel-scope-hex>: bytes, of the file or of another space of them. What is visible is one text, which is the cheapest there is to
// lay out; tints, the selection and the structure around it are boxes behind it. For screen readers there is a grid of which the
// row with the selection is there.

import { css, html, nothing } from 'lit';
import { type ByteSpace, FileSpace, type Margin, type Range, type Spot } from '../bytes.ts';
import { isAbort, message } from '../client.ts';
import { COPY_LIMIT, type Copied, FORMS } from '../copied.ts';
import {
  asciiText,
  type Box,
  boxes,
  byteAt,
  column,
  columns,
  edges,
  hexText,
  leavesIn,
  ROW,
  type View,
  WIDTHS,
  widthFor,
} from '../hex.ts';
import { copyText, save } from '../out.ts';
import { Pages } from '../pages.ts';
import { leafAt } from '../ribbon.ts';
import type { Change } from '../session.ts';
import { store, stored } from '../stored.ts';
import { bytes, hex, name } from '../text.ts';
import { Virtual, virtualStyles } from '../virtual.ts';
import './find.ts';
import type { Find } from './find.ts';
import './inspector.ts';
import './menu.ts';
import type { Items } from './menu.ts';
import { define, Part } from './part.ts';
import { Pointing } from './pointing.ts';

const PAGE = 16 << 10;
/** Pixels on both sides of a row. */
const INSET = 14;
/** Characters that a name beside the rows needs at least. */
const LABEL = 12;
/** Parts whose names are kept. */
const KNOWN = 2000;

/** How the bytes are shown; 0 bytes a row are as many as fit. */
interface Look {
  width: number;
  margin: Margin;
}

function isLook(value: unknown): value is Look {
  const { width, margin } = (value ?? {}) as Partial<Look>;
  return [0, ...WIDTHS].includes(width as never) && ['own', 'part', 'other'].includes(margin as string);
}

export class Hex extends Part {
  static override properties = {
    ...super.properties,
    space: { attribute: false },
    look: { state: true },
    isFinding: { state: true },
    isInspected: { state: true },
    room: { state: true },
  };
  static override styles = [
    super.styles,
    virtualStyles,
    css`
      :host { display: grid; grid-template-rows: auto auto minmax(0, 1fr) auto auto; min-block-size: 0; min-inline-size: 0; }
      .error { color: var(--error); min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      .head, .foot { display: flex; gap: 4px 12px; align-items: baseline; padding: 6px ${INSET}px 5px; font-size: 12px; color: var(--dim);
        white-space: nowrap; overflow: hidden; }
      .head b { font: 600 12.5px var(--mono); color: var(--ink); overflow: hidden; text-overflow: ellipsis; min-inline-size: 4em; }
      .where { overflow: hidden; text-overflow: ellipsis; }
      .said { margin-inline-start: 10px; }
      .foot { padding-block: 4px 6px; }
      .path { flex: 1; overflow: hidden; text-overflow: ellipsis; }
      .path .file { font-size: 11.5px; overflow-wrap: normal; }
      form { margin-inline-start: auto; display: flex; gap: 8px; align-items: baseline; min-inline-size: 0; }
      form input { inline-size: 9em; font: 12px var(--mono); padding-block: 1px; }
      form input[aria-invalid="true"] { border-color: var(--error); }
      .head { grid-row: 1; }
      kernel-scope-find { grid-row: 2; }
      .scroller { grid-row: 3; }
      kernel-scope-inspector { grid-row: 4; max-block-size: 168px; overflow: auto; padding: 5px ${INSET}px 0; border-block-start: 1px solid var(--line); }
      .foot { grid-row: 5; }
      .foot button:hover { color: var(--ink); text-decoration: underline; }
      .foot [aria-pressed="true"] { color: var(--ink); font-weight: 600; }
      .scroller { contain: strict; cursor: text; user-select: none; -webkit-user-select: none; -webkit-touch-callout: none; touch-action: pan-x pan-y; }
      .scroller:focus-visible { outline-offset: -2px; }

      .sheet { position: relative; padding-inline: ${INSET}px; font: 12.5px/${ROW}px var(--mono); white-space: pre; contain: layout style; }
      /* With a width and without the niceties of type, laying out is two times as fast. */
      pre { margin: 0; font: inherit; position: relative; text-rendering: optimizeSpeed; font-kerning: none; font-variant: none; overflow: hidden; }
      .boxes, .over { position: absolute; inset-block: 0; inset-inline-start: ${INSET}px; }
      .over { pointer-events: none; }
      .boxes > *, .veil { position: absolute; }
      .mark { background: var(--mark); }
      .wash { background: var(--wash); }
      .changed { box-shadow: inset 0 0 0 1px var(--warning); background: color-mix(in srgb, var(--warning) 16%, transparent); }
      /* A line below the bytes of each row. */
      .tint { background: linear-gradient(transparent 17px, var(--tint) 17px 19px, transparent 19px) 0 0 / 100% ${ROW}px; }
      .role-padding, .role-unclaimed { mask-image: repeating-linear-gradient(90deg, #000 0 3px, transparent 3px 6px); }
      .begin { inline-size: 1px; margin-inline-start: -3px; background: color-mix(in srgb, var(--ink) 40%, transparent); }
      /* The margin and the characters step back. */
      .veil { inset-block: 0; background: var(--pane); opacity: .36; pointer-events: none; }
      .label { position: absolute; color: var(--dim); overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
      .handle { position: absolute; inline-size: 44px; block-size: 40px; margin: 0 0 0 -22px; pointer-events: auto; touch-action: none; }
      .handle::before { content: ''; position: absolute; inset-block-start: 2px; inset-inline-start: 13px; inline-size: 18px; block-size: 18px;
        border-radius: 50%; background: var(--accent); }
      .handle[data-end="from"]::before { border-start-end-radius: 0; inset-inline-start: 4px; }
      .handle[data-end="to"]::before { border-start-start-radius: 0; inset-inline-start: 22px; }
      @media (forced-colors: active) {
        /* Forced text has a plate behind it, which would hide the boxes. */
        pre, .boxes > *, .handle::before { forced-color-adjust: none; }
        pre { color: CanvasText; }
        .mark { background: Highlight; opacity: .5; }
        .changed { box-shadow: inset 0 0 0 1px CanvasText; }
        .veil { display: none; }
      }
      @container (max-width: 700px) {
        .head { flex-wrap: wrap; }
        .head b { flex: 1; }
        .where { order: 1; flex-basis: 100%; min-block-size: 1.45em; }
        .foot { padding-block: 0 4px; align-items: center; gap: 4px 14px; }
        .foot button { min-block-size: 32px; }
      }
    `,
  ];

  /** What is shown; the session's file where there is nothing else. */
  declare space: ByteSpace | null;
  declare look: Look;
  declare isFinding: boolean;
  /** Whether it is shown what the selected bytes are as numbers. */
  declare isInspected: boolean;
  /** Pixels for the rows. */
  declare room: number;
  #file: FileSpace | null = null;
  #quietly: (() => void) | undefined;
  #heard: ByteSpace | null = null;
  /** Where a selection by mouse or keys began, and where it is now. */
  #anchor = 0;
  #cursor = 0;
  #error = '';
  /** What is wrong with the place that was asked for. */
  #wrong = '';
  /** What is to be said of the last thing done. */
  #said = '';
  /** Bytes a row, and pixels a character. */
  #width = 16;
  #character = 7.53;
  #isHeld = false;
  /** What is pointed at, and what is known of it. */
  #hovered: { at: number; spot: Spot | null; isKnown: boolean } | null = null;
  #isAsking = false;
  /** Where the rows stood when they were drawn last. */
  #top = 0;
  /** What is known of parts, by the index of the leaf. */
  readonly #known = new Map<number, Spot | null>();
  #isLearning = false;
  /** Characters of the margin as they were drawn last. */
  #digits = 6;
  /** What is drawn behind and over the text, as it was said last. */
  readonly #behind: string[] = [];
  readonly #over: string[] = [];
  readonly #pointing = new Pointing({
    at: (x, y, isExact) => this.#at(x, y, isExact),
    go: (to, isExtending) => this.#go(to, isExtending),
    widen: (at, to) => void this.#widen(at, to),
    hover: (at) => void this.#hover(at),
    hold: (isHeld) => {
      this.#isHeld = isHeld;
      this.requestUpdate();
    },
    pin: (end) => {
      const { offset, size } = this.#selection;
      [this.#anchor, this.#cursor] = end === 'to' ? [offset, offset + size - 1] : [offset + size - 1, offset];
    },
    scroll: (rows) => this.#virtual.scrollTo(this.#virtual.top + rows),
  });
  readonly #pages = new Pages<Uint8Array>(
    (page, signal) => {
      const space = this.#space;
      return space ? space.read(page * PAGE, PAGE, signal) : Promise.reject(new Error('no file is open'));
    },
    (error) => {
      if (error && !isAbort(error)) this.#error = message(error);
      this.requestUpdate();
    },
    64,
  );
  /** Bytes that are not as the file has them. */
  readonly #changed = new Pages<readonly Range[]>(
    (page, signal) => this.#space?.changed?.(page * PAGE, PAGE, signal) ?? Promise.resolve([]),
    () => this.requestUpdate(),
    64,
  );
  readonly #virtual = new Virtual(
    this,
    () => Math.ceil((this.#space?.size ?? 0) / this.#width),
    ROW,
    () => Math.floor(this.#cursor / this.#width),
  );
  readonly #observer =
    typeof ResizeObserver === 'undefined'
      ? null
      : new ResizeObserver(([entry]) => {
          const text = this.#pre?.getBoundingClientRect().width ?? 0;
          // Zooming can change what a character is wide.
          if (text > 0) this.#character = text / edges({ width: this.#width, digits: this.#digits }).end;
          this.room = Math.floor(entry?.contentRect.width ?? 0);
        });

  constructor() {
    super();
    this.space = null;
    this.room = 1000;
    this.isFinding = false;
    this.isInspected = stored('inspector', false, (value) => typeof value === 'boolean');
    this.look = stored('bytes', { width: 0, margin: 'own' }, isLook);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#observer?.observe(this);
    this.#listen();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer?.disconnect();
    this.#quietly?.();
    this.#heard = null;
  }

  get #space(): ByteSpace | null {
    return this.space ?? this.#file;
  }

  get #selection(): Range {
    return this.#space?.selection ?? { offset: 0, size: 0 };
  }

  get #pre(): HTMLPreElement | null {
    return this.renderRoot?.querySelector('pre') ?? null;
  }

  /** Another session; what changes in this one is heard from the space. */
  protected override changed(change: Change | null): void {
    if (change === null) this.#file = this.session && !this.space ? new FileSpace(this.session) : null;
  }

  protected override willUpdate(properties: Map<PropertyKey, unknown>): void {
    super.willUpdate(properties);
    if (properties.has('space') && !this.space && this.session) this.#file = new FileSpace(this.session);
    this.#listen();
    // Another byte is below the pointer now; the browser says so when the pointer has been told.
    if (this.#virtual.top !== this.#top) this.#hovered = null;
    this.#top = this.#virtual.top;
    const digits = Math.max(6, ((this.#space?.size ?? 1) - 1).toString(16).length);
    const width = this.look.width || widthFor((this.room - 2 * INSET) / this.#character, digits);
    if (width !== this.#width) {
      // The same byte stays at the top.
      const top = (this.#virtual.top * this.#width) / width;
      this.#width = width;
      this.#virtual.scrollTo(top);
    }
  }

  #listen(): void {
    const space = this.#space;
    if (space === this.#heard || !this.isConnected) return;
    this.#quietly?.();
    this.#heard = space;
    this.#quietly = space?.listen((change) => this.#hear(change));
    this.#forget();
    this.#anchor = this.#cursor = this.#selection.offset;
    const top = this.session?.kept.get(`bytes ${space?.key}`);
    // A file is shown where it was left, or where its selection is when it is new.
    this.#virtual.top = (typeof top === 'number' ? top : Math.max(0, this.#anchor - 3 * this.#width)) / this.#width;
  }

  #forget(): void {
    this.#pages.clear();
    this.#changed.clear();
    this.#known.clear();
    this.#error = this.#said = this.#wrong = '';
    this.#hovered = null;
    this.#isHeld = false;
  }

  #hear(change: Change): void {
    if (change === 'view' || change === 'summary') return;
    if (change === 'reopened') this.#forget();
    if (change === 'reveal') {
      const { offset, size } = this.#selection;
      this.#anchor = this.#cursor = offset;
      this.#isHeld = false;
      const last = offset + Math.max(0, size - 1);
      this.#virtual.reveal(Math.floor(offset / this.#width), Math.floor(last / this.#width));
    }
    this.#said = '';
    this.requestUpdate();
  }

  override render() {
    const space = this.#space;
    if (!space) return nothing;
    const p = this.#pointing;
    return html`
      <div class="head">
        ${this.#where(space)}
        <form @submit=${this.#goto}>
          ${this.#wrong ? html`<span class="error" role="alert">${this.#wrong}</span>` : nothing}
          <input class="field" name="goto" placeholder="Go to…" aria-label="Go to offset" aria-invalid=${this.#wrong !== ''} autocomplete="off" spellcheck="false"
            @input=${this.#rewrite}>
        </form>
      </div>
      ${this.isFinding ? html`<kernel-scope-find .space=${space} @close=${this.#unfind}></kernel-scope-find>` : nothing}
      <div class="scroller" role="grid" tabindex="0" aria-label="Bytes" aria-rowcount=${this.#virtual.list.rows} aria-colcount=${this.#width + 1}
        aria-multiselectable="true" aria-activedescendant=${space.size > 0 ? 'cell' : nothing}
        @pointerdown=${p.down} @pointermove=${p.move} @pointerup=${p.up} @pointercancel=${p.up} @pointerleave=${p.leave} @touchmove=${p.touch}
        @click=${p.click} @dblclick=${p.double} @contextmenu=${p.menu} @keydown=${this.#key}>
        <div class="window" role="presentation">
          <div class="sheet" aria-hidden="true"><div class="boxes"></div><pre></pre><div class="over"></div></div>
          ${this.#row(space)}
        </div>
        <div class="spacer"></div>
      </div>
      ${this.isInspected ? html`<kernel-scope-inspector tabindex="-1" .space=${space}></kernel-scope-inspector>` : nothing}
      <div class="foot">
        <span class="path">${this.#path()}</span>
        <button aria-pressed=${this.isFinding} title="Ctrl F" @click=${this.#find}>find</button>
        <button aria-pressed=${this.isInspected} @click=${this.#inspect}>inspect</button>
        <kernel-scope-menu label="copy" hint="Copy the selected bytes" .items=${this.#copies()}></kernel-scope-menu>
        <kernel-scope-menu label="${this.#width} a row" hint="How the bytes are shown" .items=${this.#looks(space)}></kernel-scope-menu>
      </div>
      <p class="unseen" role="status">${this.#spoken()}</p>
    `;
  }

  #where(space: ByteSpace) {
    if (this.#error) return html`<span class="error" role="alert" title=${this.#error}>${this.#error}</span>`;
    const { selection, spot } = space;
    if (!spot || selection.size === 0) {
      return html`<span class="where">${space.size === 0 ? 'no bytes' : space.key === 'file' ? nothing : 'What is selected in the file is not in this image.'}</span>`;
    }
    const [part = ''] = spot.path;
    const isFile = space.key === 'file';
    const { session } = this;
    const around = isFile ? (session?.around(selection.offset) ?? null) : null;
    const there =
      around === null
        ? nothing
        : html` · ${session?.origin === null ? around : html`<button class="link" title="Show these bytes there" @click=${() => session?.showAround()}>${around}</button>`}`;
    const other =
      spot.other !== null ? ` · ${isFile ? 'image' : 'file'} ${hex(spot.other)}` : isFile ? '' : ' · not from the file';
    return html`
      <b class="file" title=${part}>${name(part, 60)}</b>
      <span class="where">${isFile ? (around === null ? 'file' : 'member') : 'image'} ${hex(selection.offset)}${there} · +${hex(Math.max(0, selection.offset - spot.part.offset))}${other}
        <span class="said">${this.#said || (selection.size > 1 ? `${bytes(selection.size)} selected` : nothing)}</span></span>
    `;
  }

  /** What is pointed at, else what is selected: part, structure and field with their offsets. */
  #path() {
    const space = this.#space;
    const at = this.#hovered?.at ?? this.#selection.offset;
    const spot = this.#hovered ? this.#hovered.spot : space?.spot;
    if (!space || space.size === 0 || (!this.#hovered && this.#selection.size === 0)) return nothing;
    const role = space.roles[space.leaves.role[leafAt(space.leaves, at)] ?? 0] ?? '';
    if (!spot) return html`<span class="num">${hex(at)}</span> ${role}`;
    const from = [spot.part, spot.record, spot.field].filter((one) => one !== null).map(({ offset }) => offset);
    const words = spot.path.map(
      (word, i) =>
        html`${i > 0 ? ' › ' : ' '}<span class="file">${word}</span>${from[i] === undefined ? nothing : ` +${hex(at - from[i])}`}`,
    );
    return html`<span class="num">${hex(at)}</span>${words} · ${role}`;
  }

  #spoken(): string {
    const space = this.#space;
    if (!space) return '';
    if (this.#said) return this.#said;
    const { offset, size } = space.selection;
    const value = this.#value(offset);
    return `${hex(offset)}${size === 1 && value !== undefined ? `, byte ${hex(value, 2)}` : `, ${bytes(size)}`}, ${space.spot?.path.join(', ') ?? ''}`;
  }

  #value(offset: number): number | undefined {
    return this.#pages.get(Math.floor(offset / PAGE))?.[offset % PAGE];
  }

  /** The row that the keyboard is in, for those who do not see it. */
  #row(space: ByteSpace) {
    if (space.size === 0) return nothing;
    const { selection } = space;
    const start = this.#cursor - (this.#cursor % this.#width);
    const count = Math.min(this.#width, space.size - start);
    return html`<div class="unseen" role="row" aria-rowindex=${Math.floor(start / this.#width) + 1}>
      <span role="rowheader" aria-colindex="1">${hex(start)}</span>${Array.from({ length: count }, (_, i) => {
        const at = start + i;
        const value = this.#value(at);
        const isIn = at >= selection.offset && at < selection.offset + selection.size;
        return html`<span role="gridcell" id=${at === this.#cursor ? 'cell' : nothing} aria-colindex=${i + 2} aria-selected=${isIn}>${value === undefined ? '' : hexText(Uint8Array.of(value), 1)}</span>`;
      })}
    </div>`;
  }

  #copies(): Items {
    return [
      ...FORMS.map((form, i) => ({
        title: form.title,
        hint: i === 0 ? 'Ctrl C' : form.hint,
        run: () => void this.#copy(form),
      })),
      { title: 'Where they are', hint: 'offset', run: () => void this.#copyPlace() },
      null,
      { title: 'Save selection…', run: () => void this.#save() },
    ];
  }

  #looks({ margins }: ByteSpace): Items {
    const look = (change: Partial<Look>) => () => {
      this.look = { ...this.look, ...change };
      store('bytes', this.look);
    };
    return [
      { title: 'As many as fit', isChosen: this.look.width === 0, run: look({ width: 0 }) },
      ...WIDTHS.map((width) => ({
        title: `${width} bytes a row`,
        isChosen: this.look.width === width,
        run: look({ width }),
      })),
      null,
      ...(['own', 'part', 'other'] as const).map((margin) => ({
        title: `Offsets ${margins[margin]}`,
        isChosen: this.look.margin === margin,
        run: look({ margin }),
      })),
    ];
  }

  protected override updated(): void {
    const space = this.#space;
    if (space) this.#draw(space);
  }

  /** Writes what is visible. Only what is another than before is touched. */
  #draw(space: ByteSpace): void {
    const pre = this.#pre;
    if (!pre) return;
    const { first, count, shift } = this.#virtual.visible;
    const width = this.#width;
    const start = first * width;
    const end = Math.min(space.size, start + count * width);
    this.session?.kept.set(`bytes ${space.key}`, this.#virtual.top * width);
    const view = { start, end, width };
    const leaves = leavesIn(space.leaves, view);

    const margins = this.#margins(space, view);
    const digits = Math.max(...margins.map((margin) => margin.length));
    const place = edges({ width, digits });
    this.#digits = digits;
    const blank = columns(width);
    let text = '';
    let page = -1;
    let data: Uint8Array | undefined;
    margins.forEach((margin, i) => {
      const at = start + i * width;
      const size = Math.min(width, end - at);
      if (Math.floor(at / PAGE) !== page) {
        page = Math.floor(at / PAGE);
        data = this.#pages.get(page);
      }
      const row = data?.subarray(at % PAGE, (at % PAGE) + size);
      const missing = this.#pages.hasFailed(page) ? '??' : undefined;
      text += `${margin.padStart(digits)}  ${hexText(row, size, missing).padEnd(blank)}  ${asciiText(row, size)}\n`;
    });
    this.#pages.keepOnly((page) => page >= Math.floor(start / PAGE) && page <= Math.floor(end / PAGE));
    if (pre.textContent !== text) pre.textContent = text;
    const room = `${place.end}ch`;
    if (pre.style.width !== room) pre.style.width = room;

    // Behind the text, from below: the structure, the selection, a line in the colour of each part and where it begins.
    const parts: string[] = [];
    const put = (of: string, x: number, chars: number, { row, rows }: Pick<Box, 'row' | 'rows'>) =>
      parts.push(`${of}|left:${x}ch;top:${row * ROW}px;width:${chars}ch;height:${rows * ROW}px`);
    const behind = (of: string, { offset, size }: Range, isText: boolean) => {
      for (const box of boxes(offset, size, view)) {
        put(of, place.hex + column(box.first), column(box.last) + 2 - column(box.first), box);
        if (isText) put(of, place.ascii + box.first, box.last - box.first + 1, box);
      }
    };
    const record = space.spot?.record;
    if (record) behind('wash', record, true);
    behind('mark', space.selection, true);
    for (let at = Math.floor(start / PAGE); space.changed && at * PAGE < end; at++)
      for (const range of this.#changed.get(at) ?? []) behind('changed', range, true);
    for (const leaf of leaves) {
      const part = { offset: space.leaves.offset[leaf] ?? 0, size: space.leaves.size[leaf] ?? 0 };
      behind(`tint role-${space.roles[space.leaves.role[leaf] ?? 0]}`, part, false);
      if (part.offset > start) {
        const at = part.offset - start;
        parts.push(
          `begin|left:${place.hex + column(at % width)}ch;top:${Math.floor(at / width) * ROW + 2}px;height:${ROW - 4}px`,
        );
      }
    }
    const over = [`veil|left:0;width:${digits}ch`, `veil|left:${place.ascii}ch;width:${width}ch`];
    const texts: string[] = ['', ''];
    for (const { row, text } of this.#labels(space, view, leaves, place.end)) {
      over.push(`label|left:${place.end + 2}ch;top:${row * ROW}px;width:${this.#labelRoom(place.end)}ch`);
      texts.push(text);
    }
    if (this.#isHeld) over.push(...this.#handles(space.selection, view, place.hex));
    this.#put('.boxes', parts, []);
    this.#put('.over', over, texts);
    const sheet = pre.parentElement as HTMLElement;
    const transform = `translateY(${-shift}px)`;
    if (sheet.style.transform !== transform) sheet.style.transform = transform;
  }

  /** Places boxes in a layer, each said as `class|style|end`; those that are as they were are left alone. */
  #put(layer: string, places: readonly string[], texts: readonly string[]): void {
    const parent = this.renderRoot.querySelector(layer) as HTMLElement;
    const before = layer === '.boxes' ? this.#behind : this.#over;
    if (parent.children.length === 0) before.length = 0;
    places.forEach((place, i) => {
      const key = `${place}|${texts[i] ?? ''}`;
      if (before[i] === key) return;
      before[i] = key;
      const box = (parent.children[i] ?? parent.appendChild(document.createElement('div'))) as HTMLElement;
      const [of = '', style = '', end] = place.split('|');
      box.className = of;
      box.style.cssText = style;
      if (end) box.dataset.end = end;
      else delete box.dataset.end;
      if (box.textContent !== (texts[i] ?? '')) box.textContent = texts[i] ?? '';
    });
    before.length = places.length;
    while (parent.children.length > places.length) parent.lastElementChild?.remove();
  }

  /** What stands before each row. */
  #margins(space: ByteSpace, { start, end, width }: View): string[] {
    const { margin } = this.look;
    const digits = Math.max(6, (space.size - 1).toString(16).length);
    const out: string[] = [];
    for (let at = start; at < end; at += width) {
      if (margin === 'own') {
        out.push(at.toString(16).padStart(digits, '0'));
        continue;
      }
      const leaf = leafAt(space.leaves, at);
      const from = space.leaves.offset[leaf] ?? at;
      const spot = this.#spotOf(space, leaf);
      if (margin === 'part') out.push(`+${(at - (spot?.part.offset ?? from)).toString(16).padStart(digits - 1, '0')}`);
      else if (spot === null || spot.other === null || at >= spot.otherEnd) out.push('·'.padStart(digits));
      else out.push((spot.other + at - from).toString(16).padStart(digits, '0'));
    }
    return out.length > 0 ? out : [''];
  }

  /** The names of the parts that begin in each row, of several the largest; the first row has that of the part it is in. */
  #labels(
    space: ByteSpace,
    { start, width }: View,
    leaves: readonly number[],
    end: number,
  ): { row: number; text: string }[] {
    if (this.#labelRoom(end) < LABEL) return [];
    const largest = new Map<number, number>();
    for (const leaf of leaves) {
      const row = Math.max(0, Math.floor(((space.leaves.offset[leaf] ?? 0) - start) / width));
      const other = largest.get(row);
      if (other === undefined || (space.leaves.size[other] ?? 0) < (space.leaves.size[leaf] ?? 0))
        largest.set(row, leaf);
    }
    return [...largest].map(([row, leaf]) => {
      const isGoingOn = (space.leaves.offset[leaf] ?? 0) < start;
      return { row, text: `${isGoingOn ? '… ' : ''}${this.#spotOf(space, leaf)?.path[0] ?? ''}` };
    });
  }

  #labelRoom(end: number): number {
    return Math.floor((this.room - 2 * INSET) / this.#character - end - 2);
  }

  /** Where the handles of a range hang. */
  #handles({ offset, size }: Range, { start, end, width }: View, x: number): string[] {
    const ends = [
      { end: 'from', at: offset, side: 0 },
      { end: 'to', at: offset + size - 1, side: 2 },
    ];
    return ends.flatMap(({ end: of, at, side }) => {
      if (at < start || at >= end) return [];
      const row = Math.floor((at - start) / width);
      return [`handle|left:${x + column((at - start) % width) + side}ch;top:${(row + 1) * ROW}px|${of}`];
    });
  }

  /** What is known of the part that a leaf is of; if nothing is, it is asked for. */
  #spotOf(space: ByteSpace, leaf: number): Spot | null {
    const known = this.#known.get(leaf);
    if (known === undefined && leaf >= 0) void this.#learn(space, leaf);
    return known ?? null;
  }

  async #learn(space: ByteSpace, leaf: number): Promise<void> {
    // One after the other: what is drawn then asks for the next one that it lacks.
    if (this.#isLearning) return;
    this.#isLearning = true;
    try {
      const spot = await space.locate(space.leaves.offset[leaf] ?? 0);
      if (space !== this.#space) return;
      if (this.#known.size > KNOWN) this.#known.clear();
      this.#known.set(leaf, spot);
    } catch {
      // A name that does not come is no loss.
      this.#known.set(leaf, null);
    } finally {
      this.#isLearning = false;
      this.requestUpdate();
    }
  }

  /** The byte at a point. */
  #at(x: number, y: number, isExact = false): number | null {
    const space = this.#space;
    const box = this.#pre?.getBoundingClientRect();
    if (!space || !box || space.size === 0) return null;
    const shape = { width: this.#width, digits: this.#digits };
    const character = ((x - box.left) / box.width) * edges(shape).end;
    const row = Math.floor((y - box.top) / ROW);
    if (isExact && (character < 0 || character > edges(shape).end || row < 0 || y > box.bottom)) return null;
    const { first, count } = this.#virtual.visible;
    const at = (first + Math.min(Math.max(0, row), count - 1)) * this.#width + byteAt(character, shape);
    if (isExact && at >= space.size) return null;
    return Math.min(Math.max(0, at), space.size - 1);
  }

  #go(to: number, isExtending: boolean): void {
    if (to === this.#cursor && isExtending) return;
    this.#cursor = to;
    if (!isExtending) this.#anchor = to;
    this.#space?.select(Math.min(this.#anchor, to), Math.abs(this.#anchor - to) + 1, true);
  }

  #select({ offset, size }: Range): void {
    this.#anchor = offset;
    this.#cursor = Math.max(offset, offset + size - 1);
    this.#space?.select(offset, size, true);
  }

  /** Selects the field or the structure at a byte; where there is none, four bytes, or the part. */
  async #widen(at: number, to: 'field' | 'record'): Promise<void> {
    const space = this.#space;
    if (!space) return;
    try {
      const { field, record, part } = await space.locate(at);
      const four = { offset: at - (at % 4), size: 4 };
      this.#select(to === 'field' ? (field ?? four) : (record ?? part));
    } catch (error) {
      if (!isAbort(error)) this.#say(message(error));
    }
  }

  /** Says what is pointed at; at most one question is on its way. */
  async #hover(at: number | null): Promise<void> {
    if (at === (this.#hovered?.at ?? null)) return;
    const space = this.#space;
    // Until more is known: in the same part, what was said of it still holds.
    const { spot } = this.#hovered ?? {};
    const part =
      at !== null && spot && inside(at, spot.part)
        ? { ...spot, path: spot.path.slice(0, 1), record: null, field: null }
        : null;
    this.#hovered = at === null ? null : { at, spot: part, isKnown: false };
    this.requestUpdate();
    if (this.#isAsking || at === null || !space) return;
    this.#isAsking = true;
    try {
      while (this.#hovered && !this.#hovered.isKnown && space === this.#space) {
        const asked: number = this.#hovered.at;
        const spot = await space.locate(asked);
        // The pointer may have moved on: then that byte is asked about.
        if (this.#hovered?.at === asked) this.#hovered = { at: asked, spot, isKnown: true };
      }
    } catch {
      // A label that does not come is no loss.
    } finally {
      this.#isAsking = false;
      this.requestUpdate();
    }
  }

  readonly #key = (event: KeyboardEvent): void => {
    const space = this.#space;
    if (!space) return;
    const at = this.#cursor;
    const row = this.#width;
    const isFar = event.ctrlKey || event.metaKey;
    const last = space.size - 1;
    const moves: Record<string, number> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      ArrowDown: at + row,
      ArrowUp: at - row,
      PageDown: at + row * this.#virtual.page,
      PageUp: at - row * this.#virtual.page,
      Home: isFar ? 0 : at - (at % row),
      End: isFar ? last : at - (at % row) + row - 1,
    };
    const to = moves[event.key];
    const key = event.key.toLowerCase();
    if (event.key === 'F3') {
      void this.#again(event.shiftKey);
    } else if ((key === 'f' && isFar) || (key === '/' && !isFar)) {
      this.#find();
    } else if (key === 'c' && isFar && !event.shiftKey) {
      void this.#copy(FORMS[0] as Copied);
    } else if (key === 'a' && isFar) {
      this.#selectAll(space);
    } else if (key === 'g' && !event.altKey) {
      this.renderRoot.querySelector('input')?.focus();
    } else if (to !== undefined && last >= 0 && !event.altKey) {
      this.#isHeld = false;
      this.#go(Math.min(Math.max(0, to), last), event.shiftKey);
      this.#virtual.reveal(Math.floor(this.#cursor / row));
    } else {
      return;
    }
    event.preventDefault();
  };

  /** The part; where that is selected already, everything. */
  #selectAll(space: ByteSpace): void {
    const part = space.spot?.part;
    const { offset, size } = space.selection;
    const isPart = part && part.offset === offset && part.size === size;
    this.#select(part && !isPart && part.size > 0 ? part : { offset: 0, size: space.size });
  }

  readonly #find = (): void => {
    this.isFinding = true;
    void this.updateComplete.then(() => this.#finder?.focus());
  };

  readonly #unfind = (): void => {
    this.isFinding = false;
    this.renderRoot.querySelector<HTMLElement>('.scroller')?.focus();
  };

  get #finder(): Find | null {
    return this.renderRoot.querySelector('kernel-scope-find');
  }

  async #again(isBackwards: boolean): Promise<void> {
    if (this.#finder) return this.#finder.find(isBackwards);
    this.#find();
  }

  readonly #inspect = (): void => {
    this.isInspected = !this.isInspected;
    store('inspector', this.isInspected);
  };

  #say(text: string): void {
    this.#said = text;
    this.requestUpdate();
  }

  /** Copies the bytes that are selected. */
  async #copy(form: Copied): Promise<void> {
    const space = this.#space;
    if (!space) return;
    const { offset, size } = space.selection;
    try {
      if (size > COPY_LIMIT)
        throw new Error(`more than ${bytes(COPY_LIMIT)} are selected, which can be saved as a file`);
      this.#say(await copyText(form.print(await space.read(offset, size), offset), bytes(size)));
    } catch (error) {
      this.#say(`not copied: ${message(error)}`);
    }
  }

  /** Copies the offset of what is selected; in a member also the one in the file that was dropped. */
  async #copyPlace(): Promise<void> {
    const space = this.#space;
    if (!space) return;
    const { offset } = space.selection;
    this.#say(await copyText((space.key === 'file' && this.session?.told(offset)) || hex(offset), hex(offset)));
  }

  async #save(): Promise<void> {
    const space = this.#space;
    if (!space) return;
    try {
      const { blob, name } = await space.save(space.selection, {
        signal: new AbortController().signal,
        progress: () => {},
      });
      save(blob, name);
      this.#say(`${bytes(blob.size)} saved`);
    } catch (error) {
      this.#say(`not saved: ${message(error)}`);
    }
  }

  readonly #rewrite = (): void => {
    if (this.#wrong === '') return;
    this.#wrong = '';
    this.requestUpdate();
  };

  readonly #goto = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const input = this.renderRoot.querySelector('input') as HTMLInputElement;
    try {
      await this.#space?.goTo(input.value);
      this.#wrong = '';
      input.value = '';
      this.renderRoot.querySelector<HTMLElement>('.scroller')?.focus();
    } catch (error) {
      this.#wrong = message(error);
    }
    this.requestUpdate();
  };
}

function inside(at: number, { offset, size }: Range): boolean {
  return at >= offset && at < offset + size;
}

define('kernel-scope-hex', Hex);
