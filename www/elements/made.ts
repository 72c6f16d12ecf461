// <kernel-scope-made>: a structure that comes of a launch: its words, its fields in a diagram, and what only run time knows. Words and
// fields lead to each other, values to the bytes of the file that say so. Says `type` when an open value is filled in,
// and `decode` with the bytes when they are to be opened as a dump.

import { css, html, nothing, type PropertyValues } from 'lit';
import { message } from '../client.ts';
import { plainValue, readInputs, type Typed, typeInput } from '../inputs.ts';
import { heldText, jsonOf, originText, slotParts, wordsText } from '../launch.ts';
import { copyText, save } from '../out.ts';
import type { Form, Slot, Made as Structure } from '../protocol.ts';
import { store, stored } from '../stored.ts';
import { bytes as bytesText, name } from '../text.ts';
import { bytesOf, changed, digitsAt, FORMS, fieldsAt, marked } from '../words.ts';
import type { Dumps } from './decode.ts';
import type { Unwritten } from './diagram.ts';
import './diagram.ts';
import type { Items } from './menu.ts';
import './menu.ts';
import { define, Part } from './part.ts';
import './wide.ts';
import { observeSelf, widthObserver } from './width.ts';

/** Bytes of a word, and those in a row. */
const WORD = 4;
const ROW = 32;
const NARROW_ROW = 16;
/** Bytes that are shown at first, and that are added. */
const PAGE = 2048;
/** Pixels from which a row has eight words. */
const NARROW = 620;
/** Fields of a word that are told. */
const TOLD = 5;
/** The structure whose fields can be set one by one. */
const SETTABLE = 'qmd';
/** What structures are read as that can be read back, by their keys. */
const READ_AS: Record<string, string> = { qmd: 'qmd', qmd_null: 'qmd', packet: 'aql' };
const isUnit = (value: unknown) => value === 1 || value === WORD;

export class Made extends Part {
  static override properties = {
    ...super.properties,
    made: { attribute: false },
    of: { attribute: false },
    text: { attribute: false },
    print: { attribute: false },
    width: { state: true },
  };
  static override styles = [
    super.styles,
    css`
      :host { display: block; min-inline-size: 0; }
      .line { display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: baseline; margin-block-end: 6px; color: var(--dim); font-size: 12px; }
      .line [aria-pressed="true"] { color: var(--ink); font-weight: 600; }
      .words { font: 12.5px/20px var(--mono); overflow-x: auto; }
      .row { display: flex; white-space: pre; }
      .at { color: var(--dim); inline-size: 7ch; flex: none; font-size: 11.5px; }
      .unit { padding: 0 .6ch; border-radius: 3px; position: relative; }
      .bytes .unit { padding: 0 .35ch; }
      .unit:nth-child(4n + 2) { margin-inline-start: .8ch; }
      .unit:first-of-type { margin-inline-start: 0; }
      .unit:hover { background: var(--hover); }
      .unit.current { box-shadow: inset 0 0 0 1px var(--dim); }
      .unit.changed { box-shadow: inset 0 -2px var(--accent); font-weight: 700; }
      .none { color: var(--dim); }
      .open { background: repeating-linear-gradient(45deg, transparent 0 4px, color-mix(in srgb, var(--accent) 30%, transparent) 4px 6px); color: var(--accent); }
      .chosen { background-color: var(--mark); color: var(--ink); }
      .said { font-size: 12px; color: var(--dim); min-block-size: 8.8em; margin-block: 4px 8px; overflow-wrap: anywhere; }
      .said b { color: var(--ink); font: 600 12px var(--mono); }
      .said button { text-align: start; }
      .set { font-size: 12px; color: var(--dim); margin-block-end: 8px; }
      .set b { font: 600 12px var(--mono); color: var(--ink); }
      .set .field { inline-size: 12em; font: 12.5px var(--mono); padding-block: 1px; margin-inline-start: 4px; }
      .set .field:disabled { opacity: .65; border-style: dashed; }
      .legend { display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 11.5px; color: var(--dim); margin-block-start: 3px; }
      .legend i { display: inline-block; inline-size: 18px; block-size: 10px; margin-inline-end: 6px; border: 1px solid var(--line); }
      kernel-scope-diagram { border: 1px solid var(--line); border-radius: 8px; background: var(--pane); overflow: hidden; max-block-size: min(70vh, 520px); }
      kernel-scope-wide { margin-block-start: 14px; }
      table { border-collapse: collapse; font: 12.5px var(--mono); min-inline-size: min(100%, 560px); }
      caption { text-align: start; font: 600 13px var(--sans); padding-block-end: 4px; }
      th { text-align: start; font: 600 12px var(--sans); color: var(--dim); padding: 3px 14px 3px 0; border-block-end: 1px solid var(--line); }
      td { padding: 3px 12px 3px 0; border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); vertical-align: baseline; overflow-wrap: anywhere; }
      tbody th { font-weight: 400; color: var(--ink); border-color: color-mix(in srgb, var(--line) 55%, transparent); vertical-align: baseline; }
      td.num { font-size: 11.5px; overflow-wrap: normal; }
      td .field { inline-size: 10em; font: 12.5px var(--mono); padding-block: 1px; }
      @media (prefers-reduced-motion: no-preference) {
        .unit.changed { animation: changed 1.2s ease-out; }
        @keyframes changed { from { background: var(--mark); } }
      }
      @media (forced-colors: active) {
        .chosen { outline: 2px solid Highlight; }
        .open { border-block-end: 2px dashed; }
        .unit.changed { border-block-end: 2px solid Highlight; }
      }
      @media print {
        .line > :not(.size), .said, .set { display: none; }
        kernel-scope-diagram { max-block-size: none; overflow: visible; }
      }
    `,
  ];

  declare made: Structure | null;
  /** The kernel's name, which files are called by. */
  declare of: string;
  /** What has been typed for the launch. */
  declare text: string;
  declare print: (form: Form) => Promise<string>;
  declare width: number;
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array();
  #unwritten: Unwritten | null = null;
  #changed: ReadonlySet<number> = new Set();
  /** Of each four bits, how they are marked: as open, or as what nothing is written to. */
  #marks: string[] = [];
  #unit: number = stored('words', WORD, isUnit);
  /** The byte at which the keyboard is, and the one that is pointed at. */
  #at = 0;
  #pointed: number | null = null;
  #field: number | null = null;
  #shown = PAGE;
  #said = '';

  constructor() {
    super();
    this.made = null;
    this.of = '';
    this.text = '';
    this.print = () => Promise.resolve('');
    this.width = 800;
    observeSelf(this, widthObserver(this));
  }

  protected override changed(change: null | string): void {
    if (change === null) this.requestUpdate();
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    const { made } = this;
    if (!made || !properties.has('made')) return;
    const before = properties.get('made') as Structure | null | undefined;
    const isSame = before?.key === made.key && before.record.fields.length === made.record.fields.length;
    const bytes = bytesOf(made.bytes);
    this.#changed = new Set(isSame ? changed(this.#bytes, bytes) : []);
    this.#bytes = bytes;
    if (!isSame) {
      this.#at = 0;
      this.#pointed = null;
      this.#field = null;
      this.#shown = PAGE;
      this.#said = '';
    }
    this.#marks = marksOf(made, bytes.length);
    this.#unwritten = {
      record: made.record,
      print: (form) => this.print(form),
      about: 'of this launch, in no file',
      mark: (index) => (made.origins[index]?.is_open ? 'open' : ''),
      from: (index) => this.#from(index),
    };
  }

  override render() {
    const { made, session } = this;
    if (!made || !session) return nothing;
    const current = this.#pointed ?? this.#at;
    const held = this.#pointed === null ? [] : fieldsAt(made.record.fields, current, this.#unit);
    const unit = (width: number, title: string) =>
      html`<button aria-pressed=${this.#unit === width} @click=${() => this.#setUnit(width)}>${title}</button>`;
    return html`
      <div class="line">
        <span class="size">${bytesText(this.#bytes.length)}</span>
        <span role="group" aria-label="How bytes are shown">${unit(WORD, 'words')} · ${unit(1, 'bytes')}</span>
        <kernel-scope-menu label="copy" hint="Copy ${name(made.title, 60)}" .items=${this.#copies(made)}></kernel-scope-menu>
        <button class="link" @click=${() => this.#save(made)}>save .bin…</button>
        ${READ_AS[made.key] ? html`<button class="link" @click=${() => this.#decode(made)}>open as a dump</button>` : nothing}
        <span role="status">${this.#said}</span>
      </div>
      <div class="words ${this.#unit === 1 ? 'bytes' : ''}" role="toolbar" aria-label="Words of ${name(made.title, 60)}"
        @pointermove=${this.#moved} @pointerleave=${this.#left} @click=${this.#clicked} @keydown=${this.#key}>${this.#rows(made)}</div>
      ${
        this.#shown < this.#bytes.length
          ? html`<button class="link" @click=${this.#more}>Show more of ${bytesText(this.#bytes.length)}</button>`
          : nothing
      }
      <div class="legend"><span role="status">${this.#changed.size > 0 ? `Changed: ${wordsText([...this.#changed])}.` : ''}</span>
        ${this.#marks.includes('open') ? html`<span><i class="open"></i>open: only run time knows it</span>` : nothing}</div>
      <div class="said">${this.#told(made, current)}</div>
      ${made.key === SETTABLE ? this.#setter(made) : nothing}
      <kernel-scope-diagram .session=${session} .unwritten=${this.#unwritten} .field=${this.#field} .held=${held} @choose=${this.#chose}></kernel-scope-diagram>
      ${made.slots.length > 0 ? this.#slots(made) : nothing}
    `;
  }

  #rows(made: Structure) {
    const unit = this.#unit;
    const width = (this.width < NARROW ? NARROW_ROW : ROW) / (unit === 1 ? 2 : 1);
    const end = Math.min(this.#shown, this.#bytes.length);
    const chosen = this.#field === null ? null : (made.record.fields[this.#field]?.bits ?? null);
    const mark = (lsb: number) => {
      const of = this.#marks[lsb >> 2] ?? '';
      return chosen && lsb <= chosen[0] && lsb + 3 >= chosen[1] ? `chosen ${of}` : of;
    };
    return Array.from({ length: Math.ceil(end / width) }, (_, row) => {
      const first = row * width;
      const many = Math.min(width, end - first) / unit;
      return html`<div class="row"><span class="at" aria-hidden="true">${unit === 1 ? `+${first}` : first / WORD}</span>${Array.from(
        { length: Math.ceil(many) },
        (_, i) => this.#cell(made, first + i * unit, mark),
      )}</div>`;
    });
  }

  #cell(made: Structure, at: number, mark: (lsb: number) => string) {
    const unit = this.#unit;
    const digits = digitsAt(this.#bytes, at, unit);
    const isAt = at === this.#at;
    const title = unit === 1 ? `byte ${at}` : `word ${at / WORD}`;
    const isChanged = this.#changed.has(Math.floor(at / WORD));
    const names = fieldsAt(made.record.fields, at, unit).map((index) => made.record.fields[index]?.name ?? '');
    return html`<button class="unit ${isChanged ? 'changed' : ''} ${isAt ? 'current' : ''}" data-at=${at} tabindex=${isAt ? 0 : -1}
      aria-label=${`${title}: 0x${digits}${isChanged ? ', changed' : ''}${names.length > 0 ? `, ${name(names.join(', '), 120)}` : ''}`}>${marked(
        digits,
        at,
        mark,
      ).map((run) => (run.mark ? html`<span class=${run.mark}>${run.text}</span>` : run.text))}</button>`;
  }

  /** What the word has that is pointed at, or where the keyboard is. */
  #told(made: Structure, at: number) {
    const unit = this.#unit;
    const held = fieldsAt(made.record.fields, at, unit);
    const title = unit === 1 ? `byte ${at}` : `word ${at / WORD}`;
    return html`<b>${title}</b> bits ${at * 8 + unit * 8 - 1}:${at * 8} <b>0x${digitsAt(this.#bytes, at, unit)}</b>
      ${held.slice(0, TOLD).map((index) => html`<br><button @click=${() => this.#choose(index)}>${heldText(made, index)}</button>`)}
      ${held.length > TOLD ? html`<br>and ${held.length - TOLD} more fields` : nothing}
      ${held.length === 0 ? html`<br>no field has these bits` : nothing}`;
  }

  /** Sets the chosen field, whatever the launch is. */
  #setter(made: Structure) {
    const field = this.#field === null ? undefined : made.record.fields[this.#field]?.name;
    const key = field ? `set.${field}` : '';
    return html`<p class="set"><label for="set">Set ${field ? html`<b>${name(field, 60)}</b>` : 'a field, once one is chosen,'} to</label>
      <input class="field" id="set" data-input=${key} ?disabled=${!field} placeholder=${field ? '0x… or decimal' : ''} autocomplete="off" autocapitalize="off"
        spellcheck="false" .value=${readInputs(this.text).get(key) ?? ''} @input=${this.#filled}></p>`;
  }

  #from(index: number) {
    const origin = this.made?.origins[index];
    if (!origin) return '';
    const { place } = origin;
    const text = originText(origin);
    if (!place) return text;
    return html`<button class="link" title="Go to the bytes that say so" @click=${() => this.session?.select(Number(place.offset), Number(place.size))}>${text}</button>`;
  }

  #slots(made: Structure) {
    const typed = readInputs(this.text);
    return html`<kernel-scope-wide label="What only run time knows"><table>
      <caption>What only run time knows</caption>
      <thead><tr><th scope="col">Value</th><th scope="col">Address or number</th><th scope="col">Field</th><th scope="col">Bits</th><th scope="col">Shift</th></tr></thead>
      <tbody>${made.slots.map((slot, at) => {
        const first = made.slots.findIndex(({ input }) => input === slot.input);
        return slotParts(slot).map(
          ({ field, bits, shift }, i, { length }) => html`<tr>
            ${
              i === 0
                ? html`<th scope="row" rowspan=${length}>${name(slot.name, 80)}</th>
                    <td rowspan=${length}>${first === at ? this.#slot(slot, typed) : html`<span class="dim">${slot.value ?? 'open'}, typed with ${name(made.slots[first]?.name ?? '', 60)}</span>`}</td>`
                : nothing
            }
            <td class="num">${this.#named(made, field)}</td><td class="num">${bits}</td><td class="num">${shift}</td>
          </tr>`,
        );
      })}</tbody>
    </table></kernel-scope-wide>`;
  }

  #slot(slot: Slot, typed: Typed) {
    return html`<input class="field" data-input=${slot.input} aria-label=${name(slot.name, 80)} placeholder=${slot.value ?? 'open'} autocomplete="off" autocapitalize="off"
      spellcheck="false" .value=${typed.get(slot.input) ?? ''} @input=${this.#filled}>`;
  }

  #named(made: Structure, field: string) {
    const index = made.record.fields.findIndex((one) => one.name === field);
    if (index < 0) return name(field, 80);
    return html`<button class="link" @click=${() => this.#choose(index)}>${name(field, 80)}</button>`;
  }

  #copies(made: Structure): Items {
    return [
      ...FORMS.map((form) => ({
        title: `Copy as ${form.title}`,
        hint: form.hint,
        run: () => this.#copy(form.print(this.#bytes, 0), form.title),
      })),
      { title: 'Copy as JSON', hint: 'fields, origins', run: () => this.#copy(jsonOf(made), 'JSON') },
    ];
  }

  async #copy(text: string, title: string): Promise<void> {
    this.#said = await copyText(text, title);
    this.requestUpdate();
  }

  #save({ key }: Structure): void {
    try {
      save(new Blob([this.#bytes]), `${this.of}.${key}.bin`);
      this.#said = '';
    } catch (error) {
      this.#said = `not saved: ${message(error)}`;
    }
    this.requestUpdate();
  }

  /** Opens the bytes as a file of its own, as if somebody had dumped them. */
  #decode({ key }: Structure): void {
    const detail: Dumps = { name: `${this.of}.${key}`, blobs: [new Blob([this.#bytes])], decode: `as=${READ_AS[key]}` };
    this.dispatchEvent(new CustomEvent('decode', { detail, bubbles: true, composed: true }));
  }

  #setUnit(width: number): void {
    this.#unit = width;
    this.#at -= this.#at % width;
    this.#pointed = null;
    store('words', width);
    this.requestUpdate();
  }

  /** Chooses a field, and has the keyboard where it begins. */
  #choose(index: number): void {
    this.#field = index;
    const [, lsb] = this.made?.record.fields[index]?.bits ?? [0, 0];
    this.#at = Math.floor(lsb / (8 * this.#unit)) * this.#unit;
    while (this.#shown <= this.#at) this.#shown += PAGE;
    this.requestUpdate();
  }

  readonly #chose = ({ detail }: CustomEvent<number>): void => this.#choose(detail);

  readonly #more = (): void => {
    this.#shown += PAGE;
    this.requestUpdate();
  };

  /** The byte that a unit below the pointer begins at. */
  #unitOf(event: Event): HTMLElement | null {
    return (event.target as Element).closest<HTMLElement>('.unit');
  }

  readonly #moved = (event: PointerEvent): void => {
    const unit = this.#unitOf(event);
    const at = unit ? Number(unit.dataset.at) : null;
    if (at === this.#pointed || event.pointerType === 'touch') return;
    this.#pointed = at;
    this.requestUpdate();
  };

  readonly #left = (): void => {
    this.#pointed = null;
    this.requestUpdate();
  };

  /** Chooses the field at the digit that is clicked; by the keyboard, the next of the word's fields. */
  readonly #clicked = (event: MouseEvent): void => {
    const unit = this.#unitOf(event);
    const { made } = this;
    if (!unit || !made) return;
    this.#at = Number(unit.dataset.at);
    const held = fieldsAt(made.record.fields, this.#at, this.#unit);
    if (event.detail === 0) {
      const next = held[(this.#field === null ? 0 : held.indexOf(this.#field) + 1) % held.length];
      this.#mark(next);
      return;
    }
    const { left, width } = unit.getBoundingClientRect();
    const padding = Number.parseFloat(getComputedStyle(unit).paddingInlineStart) || 0;
    const share = Math.min(0.999, Math.max(0, (event.clientX - left - padding) / (width - 2 * padding)));
    const digit = 2 * this.#unit - 1 - Math.floor(share * 2 * this.#unit);
    const lsb = this.#at * 8 + digit * 4;
    this.#mark(
      held.find((index) => {
        const [msb, low] = made.record.fields[index]?.bits ?? [-1, 0];
        return low <= lsb + 3 && msb >= lsb;
      }),
    );
  };

  /** Marks a field, the keyboard staying where it is. */
  #mark(field: number | undefined): void {
    this.#field = field ?? null;
    this.requestUpdate();
  }

  readonly #key = async (event: KeyboardEvent): Promise<void> => {
    const { made } = this;
    if (!made || !this.#unitOf(event) || event.altKey || event.metaKey) return;
    const unit = this.#unit;
    const row = (this.width < NARROW ? NARROW_ROW : ROW) / (unit === 1 ? 2 : 1);
    const end = Math.min(this.#shown, this.#bytes.length);
    const last = Math.floor((end - 1) / unit) * unit;
    const at = this.#at;
    const moves: Record<string, number> = {
      ArrowRight: at + unit,
      ArrowLeft: at - unit,
      ArrowDown: at + row,
      ArrowUp: at - row,
      Home: event.ctrlKey ? 0 : at - (at % row),
      End: event.ctrlKey ? last : Math.min(last, at - (at % row) + row - unit),
    };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to < 0 || to > last) return;
    this.#at = to;
    this.#pointed = null;
    this.#mark(fieldsAt(made.record.fields, to, unit)[0]);
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>('.unit[tabindex="0"]')?.focus();
  };

  readonly #filled = (event: Event): void => {
    const field = event.target as HTMLInputElement;
    const plain = plainValue(field.value);
    if (field.value !== plain) field.value = plain;
    this.dispatchEvent(new CustomEvent('type', { detail: typeInput(this.text, field.dataset.input ?? '', plain) }));
  };
}

/** Of each four bits of a structure: `open`, or `none` where nothing is written. */
function marksOf({ record, origins }: Structure, size: number): string[] {
  const marks = Array<string>(size * 2).fill('none');
  const put = (index: number, mark: string) => {
    const [msb, lsb] = record.fields[index]?.bits ?? [-1, 0];
    for (let at = lsb >> 2; at <= msb >> 2 && at < marks.length; at++) marks[at] = mark;
  };
  // What is open counts for more than what is written beside it.
  origins.forEach(({ what }, index) => {
    if (what !== 'unset') put(index, '');
  });
  origins.forEach(({ is_open }, index) => {
    if (is_open) put(index, 'open');
  });
  return marks;
}

define('kernel-scope-made', Made);
