// <kernel-scope-bank>: constant bank 0 of a kernel: what the driver writes, the parameters, and what nobody knows; in a strip, in a table,
// and for any offset that is typed.

import { css, html, nothing, type PropertyValues } from 'lit';
import { about, nameOf, parseOperand, strip, TINTS } from '../bank.ts';
import { isAbort, message } from '../client.ts';
import type { BankPart, BankPlace, Column } from '../protocol.ts';
import { type Leaves, leafAt, offsetOf, type Scale, scale, strips } from '../ribbon.ts';
import type { Change } from '../session.ts';
import { styled } from '../styled.ts';
import { hex } from '../text.ts';
import { define, Part } from './part.ts';
import './table.ts';
import { widthObserver } from './width.ts';

/** Bytes that an unknown part of the strip is at most drawn as. */
const LONGEST = 96;

export class Bank extends Part {
  static override properties = { ...super.properties, index: { attribute: false }, width: { state: true } };
  static override styles = [
    super.styles,
    css`
      :host { display: block; }
      h3 { font: 600 13px var(--sans); margin: 20px 0 6px; }
      .ask { display: flex; gap: 4px 12px; align-items: baseline; flex-wrap: wrap; min-block-size: 46px; align-content: start; }
      label { font: 12.5px var(--mono); white-space: nowrap; }
      input { inline-size: 8.5em; font: 12.5px var(--mono); padding-block: 1px; }
      output { flex: 1 1 20em; }
      output b { font: 600 12.5px var(--mono); }
      .error { color: var(--error); }
      .strip { position: relative; block-size: 16px; margin-block: 2px 8px; cursor: pointer; touch-action: none; }
      .strip .swatch { position: absolute; inset-block: 0; border-radius: 2px; }
      .cursor { position: absolute; inset-block: -3px; inline-size: 2px; background: var(--ink); pointer-events: none; }
      .legend { display: flex; flex-wrap: wrap; gap: 2px 16px; color: var(--dim); font-size: 12px; margin-block-end: 4px; }
      .legend .swatch { display: inline-block; inline-size: 10px; block-size: 10px; border-radius: 2px; margin-inline-end: 6px; }
      kernel-scope-table { block-size: min(62vh, 480px); margin-inline: -20px; border-block-end: 1px solid var(--line); }
      @container (max-width: 700px) { kernel-scope-table { margin-inline: -12px; } }
    `,
  ];

  /** Which kernel, in the table of kernels. */
  declare index: number;
  declare width: number;
  #parts: readonly BankPart[] | null = null;
  #columns: Column[] = [];
  #leaves: Leaves | null = null;
  #scale: Scale | null = null;
  #typed = '';
  #place: { offset: number; place: BankPlace | null } | null = null;
  #error = '';
  #asking: AbortController | undefined;
  /** The offset whose answer is shown when it comes: that of an earlier one may come later. */
  #wanted: number | null = null;
  readonly #observer = widthObserver(this);

  constructor() {
    super();
    this.index = 0;
    this.width = 0;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer?.disconnect();
    this.#asking?.abort();
  }

  protected override changed(change: Change | null): void {
    if (change === 'reopened') void this.#load();
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('session') || properties.has('index')) void this.#load();
    if (properties.has('width')) this.#scale = null;
    if (this.#leaves && !this.#scale && this.width > 0) this.#scale = scale(this.#leaves, this.width);
  }

  protected override updated(): void {
    const strip = this.renderRoot.querySelector('.strip');
    if (strip) this.#observer?.observe(strip);
  }

  /** What is kept of a kernel's bank: what was asked last. */
  get #key(): string {
    return `bank0/${this.index}`;
  }

  async #load(): Promise<void> {
    const { session, index } = this;
    this.#asking?.abort();
    this.#parts = null;
    this.#wanted = null;
    this.#place = null;
    this.#error = '';
    if (!session) return;
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    try {
      const [parts, columns] = await Promise.all([
        session.call('bank0', [index], { signal }),
        session.call('columns', [this.#key], { signal }),
      ]);
      this.#parts = parts;
      this.#columns = columns;
      this.#leaves = strip(parts, LONGEST);
      this.#scale = null;
      this.#typed = (session.kept.get(`${this.#key} typed`) as string | undefined) ?? '';
      this.#answer(this.#typed);
    } catch (error) {
      if (isAbort(error)) return;
      this.#error = message(error);
    }
    this.requestUpdate();
  }

  override render() {
    const { session } = this;
    if (this.#error) return html`<p class="error" role="alert">${this.#error}</p>`;
    if (!session || !this.#parts || this.#parts.length === 0) return nothing;
    return html`
      <h3>Constant bank 0</h3>
      <p><button class="link" @click=${this.#launch}>With the values of a launch</button></p>
      <div class="ask">
        <label>c[0x0][<input class="field" aria-label="Offset in constant bank 0" placeholder="0x210" autocomplete="off" spellcheck="false"
          .value=${this.#typed} @input=${this.#input}>]</label>
        <output>${this.#said()}</output>
      </div>
      <div class="strip" aria-hidden="true" @pointermove=${this.#hover} @pointerleave=${this.#leave} @click=${this.#click}>${this.#scale && this.#leaves ? this.#drawn(this.#leaves, this.#scale) : nothing}</div>
      <div class="legend" aria-hidden="true">
        <span><i class="swatch role-header"></i>driver</span><span><i class="swatch role-code"></i>parameters</span>
        <span><i class="swatch role-note"></i>device runtime, as reported</span><span><i class="swatch role-padding"></i>unknown</span>
      </div>
      <kernel-scope-table .session=${session} .table=${this.#key} .columns=${this.#columns} .label=${'Constant bank 0'}></kernel-scope-table>
    `;
  }

  #said() {
    if (this.#typed.trim() !== '' && parseOperand(this.#typed) === null && !this.#place)
      return html`<span class="dim">An offset such as 0x210, or an operand such as c[0x0][0x210].</span>`;
    if (!this.#place) return html`<span class="dim">What is at an offset: type it, or point at the strip.</span>`;
    const { offset, place } = this.#place;
    if (!place) return nothing;
    return html`<span class="num">${hex(offset)}</span> <b>${nameOf(place)}</b> <span class="dim">${about(place)}</span>`;
  }

  #drawn(leaves: Leaves, to: Scale) {
    const at = this.#place?.place?.part.offset;
    const part = at === undefined ? -1 : (this.#parts ?? []).findIndex(({ offset }) => offset === at);
    return html`
      ${strips(leaves, to).map(
        ({ x, width, role }) =>
          html`<i class="swatch role-${TINTS[role]}" ${styled({ left: `${x}px`, width: `${width > 3 ? width - 1 : width}px` })}></i>`,
      )}
      ${part >= 0 ? html`<i class="cursor" ${styled({ left: `${to.edges[part] ?? 0}px` })}></i>` : nothing}
    `;
  }

  #answer(text: string): void {
    const offset = parseOperand(text);
    if (offset === null) {
      this.#wanted = null;
      this.#place = null;
      this.requestUpdate();
    } else void this.#ask(offset);
  }

  async #ask(offset: number): Promise<void> {
    const { session, index } = this;
    this.#wanted = offset;
    if (!session || this.#place?.offset === offset) return;
    try {
      const place = await session.call('bank0At', [index, offset]);
      if (session !== this.session || index !== this.index || offset !== this.#wanted) return;
      this.#place = { offset, place };
      this.requestUpdate();
    } catch (error) {
      if (!isAbort(error)) this.#error = message(error);
    }
  }

  readonly #launch = (): void => {
    if (this.session) this.session.view = `launch/${this.index}/bank0`;
  };

  readonly #input = (event: Event): void => {
    this.#typed = (event.target as HTMLInputElement).value;
    this.session?.kept.set(`${this.#key} typed`, this.#typed);
    this.#answer(this.#typed);
    this.requestUpdate();
  };

  /** The word of the bank at a place of the strip. */
  #pointed(event: PointerEvent | MouseEvent): number | null {
    if (!this.#leaves || !this.#scale) return null;
    const { left } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const at = offsetOf(event.clientX - left, this.#leaves, this.#scale);
    const leaf = leafAt(this.#leaves, at);
    const part = this.#parts?.[leaf];
    if (!part) return null;
    const within = at - (this.#leaves.offset[leaf] ?? 0);
    return part.offset + (part.what === 'unknown' ? 0 : within - (within % 4));
  }

  readonly #hover = (event: PointerEvent): void => {
    const offset = this.#pointed(event);
    if (offset !== null) void this.#ask(offset);
  };

  /** What was typed counts again. */
  readonly #leave = (): void => this.#answer(this.#typed);

  readonly #click = (event: MouseEvent): void => {
    const offset = this.#pointed(event);
    if (offset === null) return;
    this.#typed = hex(offset);
    this.session?.kept.set(`${this.#key} typed`, this.#typed);
    void this.#ask(offset);
    this.requestUpdate();
  };
}

define('kernel-scope-bank', Bank);
