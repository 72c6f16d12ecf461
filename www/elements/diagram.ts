// <kernel-scope-diagram>: the record of what is selected, as rows of 32 or 64 bits with a box a field, or as a list.

import { css, html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import {
  type Box,
  boxAt,
  inRow,
  layout,
  lines,
  type Place,
  placeOf,
  type Run,
  readings,
  shown,
  step,
  type Word,
} from '../bits.ts';
import { message } from '../client.ts';
import {
  bitsInRow,
  bitsText,
  isEncoded,
  isThin,
  isTold,
  isViolated,
  meaningText,
  rawText,
  targetText,
  thinText,
  valueText,
} from '../field.ts';
import { copyText, save } from '../out.ts';
import type { Field, Form, Span, StructRecord } from '../protocol.ts';
import { leafAt } from '../ribbon.ts';
import type { Change } from '../session.ts';
import { store, stored } from '../stored.ts';
import { styled } from '../styled.ts';
import { sheets, svg } from '../svg.ts';
import { bytes, hex, name } from '../text.ts';
import './byte.ts';
import type { Items } from './menu.ts';
import './menu.ts';
import { define, Part } from './part.ts';
import { observeSelf, widthObserver } from './width.ts';

const FORMS: [Form, string][] = [
  ['text', 'text'],
  ['json', 'JSON'],
  ['markdown', 'Markdown'],
  ['c', 'C struct'],
];

/** How a record is shown; `fit` chooses the rows by the width that there is. */
const STYLES = { fit: 'Rows that fit the width', of32: 'Rows of 32 bits', of64: 'Rows of 64 bits', list: 'List' };
type Style = keyof typeof STYLES;
const isStyle = (value: unknown): value is Style => typeof value === 'string' && value in STYLES;

/** Below this width in pixels a record is a list; from that on its rows have 64 bits. */
const NARROW = 430;
const WIDE = 1000;
/** Rows or lines that are shown at once: of a longer record, a page of them. */
const PAGE = 256;
/** Pixels beside the bits of a row, and beside the text of a box. */
const MARGIN = 78;
const PADDING = 16;
/** Frames in which rows that come into view have grown to their height. */
const FRAMES = 2;
/** Fields that are named of those that the selection has. */
const HELD = 4;
/** Pixels that a line below the boxes has at least. */
const TOLD = 264;

type Tone = (index: number) => string;

/** What is drawn of a record. It stays as long as it is the same record, drawn alike. */
interface Drawn {
  record: StructRecord;
  bits: number;
  chosen: ReadonlyMap<string, number>;
  /** Fields that are shown in the reading that was chosen. */
  indices: number[];
  words: Word[];
  lines: Run[];
  /** By the names of fields that have alternatives. */
  readings: Map<string, number[][]>;
}

function draw(record: StructRecord, bits: number, chosen: ReadonlyMap<string, number>, before: Drawn | null): Drawn {
  if (before?.record === record && before.bits === bits && before.chosen === chosen) return before;
  const { fields } = record;
  const size = Number(record.span.size);
  const indices = shown(fields, chosen);
  const named = new Set(fields.flatMap((field) => field.alternative_of ?? []));
  return {
    record,
    bits,
    chosen,
    indices,
    words: layout(fields, indices, size, bits),
    lines: lines(fields, size),
    readings: new Map([...named].map((of) => [of, readings(fields, of)])),
  };
}

function content(field: Field, box: Box, thin: boolean) {
  if (thin) return html`<em>&nbsp;</em><strong>${thinText(field)}</strong>`;
  if (!box.isEnd) return html`<em>${name(field.name, 60)} …</em>`;
  const meaning = meaningText(field, 120);
  return html`<em>${name(field.name, 60)}</em><span class="line">${field.value === null ? nothing : html`<strong>${valueText(field)}</strong>`}${
    field.target ? html` <span class="lead">→</span>` : nothing
  }${meaning ? html`<small>${meaning}</small>` : nothing}</span>`;
}

function reserved(field: Field): string {
  return field.kind === 'reserved' ? `reserved ${isViolated(field) ? 'violated' : ''}` : '';
}

function spoken(field: Field): string {
  return name(`${field.name} ${valueText(field)} ${meaningText(field)}`.trim());
}

/** A record that no file has: what a launch writes. */
export interface Unwritten {
  record: StructRecord;
  print(form: Form): Promise<string>;
  /** What it is, where the head would say that it is in no file. */
  about?: string;
  /** How a field is marked beside what is chosen: `open`, where its value is still to come. */
  mark?(index: number): string;
  /** Where its value comes from. */
  from?(index: number): TemplateResult | string;
}

export class Diagram extends Part {
  static override properties = {
    ...super.properties,
    unwritten: { attribute: false },
    field: { attribute: false },
    held: { attribute: false },
    width: { state: true },
    form: { state: true },
    page: { state: true },
    said: { state: true },
    leads: { state: true },
  };
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template-rows: auto minmax(0, 1fr) auto; min-block-size: 0; min-inline-size: 0; }
      .head { display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: baseline; padding: 6px 14px 5px; font-size: 12px; color: var(--dim); }
      .head b { font: 600 12.5px var(--mono); color: var(--ink); }
      .said { margin-inline-start: auto; }
      .end { display: flex; gap: 14px; white-space: nowrap; align-items: baseline; }
      .tabs button:hover, .pager button:hover { color: var(--ink); text-decoration: underline; }
      .tabs button[aria-pressed="true"] { color: var(--ink); font-weight: 600; }
      .body { overflow: auto; padding: 0 14px 8px; position: relative; }

      .scale, .word { display: grid; grid-template-columns: 50px repeat(32, minmax(0, 1fr)); }
      .of64 :is(.scale, .word) { grid-template-columns: 50px repeat(64, minmax(0, 1fr)); }
      .scale { font: 9.5px var(--mono); color: var(--dim); text-align: center; position: sticky; inset-block-start: 0; background: var(--pane); z-index: 1;
        padding-block-end: 1px; }
      .word { margin-block-end: 3px; content-visibility: auto; contain-intrinsic-block-size: auto 44px; }
      .at { font: 11.5px var(--mono); color: var(--dim); grid-column: 1; grid-row: 1; align-self: center; }
      .box { grid-row: 1; min-block-size: 44px; padding: 3px 7px 4px; overflow: hidden; white-space: nowrap; border: 1px solid var(--edge);
        margin-inline-start: -1px; background: color-mix(in srgb, var(--tint) 9%, var(--pane)); display: block;
        --edge: color-mix(in srgb, var(--tint) 30%, var(--line)); }
      button.box:hover { background-color: color-mix(in srgb, var(--tint) 18%, var(--pane)); }
      .box em { font-style: normal; color: var(--dim); font-size: 11.5px; display: block; overflow: hidden; text-overflow: ellipsis; }
      .offered em { padding-inline-end: 26px; }
      .line { display: block; overflow: hidden; text-overflow: ellipsis; }
      .box strong { font: 600 13.5px var(--mono); }
      .box small { color: var(--dim); font-size: 11px; margin-inline-start: 7px; }
      .box .line > small:first-child { margin-inline-start: 0; }
      .lead { color: var(--accent); }
      .thin { padding: 0; text-align: center; }
      .thin strong { font-size: 12px; }
      .held { background-color: var(--wash); }
      .on, button.on:hover { background-color: var(--mark); outline: 2px solid var(--accent); outline-offset: -2px; }
      .box:focus-visible { outline-offset: -2px; }
      .on em, .on small { color: var(--ink); }
      .reserved { background: repeating-linear-gradient(135deg, transparent 0 5px, color-mix(in srgb, var(--dim) 34%, transparent) 5px 6px); color: var(--dim); }
      .reserved strong { font-weight: 400; }
      .box.violated { border-color: var(--warning); }
      :is(.box, tr, .key).violated, .violated :is(.value, strong) { color: var(--warning); font-weight: 600; }
      .reserved.on { background-color: var(--mark); color: var(--ink); }
      .unclaimed { background: radial-gradient(var(--dim) 0.6px, transparent 1px) 0 0 / 7px 7px; border-style: dashed; }
      :is(.box, i).open, tr.open td.value { background: repeating-linear-gradient(45deg, transparent 0 4px, color-mix(in srgb, var(--accent) 30%, transparent) 4px 6px); }
      .box.open { border: 1px dashed var(--accent); }
      .unclaimed em { background: var(--pane); inline-size: max-content; max-inline-size: 100%; padding-inline: 3px; }

      /* In the corner of a box: how else its bits can be read. */
      .turn { grid-row: 1; justify-self: end; align-self: start; margin: 2px 3px; padding: 0 5px; border-radius: 4px; font-size: 11px; line-height: 17px;
        color: var(--accent); z-index: 0; }
      .turn:hover { background: var(--hover); }

      /* What thin boxes have no room for, told by their bits. */
      .key { grid-row: 2; grid-column: 2 / -1; display: grid; gap: 0 16px;
        padding: 3px 2px 5px; font-size: 12px; }
      .key button { display: grid; grid-template-columns: 4.6ch max-content minmax(0, 1fr); gap: 8px; align-items: baseline; min-inline-size: 0;
        padding-block: 1px; }
      .key button:hover .what { text-decoration: underline; }
      .key .num { color: var(--dim); font-size: 11px; text-align: end; }
      .key .value { font: 600 12px var(--mono); min-inline-size: 1.6ch; text-align: end; }
      .key .what { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      .key .off, .key .off .value { color: var(--dim); font-weight: 400; }
      .key .chosen { background: var(--mark); color: var(--ink); }

      .legend, .pager { display: flex; flex-wrap: wrap; gap: 2px 14px; padding-block: 4px 2px; font-size: 11.5px; color: var(--dim); }
      .diagram .legend { padding-inline-start: 50px; }
      .legend i { display: inline-block; inline-size: 18px; block-size: 10px; margin-inline-end: 6px; border: 1px solid var(--line); }
      .pager { position: sticky; inset-block-end: -8px; padding-block: 6px 8px; background: var(--pane); border-block-start: 1px solid var(--line); }
      .pager button:disabled { color: var(--dim); text-decoration: none; cursor: default; opacity: .6; }

      table { border-collapse: collapse; inline-size: 100%; font-size: 12.5px; }
      th { text-align: start; font-weight: 600; font-size: 12px; color: var(--dim); padding: 2px 8px 2px 0; border-block-end: 1px solid var(--line);
        position: sticky; inset-block-start: 0; background: var(--pane); }
      td { padding: 4px 8px 4px 0; vertical-align: top; border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); }
      td.num { color: var(--dim); font-size: 11.5px; }
      td.value { font: 600 12.5px var(--mono); overflow-wrap: anywhere; unicode-bidi: isolate; }
      td.alternative { padding-inline-start: 1.2em; }
      tr.reserved td, tr.unclaimed td { color: var(--dim); font-weight: 400; }
      tr.reserved, tr.unclaimed { background: none; }
      tr.on td, tr.on:hover td { background: var(--mark); color: var(--ink); }
      tr.on { outline: 0; }
      tr.held td { background: var(--wash); }

      .foot { border-block-start: 1px solid var(--line); padding: 5px 14px 6px; min-block-size: 47px; font-size: 12px; color: var(--dim); }
      .foot b { font: 600 12.5px var(--mono); color: var(--ink); }
      .foot .meaning { color: var(--ink); overflow-wrap: anywhere; }

      /* In a narrow list, bits and meaning stand below name and value. */
      .narrow thead { position: absolute; clip-path: inset(50%); }
      .narrow tr { display: grid; grid-template-columns: minmax(0, 1fr) fit-content(60%); gap: 0 12px; padding-block: 6px;
        border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); margin-inline: -14px; padding-inline: 14px; }
      .narrow td { border: 0; padding: 0; }
      .narrow td.num { grid-area: 2 / 2; text-align: end; }
      .narrow td.value { text-align: end; }
      .narrow td button { inline-size: 100%; overflow-wrap: anywhere; }
      .narrow td:nth-child(4) { grid-area: 2 / 1; color: var(--dim); font-size: 12px; }
      .narrow td.from { grid-column: 1 / -1; color: var(--dim); font-size: 12px; }
      .narrow tr.on, .narrow tr.on:hover { background: var(--mark); }
      .narrow tr.held { background: var(--wash); }
      .narrow tr.on td { color: var(--ink); }

      @media print {
        :host { display: block; }
        .body { overflow: visible; }
        .foot { border: 0; }
        .end, .said, .pager, .turn, .foot.none { display: none; }
        .scale { position: static; }
        .word { content-visibility: visible; break-inside: avoid; }
        .box { print-color-adjust: exact; }
      }

      @media (forced-colors: active) {
        .box { border-color: CanvasText; }
        .reserved, .unclaimed, .open { border-style: dashed; }
        .on, button.on:hover, .key .chosen { outline: 3px solid Highlight; outline-offset: -3px; }
        .held { outline: 1px solid Highlight; outline-offset: -2px; }
        tr.on td, tr.on:hover td { background: Highlight; color: HighlightText; forced-color-adjust: none; }
        tr.on button { color: HighlightText; }
      }
    `,
  ];

  /** What is shown, if not the record of what is selected. Its fields lead to the bytes that say what they are. */
  declare unwritten: Unwritten | null;
  /** The field that is chosen of a record that no file has. That another one is, `choose` says. */
  declare field: number | null;
  /** Fields of it that something else points at. */
  declare held: readonly number[];
  declare width: number;
  declare form: Style;
  /** Of a record with more rows than are shown at once: which of them. */
  declare page: number;
  declare said: string;
  /** What the chosen field's reference leads to, once that is known. */
  declare leads: string;
  /** For a field with alternatives, by name: which reading is shown. */
  #chosen: ReadonlyMap<string, number> = new Map();
  #drawn: Drawn | null = null;
  /** Where the keyboard is: the one box, or line of the list, that the tabulator key reaches. */
  #place: Place = { row: 0, bit: 31 };
  #mark = '';
  #asked = '';
  #hadFocus = false;

  constructor() {
    super();
    this.unwritten = null;
    this.field = null;
    this.held = [];
    this.width = 600;
    this.form = stored('fields', 'fit', isStyle);
    this.page = 0;
    this.said = '';
    this.leads = '';
    observeSelf(this, widthObserver(this));
  }

  protected override changed(change: Change | null): void {
    if (change === null) this.#asked = '';
    if (change === 'location') this.said = '';
    if (change === null || change === 'selection' || change === 'location') this.requestUpdate();
  }

  get #record(): StructRecord | null {
    return this.unwritten?.record ?? this.session?.record ?? null;
  }

  get #isList(): boolean {
    return this.form === 'list' || this.width < NARROW;
  }

  /** Bits of a row. */
  get #bits(): number {
    return this.form === 'of64' || (this.form === 'fit' && this.width >= WIDE) ? 64 : 32;
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('width')) this.#scrolls = true;
    this.#hadFocus = (this.renderRoot as ShadowRoot).activeElement !== null;
    const { session } = this;
    const record = this.#record;
    if (!record || !session) {
      this.#drawn = null;
      this.#mark = '';
      return;
    }
    const { selection } = session;
    const drawn = draw(record, this.#bits, this.#chosen, this.#drawn);
    // What a launch writes is made anew with every input: it is the same structure with other values.
    const isAlike =
      this.#drawn?.record.name === record.name && this.#drawn.record.fields.length === record.fields.length;
    const isOther = this.unwritten ? !isAlike : this.#drawn?.record !== record;
    if (isOther && !properties.has('field')) this.field = null;
    this.#drawn = drawn;
    const current = this.#current(record);
    void this.#lead(current === null ? null : (record.fields[current]?.target ?? null));
    const chosen = this.unwritten ? this.field : `${selection.offset} ${selection.size} ${selection.field}`;
    const mark = `${chosen} ${record.name} ${this.#bits} ${this.#isList}`;
    if (mark === this.#mark) return;
    this.#mark = mark;
    this.#scrolls = true;
    const wanted = current ?? record.fields.findIndex((field) => this.#holds(field));
    const rows = this.#isList ? drawn.lines.map((line) => ({ boxes: [line] })) : drawn.words;
    if (isOther) this.#place = { row: 0, bit: this.#bits - 1 };
    if (wanted >= 0 && (isOther || this.#fieldAt(this.#place) !== wanted)) {
      // The row with the value, which is where the field ends.
      const row = rows.findIndex(({ boxes }) =>
        boxes.some((box) => box.field === wanted && (box as Box).isEnd !== false),
      );
      const box = drawn.words[row]?.boxes.find((one) => one.field === wanted);
      if (row >= 0) this.#place = box && !this.#isList ? placeOf(drawn.words, row, box, this.#bits) : { row, bit: 0 };
    }
    this.page = Math.floor(this.#place.row / PAGE);
  }

  #scrolls = false;

  protected override updated(): void {
    const root = this.renderRoot as ShadowRoot;
    const body = root.querySelector<HTMLElement>('.body');
    const stop = root.querySelector<HTMLElement>('.stop');
    const active = root.activeElement;
    // What had the focus may be gone, or is not any more what is chosen.
    if (this.#hadFocus && (!active || (active !== stop && active.matches('.box, .turn, .key button, td button')))) {
      (stop ?? body)?.focus({ preventScroll: true });
    }
    // On a narrow screen the fields may be behind the bytes: they are scrolled when they are seen.
    if (!this.#scrolls || !body || body.clientHeight === 0) return;
    this.#scrolls = false;
    this.#reveal(body, stop, FRAMES);
  }

  /** Brings what is chosen into view. Rows get their height when they are first seen, so it is looked at again in the next frames. */
  #reveal(body: HTMLElement, stop: HTMLElement | null, frames: number): void {
    const root = this.renderRoot;
    const held = root.querySelector('.body .on') ?? root.querySelector('.body .held') ?? stop;
    const row = held?.closest('.word, tr');
    if (!held || !row) return;
    const outer = body.getBoundingClientRect();
    // A row can be higher than the window, by what is told below its boxes.
    const inner = (row.clientHeight > outer.height - 24 ? held : row).getBoundingClientRect();
    if (inner.bottom > outer.bottom) body.scrollTop += inner.bottom - outer.bottom + 8;
    else if (inner.top < outer.top + 20) body.scrollTop -= outer.top + 20 - inner.top;
    if (frames > 0) requestAnimationFrame(() => this.#reveal(body, stop, frames - 1));
  }

  override render() {
    const { session } = this;
    const drawn = this.#drawn;
    if (!session) return nothing;
    if (!drawn) {
      return html`
        <div class="head"><b class="file">${name(session.location.parts[0]?.name ?? 'Bytes', 80)}</b></div>
        <div class="body" tabindex="-1"><kernel-scope-byte .session=${session}></kernel-scope-byte></div>
      `;
    }
    const { record } = drawn;
    const leaf = leafAt(session.leaves, Number(record.span.offset));
    const role = record.is_stored ? (session.roles[session.leaves.role[leaf] ?? 0] ?? 'unclaimed') : 'data';
    const current = this.#current(record);
    const tone = this.#tones(record, current);
    return html`
      ${this.#header(record)}
      <div class="body role-${role} ${this.width < NARROW ? 'narrow' : ''}" tabindex="-1" @keydown=${this.#key}>
        ${this.#isList ? this.#list(drawn, tone) : this.#diagram(drawn, tone)}
      </div>
      ${this.#details(record, current)}
    `;
  }

  #where({ is_stored: isStored, span }: StructRecord): string {
    if (isStored) return `at ${this.session?.told(Number(span.offset)) ?? hex(span.offset)}`;
    return this.unwritten ? 'of each dispatch, in no file' : 'put together from pieces';
  }

  #header(record: StructRecord) {
    const { session } = this;
    const records = this.unwritten ? [] : (session?.location.records ?? []);
    return html`<div class="head">
      <b class="file" title=${record.source ? `Layout: ${name(record.source)}` : nothing}>${name(record.name, 80)}</b>
      <span>${bytes(record.span.size)} ${this.unwritten?.about ?? this.#where(record)}</span>
      ${
        records.length > 1
          ? html`<span class="tabs" role="group" aria-label="Structures at this byte">${records.map(
              (one, i) =>
                html`${i > 0 ? ' · ' : ''}<button aria-pressed=${i === session?.recordIndex} @click=${() => session?.showRecord(i)}>${name(one.name, 30)}</button>`,
            )}</span>`
          : nothing
      }
      <span class="said" role="status">${this.said}</span>
      <span class="end">
        ${this.width < NARROW ? nothing : html`<kernel-scope-menu label=${this.#isList ? 'list' : `${this.#bits} bits`} hint="How the record is shown" .items=${this.#styles()}></kernel-scope-menu>`}
        <kernel-scope-menu label="export" hint="Export the record" .items=${this.#exports()}></kernel-scope-menu>
      </span>
    </div>`;
  }

  #styles(): Items {
    return (Object.keys(STYLES) as Style[]).map((style) => ({
      title: STYLES[style],
      isChosen: this.form === style,
      run: () => {
        this.form = style;
        store('fields', style);
      },
    }));
  }

  #exports(): Items {
    const { record, words } = this.#drawn ?? {};
    if (!record || !words) return [];
    const picture = () => svg(record, words, this.#bits);
    return [
      ...FORMS.map(([form, title]) => ({ title: `Copy as ${title}`, run: () => this.#copy(form, title) })),
      {
        title: 'Copy as SVG',
        run: async () => {
          this.said = await copyText(picture(), 'SVG');
        },
      },
      null,
      { title: 'Save SVG…', run: () => save(new Blob([picture()], { type: 'image/svg+xml' }), `${record.name}.svg`) },
      { title: 'Print…', run: () => this.#print(record, words) },
    ];
  }

  #diagram({ record, words, lines }: Drawn, tone: Tone) {
    const bits = this.#bits;
    const { fields } = record;
    const seen = words.slice(this.page * PAGE, (this.page + 1) * PAGE);
    const stop = words[this.#place.row] ? boxAt(words, this.#place, bits) : null;
    const first = (seen[0]?.at ?? 0) * 8;
    const end = (words[(this.page + 1) * PAGE]?.at ?? Number(record.span.size)) * 8;
    const all = lines.filter(({ lsb }) => lsb >= first && lsb < end);
    return html`
      <div class="diagram of${bits}" role="toolbar" aria-label="Fields of ${name(record.name, 80)}" aria-orientation="horizontal">
        <div class="scale" aria-hidden="true"><span></span>${Array.from({ length: bits }, (_, i) => html`<span>${bits - 1 - i}</span>`)}</div>
        ${seen.map((word) => this.#word(word, fields, tone, stop))}
      </div>
      <div class="diagram" aria-hidden="true"><p class="legend"><span>little-endian: bit 0 is the lowest of the first byte</span>
        ${fields.some((field) => field.kind === 'reserved') ? html`<span><i class="reserved"></i>reserved</span>` : nothing}
        ${all.some(({ field }) => field < 0) ? html`<span><i class="unclaimed"></i>no field claims them</span>` : nothing}
        ${all.some(({ field }) => this.unwritten?.mark?.(field) === 'open') ? html`<span><i class="open"></i>open: only run time knows it</span>` : nothing}</p></div>
      ${this.#pager(words.length, 'rows')}
      <div class="unseen">${this.#table(record, all, null)}</div>
    `;
  }

  #word(word: Word, fields: Field[], tone: Tone, stop: Box | null) {
    const bits = this.#bits;
    const end = word.at + (bits / 8) * (word.folded + 1);
    const told: Box[] = [];
    const inner = this.width - MARGIN;
    const boxes = word.boxes.map((box) => {
      const field = fields[box.field];
      const [high, low] = inRow(word, box, bits);
      const column = `${bits + 1 - high} / ${bits + 2 - low}`;
      const room = ((high - low + 1) / bits) * inner - PADDING;
      if (!field) {
        return html`<div class="box unclaimed" title="bits ${box.msb}–${box.lsb}: no field claims them" ${styled({ 'grid-column': column })}>${room > 70 ? html`<em>unclaimed</em>` : nothing}</div>`;
      }
      const thin = isThin(field, room);
      if (thin && box.isEnd && isTold(field)) told.push(box);
      const many = thin || !box.isEnd ? 0 : this.#readings(field).length;
      const classes = `${tone(box.field)} ${thin ? 'thin' : ''} ${reserved(field)} ${many > 1 ? 'offered' : ''}`;
      const isStop = box === stop;
      return html`<button class="box ${classes} ${isStop ? 'stop' : ''}" tabindex=${isStop ? 0 : -1} aria-pressed=${box.field === this.#chosenField}
        aria-label=${spoken(field)} title=${`${field.name} · ${bitsText(field)}${field.note ? ` · ${field.note}` : ''}`}
        ${styled({ 'grid-column': column })} @click=${() => this.#choose(box.field, word, box)} @dblclick=${() => this.#follow(field)}>${content(field, box, thin)}</button>${
          many > 1
            ? html`<button class="turn" tabindex="-1" aria-label="Read ${name(field.alternative_of ?? field.name, 60)} otherwise" title="Read these bits otherwise (R)"
                ${styled({ 'grid-column': column })} @click=${() => this.#turn(field)}>⇄</button>`
            : nothing
        }`;
    });
    const columns = Math.max(1, Math.min(told.length, Math.floor(inner / TOLD)));
    return html`<div class="word">
      <span class="at">+${word.at}${word.folded > 0 ? `–${end - 1}` : ''}</span>
      ${boxes}
      ${
        told.length > 0
          ? html`<div class="key" ${styled({ 'grid-template-columns': `repeat(${columns}, minmax(0, 1fr))` })}>${told.map(
              (box) => this.#told(word, box, fields[box.field] as Field, columns, inner / columns),
            )}</div>`
          : nothing
      }
    </div>`;
  }

  /** What a box has no room for. */
  #told(word: Word, box: Box, field: Field, columns: number, width: number) {
    const isOff = field.raw === 0 && field.value !== null;
    const title = name(field.name, 60);
    const meaning = field.kind === 'flag' ? '' : meaningText(field, 60);
    // Names are whole: a long one has the room of several.
    const pixels = 86 + 7.7 * (title.length + (isOff ? 0 : meaning.length));
    const span = Math.min(columns, Math.ceil(pixels / width));
    const isChosen = box.field === this.#chosenField;
    return html`<button class="${isChosen ? 'chosen' : ''} ${isOff ? 'off' : ''} ${isViolated(field) ? 'violated' : ''}" tabindex="-1" ${styled({ 'grid-column': `span ${span}` })}
      @click=${() => this.#choose(box.field, word, box)}>
      <span class="num">${bitsInRow(field, this.#bits)}</span><span class="value">${valueText(field, 24)}</span>
      <span class="what">${title}${meaning ? html` <span class="dim">${meaning}</span>` : nothing}</span>
    </button>`;
  }

  #list({ record, lines }: Drawn, tone: Tone) {
    const seen = lines.slice(this.page * PAGE, (this.page + 1) * PAGE);
    return html`${this.#table(record, seen, tone)}${this.#pager(lines.length, 'fields')}`;
  }

  /** Fields as a table. Without a `tone`, for those who do not see the diagram, it can only be read. */
  #table({ fields, name: of }: StructRecord, seen: readonly Run[], tone: Tone | null) {
    const stop = this.#drawn?.lines[this.#place.row];
    const { from } = this.unwritten ?? {};
    return html`<table aria-label="Fields of ${name(of, 80)}">
      <thead><tr><th scope="col">Bits</th><th scope="col">Field</th><th scope="col">Value</th><th scope="col">Meaning</th>${from ? html`<th scope="col">From</th>` : nothing}</tr></thead>
      <tbody>${seen.map((line) => {
        const { field: index, msb, lsb } = line;
        const field = fields[index];
        const place = msb === lsb ? lsb : `${msb}:${lsb}`;
        if (!field) {
          return html`<tr class="unclaimed"><td class="num">${place}</td><td>unclaimed</td><td></td><td>no field has these bits</td>${from ? html`<td></td>` : nothing}</tr>`;
        }
        const title = name(field.name, 80);
        const isStop = line === stop;
        return html`<tr class="${tone?.(index) ?? ''} ${reserved(field)}" @click=${() => tone && this.#choose(index)}>
          <td class="num">${place}</td>
          <td class=${field.alternative_of ? 'alternative' : ''}>${
            tone
              ? html`<button class=${isStop ? 'stop' : ''} tabindex=${isStop ? 0 : -1} aria-pressed=${index === this.#chosenField}>${title}</button>`
              : title
          }</td>
          <td class="value">${valueText(field)}</td>
          <td>${meaningText(field)}${field.target ? html` <span class="lead" aria-hidden="true">→</span>` : nothing}</td>
          ${from ? html`<td class="from">${from(index)}</td>` : nothing}
        </tr>`;
      })}</tbody>
    </table>`;
  }

  #pager(many: number, what: string) {
    if (many <= PAGE) return nothing;
    const pages = Math.ceil(many / PAGE);
    const turn = (by: number, title: string) =>
      html`<button ?disabled=${this.page + by < 0 || this.page + by >= pages} @click=${() => {
        this.page += by;
        this.renderRoot.querySelector('.body')?.scrollTo(0, 0);
      }}>${title}</button>`;
    const last = Math.min(many, (this.page + 1) * PAGE);
    return html`<div class="pager" role="group" aria-label="Parts of a long record">
      <span>${what} ${this.page * PAGE + 1}–${last} of ${many}</span>${turn(-1, '‹ those before')}${turn(1, 'those after ›')}
    </div>`;
  }

  #details(record: StructRecord, current: number | null) {
    const field = current === null ? undefined : record.fields[current];
    if (!field) {
      const held = (this.#drawn?.indices ?? []).filter((index) => this.#holds(record.fields[index] as Field));
      const rest = held.length - HELD;
      return html`<div class="foot none">${
        held.length > 0
          ? html`The selected bytes have ${held
              .slice(0, HELD)
              .map(
                (index, i) => html`${i > 0 ? ', ' : ''}<b>${name(record.fields[index]?.name ?? '', 60)}</b>`,
              )}${rest > 0 ? ` and ${rest} more fields` : ''}.<br>`
          : nothing
      }Choose a field to see its bits, what it means, and where it leads.</div>`;
    }
    const { target } = field;
    const isSame = meaningText(field) === field.note;
    return html`<div class="foot">
      <b>${name(field.name, 80)}</b> ${bitsText(field)}${field.raw === null ? nothing : html` · raw <span class="num">${rawText(field)}</span>`}
      ${isEncoded(field) ? html` · value <b>${valueText(field)}</b>` : nothing}
      ${this.#readings(field).length > 1 ? html` · <button class="link" @click=${() => this.#turn(field)}>other reading</button>` : nothing}
      ${target ? html` · <button class="link" title="Enter in the diagram" @click=${() => this.#follow(field)}>go to ${hex(target.offset)}</button> <span class="file">${name(this.leads, 80)}</span>` : nothing}
      ${this.unwritten?.from ? html` · ${this.unwritten.from(current ?? 0)}` : nothing}
      <br><span class="meaning">${meaningText(field, 400)}</span>${field.note && !isSame ? html` · ${field.note}` : nothing}
    </div>`;
  }

  get #chosenField(): number | null {
    return this.unwritten ? this.field : (this.session?.selection.field ?? null);
  }

  /** The field that is chosen, or the only one that the selection touches. */
  #current(record: StructRecord): number | null {
    const chosen = this.#chosenField;
    if (chosen !== null) return chosen;
    const held = (this.#drawn?.indices ?? []).filter((index) => this.#holds(record.fields[index] as Field));
    return held.length === 1 ? (held[0] ?? null) : null;
  }

  /** How a field is marked: the current one, those that the selection touches. */
  #tones(record: StructRecord, current: number | null): Tone {
    const isChosen = this.#chosenField !== null;
    const { unwritten } = this;
    if (unwritten)
      return (index) => {
        const mark = unwritten.mark?.(index) ?? '';
        return index === current ? `on ${mark}` : this.held.includes(index) ? `held ${mark}` : mark;
      };
    return (index) => {
      if (index === current) return 'on';
      return !isChosen && this.#holds(record.fields[index] as Field) ? 'held' : '';
    };
  }

  /** Whether the selected bytes have bits of it; not where they are the whole record. */
  #holds({ bits: [msb, lsb] }: Field): boolean {
    const { session } = this;
    if (this.unwritten || !session?.record?.is_stored || session.selection.size === 0) return false;
    const first = (session.selection.offset - Number(session.record.span.offset)) * 8;
    const last = first + session.selection.size * 8 - 1;
    const isAll = first <= 0 && last >= Number(session.record.span.size) * 8 - 1;
    return !isAll && lsb <= last && msb >= first;
  }

  /** How the bits of a field can be read; only itself where nothing else is known. */
  #readings(field: Field): number[][] {
    return this.#drawn?.readings.get(field.alternative_of ?? field.name) ?? [[]];
  }

  #fieldAt(place: Place): number {
    const drawn = this.#drawn;
    if (!drawn) return -1;
    return (this.#isList ? drawn.lines[place.row] : boxAt(drawn.words, place, this.#bits))?.field ?? -1;
  }

  #choose(index: number, word?: Word, box?: Box): void {
    const drawn = this.#drawn;
    if (!drawn) return;
    if (word && box) this.#place = placeOf(drawn.words, drawn.words.indexOf(word), box, this.#bits);
    // An alternative that is chosen in the list is the reading that the diagram then shows.
    const of = drawn.record.fields[index]?.alternative_of;
    if (of) {
      const reading = drawn.readings.get(of)?.findIndex((layer) => layer.includes(index)) ?? -1;
      if (reading >= 0) this.#chosen = new Map(this.#chosen).set(of, reading);
    }
    this.#select(index);
    this.requestUpdate();
  }

  /** Selects a field; of a record that no file has, the bytes that say what it is. */
  #select(index: number): void {
    if (this.unwritten) {
      this.field = index;
      this.dispatchEvent(new CustomEvent('choose', { detail: index }));
      const field = this.unwritten.record.fields[index];
      if (field) this.#follow(field);
    } else this.session?.selectField(index);
  }

  /** Shows the next of the readings of a field's bits. */
  #turn(field: Field): void {
    const of = field.alternative_of ?? field.name;
    const all = this.#readings(field);
    const next = ((this.#chosen.get(of) ?? 0) + 1) % all.length;
    this.#chosen = new Map(this.#chosen).set(of, next);
    const [first] = all[next] ?? [];
    if (first !== undefined) this.#select(first);
    this.requestUpdate();
  }

  /** Goes to what a field refers to. */
  #follow({ target }: Field): void {
    if (target) this.session?.select(Number(target.offset), Math.max(1, Number(target.size)));
  }

  readonly #key = (event: KeyboardEvent): void => {
    const drawn = this.#drawn;
    const from = event.target as HTMLElement;
    if (!drawn || !from.matches('.box, .turn, .key button, td button')) return;
    const field = drawn.record.fields[this.#fieldAt(this.#place)];
    const { key } = event;
    if (event.altKey || event.metaKey || (event.ctrlKey && key !== 'Home' && key !== 'End')) return;
    if (key === 'Enter' && field?.target && from.matches('.stop')) {
      event.preventDefault();
      this.#follow(field);
    } else if (key.toLowerCase() === 'r' && field && this.#readings(field).length > 1) {
      event.preventDefault();
      this.#turn(field);
    } else {
      const to = this.#step(drawn, key, event.ctrlKey);
      if (to === undefined) return;
      event.preventDefault();
      if (to) {
        this.#place = to;
        this.#choose(this.#fieldAt(to));
      }
    }
  };

  /** Where a key leads; undefined if it is not one of those that move. */
  #step({ words, lines }: Drawn, key: string, isFar: boolean): Place | null | undefined {
    if (!/^(Arrow(Up|Down|Left|Right)|Home|End)$/.test(key)) return undefined;
    const row = isFar && key === 'Home' ? -1 : isFar ? (this.#isList ? lines : words).length : this.#place.row;
    if (!this.#isList) {
      if (!isFar) return step(words, this.#place, key, this.#bits);
      return step(
        words,
        { row, bit: key === 'Home' ? this.#bits - 1 : 0 },
        key === 'Home' ? 'ArrowDown' : 'ArrowUp',
        this.#bits,
      );
    }
    const by = { ArrowUp: -1, ArrowDown: 1, Home: 1, End: -1 }[key];
    if (by === undefined) return null;
    const start = key === 'Home' ? -1 : key === 'End' ? lines.length : row;
    for (let at = start + by; at >= 0 && at < lines.length; at += by) {
      if ((lines[at]?.field ?? -1) >= 0) return { row: at, bit: 0 };
    }
    return null;
  }

  /** Asks for the name of what the chosen field refers to. */
  async #lead(target: Span | null): Promise<void> {
    const { session } = this;
    const asked = target ? `${target.offset} ${target.size}` : '';
    if (!session || asked === this.#asked) return;
    this.#asked = asked;
    this.leads = '';
    if (!target) return;
    try {
      const location = await session.call('locate', [Number(target.offset)]);
      if (this.#asked === asked) this.leads = targetText(target, location);
    } catch {
      // The offset alone leads there as well.
    }
  }

  /** Prints the record alone, whatever the page around shows: a page of its own that holds nothing else. */
  #print(record: StructRecord, words: readonly Word[]): void {
    this.renderRoot.querySelector('iframe')?.remove();
    const frame = document.createElement('iframe');
    frame.className = 'unseen';
    frame.title = 'For the printer';
    frame.tabIndex = -1;
    this.renderRoot.append(frame);
    const { contentDocument: page, contentWindow: view } = frame;
    if (!page || !view) return;
    page.title = name(record.name, 80);
    const parser = new DOMParser();
    for (const sheet of sheets(record, words, this.#bits)) {
      const picture = page.importNode(parser.parseFromString(sheet, 'image/svg+xml').documentElement, true);
      picture.style.display = 'block';
      picture.style.maxWidth = '100%';
      picture.style.height = 'auto';
      page.body.append(picture);
    }
    view.addEventListener('afterprint', () => frame.remove());
    view.print();
  }

  async #copy(as: Form, title: string): Promise<void> {
    const { session, unwritten } = this;
    const record = this.#record;
    if (!session || !record) return;
    const { location, recordIndex } = session;
    const print = () => unwritten?.print(as) ?? session.call('print', [Number(location.offset), as, recordIndex]);
    try {
      const text = as === 'json' ? JSON.stringify(record, null, 2) : await print();
      this.said = await copyText(text, title);
    } catch (error) {
      this.said = `not copied: ${message(error)}`;
    }
  }
}

define('kernel-scope-diagram', Diagram);
