// <kernel-scope-table>: any table of a file. Sorting, filtering and slicing happen in the worker; only visible rows are here.

import { css, html, nothing, type PropertyValues } from 'lit';
import { isAbort, message } from '../client.ts';
import { Pages } from '../pages.ts';
import type { Cell, Column, Span, Window } from '../protocol.ts';
import type { Change } from '../session.ts';
import { styled } from '../styled.ts';
import { cellText, isRight, LEADS, widths } from '../table.ts';
import { count } from '../text.ts';
import { Virtual, virtualStyles } from '../virtual.ts';
import { define, Part } from './part.ts';

const ROW = 25;
const HEADER = 29;
const PAGE = 100;

/** Says `open` (with the row's index in the table) when a row is clicked or Enter is pressed on it. */
export class Table extends Part {
  static override properties = {
    ...super.properties,
    table: { attribute: false },
    columns: { attribute: false },
    label: { attribute: false },
  };
  static override styles = [
    super.styles,
    virtualStyles,
    css`
      :host { display: grid; grid-template-rows: auto minmax(0, 1fr); block-size: 100%; min-block-size: 0; }
      .tools { display: flex; gap: 12px; align-items: center; padding: 8px 20px; }
      .tools input { inline-size: 26em; }
      .error { color: var(--error); }
      .scroller { border-block-start: 1px solid var(--line); }
      .head, .row { display: grid; grid-template-columns: var(--columns); column-gap: 18px; padding-inline: 20px; font: 12.5px/24px var(--mono); }
      .head { block-size: ${HEADER}px; position: relative; z-index: 1; background: var(--paper); border-block-end: 1px solid var(--line); }
      .head button { font: 600 12px/28px var(--sans); color: var(--dim); white-space: nowrap; inline-size: 100%; }
      .head button:hover { color: var(--ink); }
      .head .sorted button { color: var(--ink); }
      .row { block-size: ${ROW}px; border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); cursor: default; }
      .row:hover { background: var(--hover); }
      .row[aria-selected="true"] { background: var(--wash); box-shadow: inset 3px 0 var(--accent); }
      .cell { white-space: pre; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
      .right, .right button { text-align: end; }
      .swatch { display: inline-block; inline-size: 10px; block-size: 10px; border-radius: 2px; margin-inline-end: 8px; }
      .word { color: var(--dim); }
      .stale .rows { opacity: .5; }
      .scroller:focus-visible { outline-offset: -2px; }
      .none { padding: 16px 20px; color: var(--dim); }
      @container (max-width: 700px) {
        .tools, .head, .row { padding-inline: 12px; }
        .tools input { inline-size: 100%; }
      }
    `,
  ];

  declare table: string;
  declare columns: Column[];
  declare label: string;
  #sort: string | null = null;
  #descending = false;
  #filter = '';
  #matched = 0;
  #isPreparing = false;
  #error = '';
  #asking: AbortController | undefined;
  /** The row, by where it stands in the query, that the keyboard is on; -1 before there is one. */
  #active = -1;
  #isAwaited = false;
  #widths: number[] = [];
  #measured = new WeakSet<Window>();
  readonly #pages = new Pages<Window>(
    (page, signal) => this.#fetch(page, signal),
    (error) => {
      if (error) this.#error = message(error);
      if (this.#isAwaited) this.#selectActive();
      this.requestUpdate();
    },
    40,
  );
  readonly #virtual = new Virtual(this, () => this.#matched, ROW, HEADER);

  constructor() {
    super();
    this.table = '';
    this.columns = [];
    this.label = '';
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('table') || properties.has('session')) {
      this.#sort = null;
      this.#descending = false;
      this.#filter = '';
      this.#reset();
      void this.#query();
    }
  }

  protected override changed(change: Change | null): void {
    if (change === 'reopened') void this.#query();
    // The marked row is the one whose bytes are selected.
    if (change === 'selection') this.requestUpdate();
  }

  #reset(): void {
    this.#pages.clear();
    this.#matched = Number(this.session?.summary.tables.find((one) => one.key === this.table)?.count ?? 0);
    this.#widths = [];
    this.#measured = new WeakSet();
    this.#active = -1;
    this.#isAwaited = false;
    this.#virtual.scrollTo(0);
  }

  async #query(): Promise<void> {
    const { session, table } = this;
    if (!session || !table) return;
    this.#asking?.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    this.#isPreparing = true;
    this.#error = '';
    try {
      const query = { sort: this.#sort, descending: this.#descending, filter: this.#filter };
      const matched = await session.call('query', [table, query], { signal });
      if (signal.aborted) return;
      this.#pages.clear();
      this.#matched = matched;
      this.#active = -1;
      this.#virtual.scrollTo(0);
    } catch (error) {
      // A newer query goes on; one that was given up leaves the rows in the order of the table.
      if (signal.aborted) return;
      if (isAbort(error)) {
        this.#sort = null;
        this.#filter = '';
        this.#descending = false;
        void this.#query();
        return;
      }
      this.#error = message(error);
    } finally {
      if (this.#asking?.signal === signal) this.#isPreparing = false;
      this.requestUpdate();
    }
  }

  async #fetch(page: number, signal: AbortSignal): Promise<Window> {
    const { session } = this;
    if (!session) throw new Error('no file is open');
    return session.call('rows', [this.table, page * PAGE, PAGE], { signal });
  }

  get #shown(): number[] {
    return this.columns.flatMap((column, index) => (column.is_shown ? [index] : []));
  }

  override render() {
    const { first, count: rows, shift } = this.#virtual.visible;
    const total = this.#matched;
    const shown = this.#shown;
    const body = [];
    // While a query is being prepared the worker's rows are neither the old nor the new ones.
    if (!this.#isPreparing) this.#pages.keepOnly((page) => (page + 1) * PAGE > first && page * PAGE < first + rows);
    for (let row = first; row < first + rows; row++) body.push(this.#row(row, shown));
    const all = Number(this.session?.summary.tables.find((one) => one.key === this.table)?.count ?? 0);
    const template = this.#widths
      .map((width, i) => (i === this.#wide ? `minmax(${width}ch, 1fr)` : `${width}ch`))
      .join(' ');
    return html`
      <div class="tools">
        <input class="field" type="search" placeholder="Filter: words, or column:value" aria-label="Filter ${this.label}"
          .value=${this.#filter} @input=${this.#filtered}>
        <span class="dim" role="status">${this.#filter ? `${count(total)} of ${count(all)}` : count(all)} rows</span>
        ${this.#error ? html`<span class="error" role="alert">${this.#error}</span>` : nothing}
      </div>
      <div class="scroller ${this.#isPreparing ? 'stale' : ''}" role="grid" tabindex="0" aria-label=${this.label} aria-rowcount=${total + 1}
        aria-colcount=${shown.length} aria-activedescendant=${this.#active >= first && this.#active < first + rows ? `row${this.#active}` : nothing}
        @keydown=${this.#key}>
        <div class="window" role="presentation" ${styled({ '--columns': template })}>
          <div class="head" role="row" aria-rowindex="1">${shown.map((index) => this.#title(index))}</div>
          <div class="rows" role="rowgroup" ${styled({ transform: `translateY(${-shift}px)` })}>${body}</div>
        </div>
        <div class="spacer"></div>
      </div>
    `;
  }

  /** The column that takes the room that is left: the last of text. */
  get #wide(): number {
    const shown = this.#shown;
    const texts = shown.filter((index) => !isRight(this.columns[index] as Column));
    return shown.indexOf(texts.at(-1) ?? -1);
  }

  #title(index: number) {
    const column = this.columns[index] as Column;
    const isSorted = this.#sort === column.key;
    const order = isSorted ? (this.#descending ? 'descending' : 'ascending') : 'none';
    const arrow = isSorted ? (this.#descending ? ' ↓' : ' ↑') : '';
    return html`<div role="columnheader" aria-sort=${order} class="${isRight(column) ? 'right' : ''} ${isSorted ? 'sorted' : ''}">
      <button @click=${() => this.#sortBy(column.key)}>${column.title}${arrow}</button>
    </div>`;
  }

  #row(row: number, shown: number[]) {
    const window = this.#isPreparing ? undefined : this.#pages.get(Math.floor(row / PAGE));
    const at = row % PAGE;
    const cells = window?.rows[at];
    if (window && !this.#measured.has(window)) {
      // Rows further down can be longer: columns grow, and never shrink under the reader's eyes.
      this.#measured.add(window);
      this.#widths = widths(this.columns, window.rows, shown).map((width, i) => Math.max(width, this.#widths[i] ?? 0));
    }
    const selection = this.session?.selection;
    const offset = window?.offset[at] ?? -1;
    const isSelected =
      selection !== undefined &&
      offset >= 0 &&
      offset === selection.offset &&
      (window?.size[at] ?? 0) === selection.size;
    return html`<div class="row" role="row" id="row${row}" aria-rowindex=${row + 2} aria-selected=${isSelected || row === this.#active}
      @click=${() => this.#choose(row)}>${shown.map((index) => this.#cell(index, cells, row))}</div>`;
  }

  #cell(index: number, cells: Cell[] | undefined, row: number) {
    const column = this.columns[index] as Column;
    const text = cells ? cellText(cells[index], column) : '';
    const tone = `cell ${isRight(column) ? 'right' : ''} ${column.unit === 'word' ? 'word' : ''}`;
    if (cells && column.key === LEADS[this.table] && this.#target(row)) {
      return html`<div class=${tone} role="gridcell"><button class="link" tabindex="-1" title="Go to its contents"
        @click=${(event: Event) => this.#contents(event, row)}>${text}</button></div>`;
    }
    const swatch = column.key === 'role' && text ? html`<i class="swatch role-${text}"></i>` : nothing;
    return html`<div class=${tone} role="gridcell" title=${text.length > 30 ? text : nothing}>${swatch}${text}</div>`;
  }

  /** The bytes that the row is about, where the file has any. */
  #target(row: number): Span | null {
    const window = this.#pages.get(Math.floor(row / PAGE));
    const offset = window?.target_offset[row % PAGE] ?? -1;
    return offset < 0 ? null : { offset, size: window?.target_size[row % PAGE] ?? 1 };
  }

  #sortBy(key: string): void {
    if (this.#sort !== key) {
      this.#sort = key;
      this.#descending = false;
    } else if (!this.#descending) {
      this.#descending = true;
    } else {
      this.#sort = null;
      this.#descending = false;
    }
    void this.#query();
  }

  readonly #filtered = (event: Event): void => {
    this.#filter = (event.target as HTMLInputElement).value;
    void this.#query();
  };

  /** Selects the bytes of the row that the keyboard is on, or later, where its page has still to come. */
  #selectActive(): void {
    const window = this.#pages.get(Math.floor(this.#active / PAGE));
    const at = this.#active % PAGE;
    const offset = window?.offset[at] ?? -1;
    this.#isAwaited = !window;
    if (offset >= 0) this.session?.select(offset, window?.size[at] ?? 1);
  }

  #choose(row: number): void {
    this.#active = row;
    this.#selectActive();
    this.requestUpdate();
    const index = this.#pages.get(Math.floor(row / PAGE))?.index[row % PAGE];
    if (index !== undefined) this.dispatchEvent(new CustomEvent('choose', { detail: index }));
  }

  /** Selects what the row is the header of. */
  #contents(event: Event, row: number): void {
    event.stopPropagation();
    this.#active = row;
    const target = this.#target(row);
    if (target) this.session?.select(Number(target.offset), Number(target.size));
    this.requestUpdate();
  }

  readonly #key = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const last = this.#matched - 1;
    const page = this.#virtual.page;
    const moves: Record<string, number> = {
      ArrowDown: this.#active + 1,
      ArrowUp: this.#active - 1,
      PageDown: this.#active + page,
      PageUp: this.#active - page,
      Home: 0,
      End: last,
    };
    const to = moves[event.key];
    if (event.key === 'Enter' && this.#active >= 0) {
      if (LEADS[this.table]) this.#contents(event, this.#active);
      else this.#choose(this.#active);
    } else if (to !== undefined && last >= 0) {
      this.#active = Math.min(Math.max(0, to), last);
      this.#virtual.reveal(this.#active);
      this.#selectActive();
      this.requestUpdate();
    } else {
      return;
    }
    event.preventDefault();
  };
}

define('kernel-scope-table', Table);
