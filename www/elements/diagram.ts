// <kernel-scope-diagram>: the record of what is selected, as rows of 32 bits with a box a field, or as a table.

import { css, html, nothing } from 'lit';
import { type Box, layout, readings, shown, WORDS_LIMIT, type Word } from '../bits.ts';
import { message } from '../client.ts';
import { bitsText, isEncoded, meaningText, rawText, valueText } from '../field.ts';
import type { Field, Form, StructRecord } from '../protocol.ts';
import { leafAt } from '../ribbon.ts';
import type { Change } from '../session.ts';
import { styled } from '../styled.ts';
import { bytes, hex, name } from '../text.ts';
import './byte.ts';
import { define, Part } from './part.ts';

const FORMS: [Form, string][] = [
  ['text', 'text'],
  ['json', 'JSON'],
  ['markdown', 'Markdown'],
  ['c', 'C'],
];

/** Below this width in pixels, a record is a table. */
const NARROW = 430;

export class Diagram extends Part {
  static override properties = {
    ...super.properties,
    width: { state: true },
    isList: { state: true },
    said: { state: true },
  };
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template-rows: auto minmax(0, 1fr) auto; min-block-size: 0; min-inline-size: 0; }
      .head { display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: baseline; padding: 6px 14px 5px; font-size: 12px; color: var(--dim); }
      .head b { font: 600 12.5px var(--mono); color: var(--ink); }
      .end { margin-inline-start: auto; white-space: nowrap; }
      .end button:hover, .tabs button:hover { color: var(--ink); text-decoration: underline; }
      .tabs button[aria-pressed="true"] { color: var(--ink); font-weight: 600; }
      .body { overflow: auto; padding: 0 14px 8px; position: relative; }

      .scale, .word { display: grid; grid-template-columns: 50px repeat(32, minmax(0, 1fr)); }
      .scale { font: 9.5px var(--mono); color: var(--dim); text-align: center; position: sticky; inset-block-start: 0; background: var(--pane); z-index: 1;
        padding-block-end: 1px; }
      .word { margin-block-end: 3px; }
      .at { font: 11.5px var(--mono); color: var(--dim); align-self: center; grid-column: 1; grid-row: 1; }
      .box { grid-row: 1; min-block-size: 44px; padding: 3px 7px 4px; overflow: hidden; white-space: nowrap; border: 1px solid var(--edge);
        margin-inline-start: -1px; background: color-mix(in srgb, var(--tint) 9%, var(--pane)); display: block;
        --edge: color-mix(in srgb, var(--tint) 30%, var(--line)); }
      .box:hover { background: color-mix(in srgb, var(--tint) 18%, var(--pane)); }
      .box em { font-style: normal; color: var(--dim); font-size: 11.5px; display: block; overflow: hidden; text-overflow: ellipsis; }
      .line { display: block; overflow: hidden; text-overflow: ellipsis; }
      .box strong { font: 600 13.5px var(--mono); }
      .box small { color: var(--dim); font-size: 11px; margin-inline-start: 7px; }
      .thin { padding: 0; text-align: center; }
      .thin strong { font-size: 12px; }
      .held { background: var(--wash); }
      .on, .on:hover { background: var(--mark); outline: 2px solid var(--accent); outline-offset: -2px; }
      .on em, .on small { color: var(--ink); }
      .reserved { background: repeating-linear-gradient(135deg, transparent 0 5px, var(--line) 5px 6px); color: var(--dim); }
      .reserved strong { font-weight: 400; }
      div.box { cursor: default; }
      div.box:hover { background: repeating-linear-gradient(135deg, transparent 0 5px, var(--line) 5px 6px); }
      .key { grid-row: 2; grid-column: 2 / -1; display: flex; flex-wrap: wrap; gap: 1px 14px; padding: 3px 2px 4px; font-size: 12px; }
      .key button { white-space: nowrap; max-inline-size: 100%; overflow: hidden; text-overflow: ellipsis; }
      .key button:hover { text-decoration: underline; }
      .key .num { color: var(--dim); font-size: 11px; }
      .key .value { font: 600 12px var(--mono); }
      .key .chosen { background: var(--mark); }

      table { border-collapse: collapse; inline-size: 100%; font-size: 12.5px; }
      th { text-align: start; font-weight: 600; font-size: 12px; color: var(--dim); padding: 2px 8px 2px 0; border-block-end: 1px solid var(--line); }
      td { padding: 4px 8px 4px 0; vertical-align: top; border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); }
      td.num { color: var(--dim); font-size: 11.5px; }
      td.value { font: 600 12.5px var(--mono); overflow-wrap: anywhere; unicode-bidi: isolate; }
      td.alternative { padding-inline-start: 1.2em; }
      tr.on td, tr.on:hover td { background: var(--mark); }
      tr.on { outline: 0; }
      tr.held td { background: var(--wash); }

      .foot { border-block-start: 1px solid var(--line); padding: 5px 14px 6px; min-block-size: 47px; font-size: 12px; color: var(--dim); }
      .foot b { font: 600 12.5px var(--mono); color: var(--ink); }
      .foot .meaning { color: var(--ink); overflow-wrap: anywhere; }
    `,
  ];

  declare width: number;
  declare isList: boolean;
  declare said: string;
  /** For a field with alternatives, by name: which reading is shown. */
  readonly #chosen = new Map<string, number>();
  readonly #observer =
    typeof ResizeObserver === 'undefined'
      ? null
      : new ResizeObserver(([entry]) => {
          this.width = Math.floor(entry?.contentRect.width ?? 0);
        });

  constructor() {
    super();
    this.width = 600;
    this.isList = false;
    this.said = '';
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#observer?.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer?.disconnect();
  }

  protected override changed(change: Change | null): void {
    if (change === 'location') this.said = '';
    if (change === null || change === 'selection' || change === 'location') this.requestUpdate();
  }

  /** Where a record comes into view that is larger than the window, its marked field does too. */
  protected override updated(): void {
    const { selection } = this.session ?? {};
    if (selection && selection.field !== null) return;
    const held = this.renderRoot.querySelector('.body :is(.on, .held)');
    const body = this.renderRoot.querySelector('.body');
    // On a narrow screen the fields may be behind the bytes: they are scrolled when they are seen.
    if (!held || !body || body.clientHeight === 0 || this.#seen === this.#mark) return;
    this.#seen = this.#mark;
    const row = held.closest('.word') ?? held;
    const [inner, outer] = [row.getBoundingClientRect(), body.getBoundingClientRect()];
    if (inner.bottom > outer.bottom) body.scrollTop += inner.bottom - outer.bottom + 8;
    else if (inner.top < outer.top + 16) body.scrollTop -= outer.top + 16 - inner.top;
  }

  #seen = '';
  get #mark(): string {
    return `${this.session?.selection.offset} ${this.session?.record?.name}`;
  }

  override render() {
    const { session } = this;
    const record = session?.record;
    if (!session) return nothing;
    if (!record) {
      return html`
        <div class="head"><b class="file">${name(session.location.parts[0]?.name ?? 'Bytes', 80)}</b></div>
        <div class="body"><kernel-scope-byte .session=${session}></kernel-scope-byte></div>
      `;
    }
    const isList = this.isList || this.width < NARROW;
    const leaf = leafAt(session.leaves, Number(record.span.offset));
    const role = session.roles[session.leaves.role[leaf] ?? 0] ?? 'unclaimed';
    return html`
      ${this.#header(record)}
      <div class="body role-${role}">
        ${isList ? this.#table(record, true) : html`${this.#diagram(record)}<div class="unseen">${this.#table(record, false)}</div>`}
      </div>
      ${this.#details(record)}
    `;
  }

  #header(record: StructRecord) {
    const { session } = this;
    const records = session?.location.records ?? [];
    const isNarrow = this.width < NARROW;
    return html`<div class="head">
      <b class="file" title=${record.source ? `Layout: ${name(record.source)}` : nothing}>${name(record.name, 80)}</b>
      <span>${bytes(record.span.size)} at ${hex(record.span.offset)}</span>
      ${
        records.length > 1
          ? html`<span class="tabs" role="group" aria-label="Structures at this byte">${records.map(
              (one, i) =>
                html`${i > 0 ? ' · ' : ''}<button aria-pressed=${i === session?.recordIndex} @click=${() => session?.showRecord(i)}>${name(one.name, 30)}</button>`,
            )}</span>`
          : nothing
      }
      <span class="end">
        ${isNarrow ? nothing : html`<button @click=${() => (this.isList = !this.isList)}>${this.isList ? 'diagram' : 'list'}</button> · `}
        <span role="status">${this.said || 'copy as'}</span>
        ${FORMS.map(([form, title], i) => html`${i > 0 ? ' · ' : ''}<button @click=${() => this.#copy(form)} aria-label="Copy as ${title}">${title}</button>`)}
      </span>
    </div>`;
  }

  #diagram(record: StructRecord) {
    const { fields } = record;
    const words = layout(fields, shown(fields, this.#chosen), Number(record.span.size));
    const scale = Array.from({ length: 32 }, (_, i) => 31 - i);
    return html`
      <div class="scale" aria-hidden="true"><span></span>${scale.map((bit) => html`<span>${bit}</span>`)}</div>
      ${words.map((word) => this.#word(word, fields))}
      ${words.length >= WORDS_LIMIT ? html`<p class="dim">The rest is in the bytes.</p>` : nothing}
    `;
  }

  #word(word: Word, fields: Field[]) {
    const end = word.at + 4 * (word.folded + 1);
    const thin: Box[] = [];
    const boxes = word.boxes.map((box) => {
      const field = fields[box.field];
      // Bits of a row of several words are drawn as if they were its own.
      const high = word.folded > 0 ? 31 : box.msb - word.at * 8;
      const low = word.folded > 0 ? 0 : box.lsb - word.at * 8;
      const column = `${33 - high} / ${34 - low}`;
      const room = ((high - low + 1) / 32) * (this.width - 78) - 16;
      if (!field) {
        const title = `bits ${box.msb}–${box.lsb}: no field claims them`;
        return html`<div class="box reserved" title=${title} ${styled({ 'grid-column': column })}>${room > 70 ? html`<em>unclaimed</em>` : nothing}</div>`;
      }
      const value = valueText(field);
      const isThin = room < Math.min(14, field.name.length) * 6.2 || room < Math.min(10, value.length) * 8.2;
      // Reserved bits are worth a word only where they are set.
      if (isThin && box.isEnd && !(field.kind === 'reserved' && field.value === 0)) thin.push(box);
      const tone = `${this.#tone(box.field, field)} ${isThin ? 'thin' : ''} ${field.kind === 'reserved' ? 'reserved' : ''}`;
      return html`<button class="box ${tone}" aria-pressed=${this.session?.selection.field === box.field} aria-label=${isThin ? this.#spoken(field) : nothing}
        title=${`${field.name} · ${bitsText(field)}${field.note ? ` · ${field.note}` : ''}`}
        ${styled({ 'grid-column': column })} @click=${() => this.#choose(box.field)}>${this.#content(field, box, isThin, value)}</button>`;
    });
    return html`<div class="word">
      <span class="at">+${word.at}${word.folded > 0 ? `–${end - 1}` : ''}</span>
      ${boxes}
      ${thin.length > 0 ? html`<div class="key">${thin.map((box) => this.#key(box, fields))}</div>` : nothing}
    </div>`;
  }

  #content(field: Field, box: Box, isThin: boolean, value: string) {
    if (isThin) return html`<em>&nbsp;</em><strong>${value.length < 3 ? value : '·'}</strong>`;
    if (!box.isEnd) return html`<em>${name(field.name, 60)} …</em>`;
    const meaning = meaningText(field, 120);
    return html`<em>${name(field.name, 60)}${this.#hasReadings(field) ? html`<span aria-hidden="true"> ⇄</span>` : nothing}</em><span class="line"><strong>${value}</strong>${meaning ? html`<small>${meaning}</small>` : nothing}</span>`;
  }

  /** What a box has no room for. */
  #key(box: Box, fields: Field[]) {
    const field = fields[box.field] as Field;
    const meaning = field.kind === 'flag' ? '' : meaningText(field, 60);
    const [msb, lsb] = field.bits;
    return html`<button class=${this.session?.selection.field === box.field ? 'chosen' : ''} tabindex="-1" @click=${() => this.#choose(box.field)}>
      <span class="num">${msb === lsb ? lsb % 32 : `${msb % 32}–${lsb % 32}`}</span> ${name(field.name, 60)} <span class="value">${valueText(field, 24)}</span>
      ${meaning ? html`<span class="dim">${meaning}</span>` : nothing}
    </button>`;
  }

  #table({ fields, name: of }: StructRecord, isSeen: boolean) {
    return html`<table aria-label="Fields of ${name(of, 80)}">
      <thead><tr><th scope="col">Bits</th><th scope="col">Field</th><th scope="col">Value</th><th scope="col">Meaning</th></tr></thead>
      <tbody>${fields.map((field, i) => {
        const [msb, lsb] = field.bits;
        const title = name(field.name, 80);
        return html`<tr class=${isSeen ? this.#tone(i, field) : ''} @click=${() => isSeen && this.#choose(i)}>
          <td class="num">${msb === lsb ? lsb : `${msb}:${lsb}`}</td>
          <td class=${field.alternative_of ? 'alternative' : ''}>${isSeen ? html`<button aria-pressed=${this.session?.selection.field === i}>${title}</button>` : title}</td>
          <td class="value">${valueText(field)}</td>
          <td>${meaningText(field)}</td>
        </tr>`;
      })}</tbody>
    </table>`;
  }

  #details(record: StructRecord) {
    const { session } = this;
    const at = this.#current(record);
    const field = at === null ? undefined : record.fields[at];
    if (!field) return html`<div class="foot">Choose a field to see its bits, what it means, and where it leads.</div>`;
    const target = field.target;
    const others = readings(record.fields, field.alternative_of ?? field.name);
    const isSame = meaningText(field) === field.note;
    return html`<div class="foot">
      <b>${name(field.name, 80)}</b> ${bitsText(field)} · raw <span class="num">${rawText(field)}</span>
      ${isEncoded(field) ? html` · value <b>${valueText(field)}</b>` : nothing}
      ${target ? html` · <button class="link" @click=${() => session?.select(Number(target.offset), Math.max(1, Number(target.size)))}>go to ${hex(target.offset)}</button>` : nothing}
      ${others.length > 1 ? html` · <button class="link" @click=${() => this.#turn(record, field, others.length)}>other reading</button>` : nothing}
      <br><span class="meaning">${meaningText(field, 400)}</span>${field.note && !isSame ? html` · ${field.note}` : nothing}
    </div>`;
  }

  /** The field that is chosen, or the only one that the selection touches. */
  #current(record: StructRecord): number | null {
    const { selection } = this.session ?? {};
    if (!selection) return null;
    if (selection.field !== null) return selection.field;
    const held = shown(record.fields, this.#chosen).filter((index) => this.#holds(record.fields[index] as Field));
    return held.length === 1 ? (held[0] ?? null) : null;
  }

  #tone(index: number, field: Field): string {
    const { selection } = this.session ?? {};
    if (!selection) return '';
    if (selection.field !== null) return selection.field === index ? 'on' : '';
    if (!this.#holds(field)) return '';
    return this.session?.record && this.#current(this.session.record) === index ? 'on' : 'held';
  }

  /** Whether the selected bytes have bits of it; not where they are the whole record. */
  #holds({ bits: [msb, lsb] }: Field): boolean {
    const { session } = this;
    if (!session?.record || session.selection.size === 0) return false;
    const first = (session.selection.offset - Number(session.record.span.offset)) * 8;
    const last = first + session.selection.size * 8 - 1;
    const isAll = first <= 0 && last >= Number(session.record.span.size) * 8 - 1;
    return !isAll && lsb <= last && msb >= first;
  }

  #hasReadings(field: Field): boolean {
    const fields = this.session?.record?.fields ?? [];
    return field.alternative_of !== null && field.alternative_of !== undefined
      ? true
      : fields.some((one) => one.alternative_of === field.name);
  }

  #choose(index: number): void {
    this.session?.selectField(index);
  }

  /** Shows the next of the readings of a field's bits. */
  #turn(record: StructRecord, field: Field, many: number): void {
    const of = field.alternative_of ?? field.name;
    const next = ((this.#chosen.get(of) ?? 0) + 1) % many;
    this.#chosen.set(of, next);
    const [first] = readings(record.fields, of)[next] ?? [];
    if (first !== undefined) this.#choose(first);
    this.requestUpdate();
  }

  #spoken(field: Field): string {
    return `${field.name} ${valueText(field)} ${meaningText(field)}`;
  }

  async #copy(form: Form): Promise<void> {
    const { session } = this;
    if (!session?.record) return;
    try {
      const { record, location, recordIndex } = session;
      const text =
        form === 'json'
          ? JSON.stringify(record, null, 2)
          : await session.call('print', [Number(location.offset), form, recordIndex]);
      await navigator.clipboard.writeText(text);
      this.said = `copied as ${FORMS.find(([key]) => key === form)?.[1] ?? form}; again as`;
    } catch (error) {
      this.said = `not copied (${message(error)})`;
    }
  }
}

define('kernel-scope-diagram', Diagram);
