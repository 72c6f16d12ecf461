// <kernel-scope-table>: any table of a file. Sorting, filtering, slicing and the text of copies are made in the worker; only visible
// rows are here.
//
// A grid with one stop for the Tab key: arrows go from cell to cell, the heading included; what is chosen (runs.ts) is what is copied.

import { css, html, nothing, type PropertyValues, svg } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { isAbort, message, type Options, PATIENCE, Stopped } from '../client.ts';
import { COPY_LIMIT, type RowsForm } from '../copy.ts';
import type { Folds } from '../fold.ts';
import { LANES, laneWords } from '../lanes.ts';
import { copyText, save } from '../out.ts';
import { Pages } from '../pages.ts';
import type { Cell, Column, Progress, Window } from '../protocol.ts';
import { ptxParts } from '../ptx.ts';
import { has, length, type Runs, withoutRow, withRows } from '../runs.ts';
import type { Change, Selection, Session } from '../session.ts';
import { store, stored } from '../stored.ts';
import { styled } from '../styled.ts';
import {
  cellText,
  FULL,
  fullText,
  holders,
  isRight,
  isSetup,
  isUnknown,
  LINKS,
  ownOf,
  rowTone,
  type Setup,
  SURVEYED,
  shownColumns,
  TOLD_BY_MEMBERS,
  TREES,
  type Tree,
  targetOf,
  treeOf,
  unknownColumn,
  unknownText,
  widths,
} from '../table.ts';
import { count, name, visible } from '../text.ts';
import { Virtual, virtualStyles } from '../virtual.ts';
import './menu.ts';
import type { Items } from './menu.ts';
import { define, Part } from './part.ts';

const ROW = 25;
const HEADER = 29;
/** Rows after which places are counted anew: browsers are exact only up to some millions of pixels. */
const BASE = 4096;
const PAGE = 100;
/** The heading, among the rows that the keyboard goes to. */
const HEAD = -1;
/** Milliseconds that a finger rests on a row to begin a run. */
const HOLD = 450;
/** A tree of more rows is folded at first, but for so many levels. */
const MANY = 1000;
const LEVELS = 2;
/** While this is said, the next tap ends the run. */
const RUN = 'Tap the last row to select';
/** Characters that a row of a tree stands to the right of the one that it lies in. */
const INDENT = 2;
/** Characters of the invisible box that says how wide they are. */
const PROBE = 10;
/** What has as many characters may not fit in the lines for a whole cell: these can be scrolled. */
const LONG = 150;

const FORMS: readonly { form: RowsForm; title: string; extension: string; type: string }[] = [
  { form: 'text', title: 'text', extension: 'txt', type: 'text/plain' },
  { form: 'csv', title: 'CSV', extension: 'csv', type: 'text/csv' },
  { form: 'json', title: 'JSON', extension: 'json', type: 'application/json' },
  { form: 'markdown', title: 'Markdown', extension: 'md', type: 'text/markdown' },
];

/** What stays of a table while something else is shown (`Session.kept`). Rows are counted as they stand in the query. */
interface Kept {
  sort: string | null;
  descending: boolean;
  filter: string;
  /** How many rows the table has; those of a part of the file, as of a kernel, are known when they were asked for. */
  all: number;
  /** How many rows that leaves, and the filter that it was asked with. */
  matched: number;
  answered: string;
  /** The row at the upper edge. */
  top: number;
  /** The cell that the keyboard is on: its row, and its column among those that are shown. */
  row: number;
  column: number;
  chosen: Runs;
  /** What was selected in the file when that was chosen. */
  selected: Selection | null;
  /** Where a run began that goes on with Shift. */
  anchor: number;
  /** Of a tree, what is folded away, and of how many rows; null before that is known. */
  folds: Folds | null;
  total: number | null;
  /** The row is to be gone to when the rows are here. */
  isWanted: boolean;
}

/** Where the cells of a column lead, other than their row. */
export interface Lead {
  title: string;
  isLink(cell: Cell | undefined, cells: readonly Cell[]): boolean;
  /** `index`: of the row in the table. */
  go(cell: Cell | undefined, index: number): void;
}

/** By the keys of columns. */
export type Leads = Readonly<Record<string, Lead>>;

/** Something that takes a while. */
interface Work {
  title: string;
  controller: AbortController;
  progress: Progress | null;
  since: number;
  isGivenUp: boolean;
}

/** Says `filtered` when the filter has another text, `at` with the index of the row that was gone to. */
export class Table extends Part {
  static override properties = {
    ...super.properties,
    table: { attribute: false },
    columns: { attribute: false },
    label: { attribute: false },
    follow: { attribute: false },
    leads: { attribute: false },
    saves: { attribute: false },
  };
  static override styles = [
    super.styles,
    virtualStyles,
    css`
      :host { display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr); block-size: 100%; min-block-size: 0; }
      .tools { display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; padding: 8px 20px; }
      .tools input { flex: 0 1 26em; }
      .said { color: var(--dim); white-space: nowrap; }
      .busy { display: flex; gap: 8px; align-items: center; white-space: nowrap; }
      .busy progress { inline-size: 7em; block-size: 6px; accent-color: var(--accent); }
      .menus { display: flex; gap: 16px; margin-inline-start: auto; color: var(--dim); }
      .error { color: var(--error); }
      .scroller { border-block-start: 1px solid var(--line); grid-row: 2; grid-column: 1; }
      .head, .row { display: grid; grid-template-columns: var(--columns); column-gap: 18px; padding-inline: 20px; font: 12.5px/24px var(--mono); }
      .head { block-size: ${HEADER}px; position: relative; z-index: 1; background: var(--paper); border-block-end: 1px solid var(--line); }
      .probe { position: absolute; visibility: hidden; inline-size: ${PROBE}ch; font: 12.5px/24px var(--mono); }
      .title { position: relative; min-inline-size: 0; }
      .title button { font: 600 12px/28px var(--sans); color: var(--dim); white-space: nowrap; inline-size: 100%; overflow: hidden; text-overflow: ellipsis; }
      .title button:hover, .title.sorted button { color: var(--ink); }
      .edge { position: absolute; inset-block: 0; inset-inline-end: -13px; inline-size: 9px; cursor: col-resize; touch-action: none; }
      .edge::after { content: ''; position: absolute; inset-block: 7px; inset-inline-start: 4px; border-inline-start: 1px solid var(--line); }
      .head:not(:hover) .edge::after { visibility: hidden; }
      .edge:hover::after { border-color: var(--accent); border-inline-start-width: 2px; }
      .row { position: absolute; inset: 0 0 auto; block-size: ${ROW}px; contain: strict; border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); cursor: default; }
      .row:hover { background: var(--hover); }
      .row[aria-selected="true"] { background: var(--wash); }
      .row.here { box-shadow: inset 3px 0 var(--accent); }
      /* A finger that rests on a row begins a run of rows, not of characters. */
      @media (pointer: coarse) { .row { user-select: none; -webkit-user-select: none; -webkit-touch-callout: none; } }
      .cell { white-space: pre; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
      .scroller:focus-visible .at { outline: 2px solid var(--accent); outline-offset: -1px; border-radius: 2px; }
      .right, .right button { text-align: end; }
      /* A button is one piece, which an ellipsis replaces whole: it cuts its own words off. */
      .cell:has(> .link) { display: flex; }
      .cell.right:has(> .link) { justify-content: flex-end; }
      .cell > .link { min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: pre; }
      .cell > .fold, .cell > .leaf { flex: none; }
      .cell .swatch { display: inline-block; inline-size: 10px; block-size: 10px; border-radius: 2px; margin-inline-end: 8px; }
      .word { color: var(--dim); }
      .fold { inline-size: 2ch; text-align: center; color: var(--dim); }
      .fold:hover { color: var(--ink); }
      .leaf { display: inline-block; inline-size: 2ch; }
      .lanes { display: block; inline-size: 60px; block-size: 25px; stroke: currentColor; fill: none; stroke-width: 1.3; }
      .filled { fill: currentColor; }
      .ptx-directive { color: var(--dim); }
      .ptx-instruction { color: var(--accent); }
      .ptx-register { color: var(--good); }
      .ptx-number { color: var(--warning); }
      .ptx-string, .ptx-comment { color: var(--dim); font-style: italic; }
      .ptx-label { font-weight: 600; }
      .share { display: grid; grid-template-columns: minmax(0, 1fr) 8ch; gap: 8px; align-items: center; }
      .bar { block-size: 7px; }
      .bar i { display: block; block-size: 100%; min-inline-size: 1px; border-radius: 2px; background: var(--tint, var(--dim)); }
      .row.role-padding, .row.role-unclaimed { background-image: repeating-linear-gradient(135deg, var(--hatch) 0 2px, transparent 2px 7px); }
      .row.role-padding { --hatch: color-mix(in srgb, var(--dim) 14%, transparent); }
      .row.role-unclaimed { --hatch: color-mix(in srgb, var(--role-unclaimed) 28%, transparent); }
      .row.twice { background-image: repeating-linear-gradient(45deg, color-mix(in srgb, var(--warning) 30%, transparent) 0 2px, transparent 2px 7px); }
      .row.role-unclaimed .word, .row.twice .word { color: var(--ink); font-weight: 600; }
      .stale .rows { opacity: .5; }
      .scroller:focus-visible { outline-offset: -2px; }
      .scroller[aria-activedescendant]:focus-visible { outline: 0; }
      .none { grid-row: 2; grid-column: 1; align-self: start; z-index: 1; margin-block-start: ${HEADER}px; padding: 16px 20px; color: var(--dim); overflow-wrap: anywhere; }
      .none .link { margin-inline-start: .6em; }
      .whole { grid-row: 2; grid-column: 1; align-self: end; z-index: 1; max-block-size: 6.4em; overflow: auto; padding: 4px 20px; background: var(--pane);
        border-block: 1px solid var(--line); font-size: 12px; line-height: 18px; }
      .whole.above { align-self: start; margin-block-start: ${HEADER}px; }
      .whole .file { white-space: pre-wrap; margin-inline-start: .8em; }
      @container (max-width: 700px) {
        .tools, .head, .row, .whole { padding-inline: 12px; }
        .tools input { flex: 1 0 100%; }
        .row, .head { column-gap: 14px; }
      }
      @media (forced-colors: active) {
        .row.here { outline: 2px solid Highlight; outline-offset: -2px; }
        .row[aria-selected="true"] { background: SelectedItem; color: SelectedItemText; forced-color-adjust: none; }
        .row[aria-selected="true"] .link { color: SelectedItemText; }
      }
      /* Of a table, paper gets the rows that are in view. */
      @media print {
        :host { block-size: auto; }
        .tools { display: none; }
        .scroller { overflow: hidden; block-size: 60vh; }
      }
    `,
  ];

  declare table: string;
  declare columns: Column[];
  declare label: string;
  /** Where a row leads, by its index in the table, if not to bytes. */
  declare follow: ((index: number) => void) | null;
  /** Where cells lead by themselves. */
  declare leads: Leads | null;
  /** Saves what rows are about as files; all of them where it is told none. What comes back says how that went. */
  declare saves: ((runs: Runs | null, options: Options) => Promise<string>) | null;
  #kept: Kept = fresh(0);
  #setup: Setup = { shown: null, widths: {} };
  #work: Work | null = null;
  #isPreparing = false;
  #said = '';
  #error = '';
  #isAwaited = false;
  /** Whether what is in view is being read anew, and whether there is more again. */
  #isRefreshing = false;
  #isBehind = false;
  /** Whether the cell that the keyboard is on is to be brought into view. */
  #isMoved = false;
  /** The row that a finger is on, and what waits for it to have rested there. */
  #touched: number | null = null;
  #resting: ReturnType<typeof setTimeout> | undefined;
  /** Whether the finger has rested, so that lifting it is no tap. */
  #hasRested = false;
  /** Widths in characters of columns that have been seen, by their index. */
  #widths = new Map<number, number>();
  /** Elements for rows. */
  #slots = 0;
  #measured = new WeakSet<Window>();
  readonly #pages = new Pages<Window>(
    (page, signal) => this.#fetch(page, signal),
    (error) => {
      if (error) this.#error = message(error);
      if (this.#isAwaited) this.#selectRow();
      this.requestUpdate();
    },
    40,
  );
  readonly #virtual = new Virtual(
    this,
    () => this.#kept.matched,
    ROW,
    () => this.#kept.row,
    HEADER,
  );

  constructor() {
    super();
    this.table = '';
    this.columns = [];
    this.label = '';
    this.follow = null;
    this.leads = null;
    this.saves = null;
  }

  /** The words that rows are filtered by. */
  get filter(): string {
    return this.#kept.filter;
  }

  set filter(filter: string) {
    if (filter !== this.#kept.filter) void this.#query({ filter });
  }

  /** Goes to a row by its index in the table, of all rows in their own order. */
  go(index: number): void {
    if (!this.session) return;
    showRow(this.session, this.table, index);
    this.#restore();
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('table') || properties.has('session')) this.#restore();
    const { chosen, selected } = this.#kept;
    const { offset, size } = this.session?.selection ?? {};
    // One row is chosen by going there, and no longer when the selection has moved on.
    if (length(chosen) === 1 && (selected?.offset !== offset || selected?.size !== size)) this.#kept.chosen = [];
  }

  #restore(): void {
    const { session, table } = this;
    if (!session) return;
    this.#setup = stored(this.#setupKey, { shown: null, widths: {} }, isSetup);
    const key = `table/${table}`;
    this.#kept = (session.kept.get(key) as Kept | undefined) ?? fresh(this.#stated);
    session.kept.set(key, this.#kept);
    this.#pages.clear();
    this.#widths.clear();
    this.#measured = new WeakSet();
    this.#isAwaited = false;
    this.#said = '';
    this.#error = '';
    this.#virtual.top = this.#kept.top;
    this.dispatchEvent(new CustomEvent('filtered'));
    void this.#query({});
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#work?.controller.abort();
    this.#lifted();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // What was on its way when it was taken out of the page comes after all.
    if (this.hasUpdated) void this.#query({});
  }

  protected override changed(change: Change | null): void {
    if (change === 'reopened') void this.#query({});
    // The marked rows are those that have the selection's first byte.
    if (change === 'selection') this.requestUpdate();
    if (!SURVEYED.has(this.table.split('/', 1)[0] ?? '')) return;
    if (change === 'surveyed') void this.#refresh();
    // Cells that are not known say whether they will be.
    if (change === 'survey') this.requestUpdate();
  }

  protected override updated(): void {
    this.#kept.top = this.#virtual.top;
    if (this.#isMoved) this.#revealCell();
    this.#isMoved = false;
  }

  /** Brings the cell into view sideways; its row is in view. */
  #revealCell(): void {
    const scroller = this.renderRoot.querySelector('.scroller');
    const cell = scroller?.querySelector('.at')?.getBoundingClientRect();
    if (!scroller || !cell) return;
    const box = scroller.getBoundingClientRect();
    const room = 20;
    if (cell.right + room > box.right) scroller.scrollLeft += cell.right + room - box.right;
    if (cell.left - room < box.left) scroller.scrollLeft += cell.left - room - box.left;
  }

  /** Rows of the table, as the file's summary has them. */
  get #stated(): number {
    return this.session?.countOf(this.table) ?? 0;
  }

  /** Rows of the table. */
  get #all(): number {
    return this.#stated || this.#kept.all;
  }

  /** What it is set up by: tables of the same kind, as of any kernel, are set up alike. */
  get #setupKey(): string {
    return `table.${kindOf(this.table)}`;
  }

  /** Does something that takes a while; whatever was being done is given up. Nothing comes back where it has failed or was given up. */
  async #long<T>(title: string, work: (options: Options) => Promise<T>, givenUp: () => void): Promise<T | undefined> {
    this.#work?.controller.abort();
    const controller = new AbortController();
    const mine: Work = { title, controller, progress: null, since: performance.now(), isGivenUp: false };
    this.#work = mine;
    this.#error = '';
    this.#said = '';
    const timer = setTimeout(() => this.requestUpdate(), PATIENCE);
    const progress = (to: Progress) => {
      mine.progress = to;
      this.requestUpdate();
    };
    try {
      return await work({ signal: controller.signal, progress });
    } catch (error) {
      // Where something newer goes on, nothing is to be said.
      if (controller.signal.aborted && !mine.isGivenUp) return undefined;
      if (isAbort(error)) givenUp();
      else this.#error = message(error);
      return undefined;
    } finally {
      clearTimeout(timer);
      if (this.#work === mine) this.#work = null;
      this.requestUpdate();
    }
  }

  /** Has the worker sort and filter, in another way if `next` says so. The rows of before stay until the new ones are here. */
  async #query(next: Partial<Pick<Kept, 'sort' | 'descending' | 'filter'>>): Promise<void> {
    const { session, table } = this;
    const kept = this.#kept;
    if (!session || !table) return;
    const isOther = Object.keys(next).length > 0;
    Object.assign(kept, next);
    if ('filter' in next) this.dispatchEvent(new CustomEvent('filtered'));
    this.#isPreparing = true;
    this.requestUpdate();
    const { sort, descending, filter } = kept;
    const done = await this.#long(
      filter === '' ? 'Sorting' : 'Filtering',
      async (options) => {
        if (this.#isTree) await this.#foldMost(session, options);
        const folds = this.#isFoldable ? kept.folds : null;
        const matched = await session.call(
          'query',
          [table, { sort, descending, filter, folds: folds ?? undefined }],
          options,
        );
        const page = isOther ? 0 : Math.floor(Math.min(this.#virtual.top, matched) / PAGE);
        if (filter !== '' && this.#all === 0) kept.all = (await session.call('list', [table, 0, 0], options)).matched;
        return { matched, page, window: await session.call('rows', [table, page * PAGE, PAGE], options) };
      },
      () => void this.#query({ sort: null, descending: false, filter: '' }),
    );
    if (!done) {
      if (this.#error) this.#isPreparing = false;
      return;
    }
    this.#isPreparing = false;
    this.#pages.clear();
    this.#pages.put(done.page, done.window);
    kept.matched = done.matched;
    kept.answered = filter;
    if (filter === '' && !kept.folds?.size) kept.all = done.matched;
    kept.row = Math.min(isOther && kept.row > 0 ? 0 : kept.row, done.matched - 1);
    if (isOther) {
      kept.chosen = [];
      kept.anchor = 0;
      this.#virtual.scrollTo(0);
    } else if (kept.isWanted) {
      this.#goTo(kept.row, 'alone');
    }
    kept.isWanted = false;
    this.requestUpdate();
  }

  /**
   * Reads what is in view anew, whose table has more now: rows, columns, order. The keyboard and a row that is chosen stay with theirs,
   * and where it is scrolled to stays.
   */
  async #refresh(): Promise<void> {
    this.#isBehind = true;
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      // What comes while this is being done counts as one.
      while (this.#isBehind && this.isConnected) {
        this.#isBehind = false;
        await this.#reread();
      }
    } catch (error) {
      if (!isAbort(error) && !(error instanceof Stopped)) this.#error = message(error);
    } finally {
      this.#isRefreshing = false;
      this.requestUpdate();
    }
  }

  async #reread(): Promise<void> {
    const { session, table } = this;
    const kept = this.#kept;
    // What is asked for just now will have it all.
    if (!session || this.#isPreparing) return;
    const { sort, descending, filter } = kept;
    const isSame = () => this.#kept === kept && !this.#isPreparing && kept.sort === sort && kept.filter === filter;
    const index = this.#pages.peek(Math.floor(kept.row / PAGE))?.index[kept.row % PAGE];
    if (this.#isTree) await this.#foldMost(session, {});
    const folds = (this.#isFoldable && kept.folds) || undefined;
    const columns = await session.call('columns', [table]);
    const matched = await session.call('query', [table, { sort, descending, filter, folds }]);
    const first = Math.floor(Math.min(this.#virtual.top, matched) / PAGE);
    const pages = [first, first + 1].filter((page) => page === first || page * PAGE < matched);
    const windows = await Promise.all(pages.map((page) => session.call('rows', [table, page * PAGE, PAGE])));
    const row = index === undefined ? null : await session.call('position', [table, index]);
    if (!isSame()) return;
    if (windows.some(({ rows }) => rows[0] && rows[0].length !== columns.length)) {
      // A column has come meanwhile.
      this.#isBehind = true;
      return;
    }
    if (columns.length !== this.columns.length) {
      this.columns = columns;
      this.#widths.clear();
      this.#measured = new WeakSet();
    }
    this.#pages.clear();
    for (const [i, window] of windows.entries()) this.#pages.put(first + i, window);
    kept.matched = matched;
    if (filter === '' && !this.#isTree) kept.all = matched;
    if (row !== null && row !== kept.row) {
      kept.chosen = length(kept.chosen) === 1 && has(kept.chosen, kept.row) ? [[row, row + 1]] : [];
      kept.row = row;
      kept.anchor = row;
    }
    this.requestUpdate();
  }

  /** Folds a tree at first, and again where rows have come between those that are folded. */
  async #foldMost(session: Session, options: Options): Promise<void> {
    const { table } = this;
    const kept = this.#kept;
    const total = (await session.call('list', [table, 0, 0], options)).matched;
    const isOther = kept.total !== null && kept.total !== total;
    if (kept.folds === null || isOther)
      kept.folds = total > MANY ? await session.call('folds', [table, LEVELS - 1], options) : new Map();
    kept.all = total;
    kept.total = total;
  }

  async #fetch(page: number, signal: AbortSignal): Promise<Window> {
    const { session } = this;
    if (!session) throw new Error('no file is open');
    return session.call('rows', [this.table, page * PAGE, PAGE], { signal });
  }

  /** The page with that row, and which row of it that is. While the worker prepares a query, its rows are neither the old nor the new ones. */
  #find(row: number): { window: Window | undefined; at: number } {
    const page = Math.floor(row / PAGE);
    return { window: this.#isPreparing ? this.#pages.peek(page) : this.#pages.get(page), at: row % PAGE };
  }

  override render() {
    const { first, count: rows, shift } = this.#virtual.visible;
    const { matched, row: active, filter } = this.#kept;
    const shown = shownColumns(this.columns, this.#setup);
    const current = shown[Math.min(this.#kept.column, shown.length - 1)] ?? 0;
    if (!this.#isPreparing) this.#pages.keepOnly((page) => (page + 1) * PAGE > first && page * PAGE < first + rows);
    const here = this.#here(first, rows);
    // A row keeps its element, at its place, as long as it is in view: what is scrolled away gives its element to what comes.
    this.#slots = Math.max(this.#slots, rows);
    const base = first - (first % BASE);
    const isStopped = this.session?.survey.isStopped;
    const body: unknown[] = Array(this.#slots).fill(nothing);
    // Read aloud they are in their order all the same.
    const ids = Array.from({ length: rows }, (_, i) => rowId(first + i)).join(' ');
    for (let row = first; row < first + rows; row++) {
      const { window, at } = this.#find(row);
      this.#measure(window);
      const isHere = here.includes(row);
      const isChosen = has(this.#kept.chosen, row);
      const column = row === active ? current : -1;
      const of = [
        window,
        at,
        row,
        base,
        isHere,
        isChosen,
        column,
        this.columns,
        this.#setup,
        this.follow,
        this.leads,
        isStopped,
      ];
      body[row % this.#slots] = guard(of, () => this.#row(row, shown, column, isHere, isChosen, (row - base) * ROW));
    }
    const isInView = active === HEAD || (active >= first && active < first + rows);
    return html`
      <div class="tools">
        <input class="field" type="search" placeholder="Filter: words, or column:value" aria-label="Filter ${this.label}" spellcheck="false"
          .value=${filter} @input=${this.#filtered} @keydown=${this.#filterKey}>
        ${this.#status()}
        <div class="menus">
          ${this.#isFoldable ? html`<kernel-scope-menu label="Fold" hint="Fold ${this.label}" .items=${this.#foldItems()}></kernel-scope-menu>` : nothing}
          <kernel-scope-menu label="Columns" hint="Columns of ${this.label}" .items=${this.#columnItems(shown)}></kernel-scope-menu>
          <kernel-scope-menu label="Copy" hint="Copy rows of ${this.label}" .items=${this.#copyItems()}></kernel-scope-menu>
          ${this.saves ? html`<kernel-scope-menu label="Save" hint="Save ${this.label}" .items=${this.#saveItems()}></kernel-scope-menu>` : nothing}
        </div>
      </div>
      <div class="scroller ${this.#isPreparing ? 'stale' : ''}" role=${this.#isTree ? 'treegrid' : 'grid'} tabindex="0" aria-label=${this.label} aria-rowcount=${matched + 1}
        aria-colcount=${this.columns.length} aria-multiselectable="true" aria-busy=${this.#isPreparing}
        aria-activedescendant=${isInView ? cellId(active, current) : nothing} @keydown=${this.#key}>
        <div class="window" role="presentation" ${styled({ '--columns': this.#template(shown) })} @mousedown=${this.#pressed}>
          <i class="probe"></i>
          <div class="head" role="row" aria-rowindex="1">${shown.map((index) => this.#title(index, active === HEAD && index === current))}</div>
          <div class="rows" role="rowgroup" aria-owns=${ids || nothing} ${styled({ transform: `translateY(${-shift - (first - base) * ROW}px)` })} @click=${this.#clicked} @dblclick=${this.#doubled}
            @pointerdown=${this.#down} @pointerup=${this.#lifted} @pointercancel=${this.#lifted} @contextmenu=${this.#menu}>${body}</div>
        </div>
        <div class="spacer"></div>
      </div>
      ${matched === 0 && !this.#isPreparing ? this.#none() : nothing}
      ${this.#whole(current, first, rows)}
    `;
  }

  /** How many rows there are, or what is being done. */
  #status() {
    const { matched, answered } = this.#kept;
    const work = this.#work;
    if (work && performance.now() - work.since >= PATIENCE) {
      const { done, total } = work.progress ?? { done: 0, total: 0 };
      const percent = total > 0 ? Math.floor((done / total) * 100) : 0;
      return html`<span class="busy"><progress max="100" .value=${percent} aria-label=${work.title}></progress>
        <span class="dim">${work.title}… ${percent} %</span><button class="link" @click=${this.#giveUp}>Cancel</button></span>`;
    }
    const all = this.#all;
    const many = answered || (this.#isFoldable && matched < all) ? `${count(matched)} of ${rowsOf(all)}` : rowsOf(all);
    const some = length(this.#kept.chosen);
    return html`<span class="said" role="status">${this.#said || (some > 1 ? `${many} · ${count(some)} selected` : many)}</span>
      ${this.#error ? html`<span class="error" role="alert">${this.#error}</span>` : nothing}`;
  }

  #none() {
    const { answered: filter } = this.#kept;
    const { survey } = this.session ?? {};
    const kind = kindOf(this.table);
    if (this.#all === 0 && survey && survey.total > 0 && !survey.finished && TOLD_BY_MEMBERS.has(kind)) {
      const state = survey.said || 'The members have not been opened yet';
      const until = kind === 'missing' ? 'what is missing is known once all were' : 'no kernel was found so far';
      return html`<p class="none">${state}: ${until}.
        ${survey.running ? nothing : html`<button class="link" @click=${() => survey.start()}>${survey.said ? 'Continue' : 'Open them'}</button>`}</p>`;
    }
    if (!filter) return html`<p class="none">There are no rows.</p>`;
    const unknown = unknownColumn(filter, this.columns);
    return html`<p class="none">No row of ${count(this.#all)} has <span class="file">${name(filter, 80)}</span>.
      ${
        unknown === null
          ? nothing
          : html`There is no column <span class="file">${name(unknown, 40)}</span>; the columns are
            <span class="file">${this.columns.map(({ key }) => key).join(' ')}</span>.`
      }
      <button class="link" @click=${this.#unfilter}>Clear the filter</button></p>`;
  }

  /** The cell that the keyboard is on, where it is too long for its column: below the rows, or above them where it would hide its own. */
  #whole(index: number, first: number, rows: number) {
    const { row } = this.#kept;
    const column = this.columns[index];
    if (!column || row < first || row >= first + rows) return nothing;
    const { window, at } = this.#find(row);
    const text = cellText(window?.rows[at]?.[index], column, FULL);
    if (text.length <= (this.#setup.widths[column.key] ?? this.#widths.get(index) ?? 0)) return nothing;
    return html`<div class="whole ${row >= first + rows - 5 ? 'above' : ''}" tabindex=${text.length > LONG ? 0 : nothing}
      role=${text.length > LONG ? 'region' : nothing} aria-label=${text.length > LONG ? `${column.title}, whole` : nothing}><span class="dim">${column.title}</span><span class="file">${text}</span></div>`;
  }

  /** The widths of the columns that are shown; the last column of text takes the room that is left. */
  #template(shown: readonly number[]): string {
    const texts = shown.filter((index) => this.columns[index] && !isRight(this.columns[index]));
    const wide = texts.at(-1);
    return shown
      .map((index) => {
        const own = this.#setup.widths[this.columns[index]?.key ?? ''];
        const width = own ?? this.#widths.get(index) ?? 4;
        return index === wide && own === undefined ? `minmax(${width}ch, 1fr)` : `${width}ch`;
      })
      .join(' ');
  }

  #title(index: number, isAt: boolean) {
    const column = this.columns[index] as Column;
    const { sort, descending } = this.#kept;
    const isSorted = sort === column.key;
    const order = isSorted ? (descending ? 'descending' : 'ascending') : 'none';
    const arrow = isSorted ? (descending ? ' ↓' : ' ↑') : '';
    return html`<div role="columnheader" aria-sort=${order} aria-colindex=${index + 1} id=${cellId(HEAD, index)}
      class="title ${isRight(column) ? 'right' : ''} ${isSorted ? 'sorted' : ''} ${isAt ? 'at' : ''}">
      <button tabindex="-1" title=${column.title} @click=${() => this.#sortBy(index)}>${column.title}${arrow}</button>
      <span class="edge" @pointerdown=${this.#grabbed} @pointermove=${(event: PointerEvent) => this.#dragged(event, index)}
        @dblclick=${() => this.#resize(index, null)}></span>
    </div>`;
  }

  /** The rows in view that have the selection's first byte. */
  #here(first: number, rows: number): number[] {
    const { selection } = this.session ?? {};
    if (!selection || selection.size === 0) return [];
    const seen = Array.from({ length: rows }, (_, i) => {
      const { window, at } = this.#find(first + i);
      return { own: window ? ownOf(window, at) : null, target: window ? targetOf(window, at) : null };
    });
    const held = holders(seen, selection.offset).map((i) => first + i);
    // Rows of a tree lie in others, which have their bytes, too.
    return this.#isTree ? held.slice(-1) : held;
  }

  /** Rows further down can be longer: columns grow, and never shrink under the reader's eyes. */
  #measure(window: Window | undefined): void {
    if (!window || this.#measured.has(window)) return;
    this.#measured.add(window);
    const all = this.columns.map((_, index) => index);
    const seen = widths(this.columns, window.rows, all);
    if (this.#isTree) {
      const depths = window.rows.map((cells) => treeOf(this.columns, cells).depth);
      const room = INDENT * (Math.max(0, ...depths) + 2);
      const at = this.#trunk;
      seen[at] = (seen[this.#named] ?? 0) + (this.#isFoldable ? room : 0);
    }
    seen.forEach((width, index) => {
      this.#widths.set(index, Math.max(width, this.#widths.get(index) ?? 0));
    });
  }

  #row(row: number, shown: readonly number[], current: number, isHere: boolean, isChosen: boolean, top: number) {
    const { window, at } = this.#find(row);
    const cells = window?.rows[at];
    const hasTarget = window !== undefined && (this.follow !== null || targetOf(window, at) !== null);
    const tone = cells ? rowTone(this.table, this.columns, cells) : '';
    const tree = this.#treeAt(row);
    return html`<div class="row ${tone} ${isHere ? 'here' : ''}" role="row" id=${rowId(row)} aria-rowindex=${row + 2}
      aria-level=${tree ? tree.depth + 1 : nothing} aria-expanded=${tree?.hasRows ? !tree.isFolded : nothing}
      aria-current=${isHere ? 'true' : nothing} aria-selected=${isChosen} ${styled({ transform: `translateY(${top}px)` })}>${shown.map((index) => this.#cell(row, index, cells, hasTarget, index === current))}</div>`;
  }

  #cell(row: number, index: number, cells: readonly Cell[] | undefined, hasTarget: boolean, isAt: boolean) {
    const column = this.columns[index] as Column;
    const isTrunk = index === this.#trunk;
    const cell = cells?.[isTrunk ? this.#named : index];
    const isOpen = cell !== null || !cells || !isUnknown(this.columns, cells, column);
    const text = isOpen
      ? cellText(cell, column)
      : unknownText(this.columns, cells, this.session?.survey.isStopped ?? false);
    const whole = fullText(cell, column, text);
    const tone = `cell ${isRight(column) ? 'right' : ''} ${column.unit} ${isAt ? 'at' : ''}`;
    return html`<div class=${tone} role="gridcell" aria-colindex=${index + 1} id=${isAt ? cellId(row, index) : nothing}
      title=${whole ?? nothing}>${isTrunk ? this.#branch(row) : nothing}${this.#content(column, cell, text, hasTarget, this.#leadOf(index, cells), whole)}</div>`;
  }

  #content(
    column: Column,
    cell: Cell | undefined,
    text: string,
    hasTarget: boolean,
    lead: Lead | null,
    whole: string | null,
  ) {
    const before = whole === null ? '' : `${whole}\n`;
    if (lead) return html`<button class="link" tabindex="-1" title=${before + lead.title}>${text}</button>`;
    if (hasTarget && column.key === LINKS[kindOf(this.table)]) {
      return html`<button class="link" tabindex="-1" title=${before + (this.follow ? 'Open it (Ctrl+Enter)' : 'Go to its bytes (Ctrl+Enter)')}>${text}</button>`;
    }
    if (column.key === 'barriers' && kindOf(this.table) === 'code') return lanes(text);
    if (column.key === 'text' && kindOf(this.table) === 'text') {
      return ptxParts(String(cell ?? '')).map(
        ({ kind, text }) => html`<span class="ptx-${kind}">${visible(text)}</span>`,
      );
    }
    if (column.key === 'role' && text) return html`<i class="swatch role-${text}"></i>${text}`;
    if (column.unit === 'share' && text) {
      return html`<i class="bar"><i ${styled({ width: `${Number(cell) * 100}%` })}></i></i>${text}`;
    }
    return text;
  }

  /** Whether rows lie in others, and whether they stand so. */
  get #isTree(): boolean {
    return TREES[kindOf(this.table)] !== undefined;
  }

  #index(of: string | undefined): number {
    return this.columns.findIndex(({ key }) => key === of);
  }

  /** The column that branches; -1 where none does. */
  get #trunk(): number {
    return this.#index(TREES[kindOf(this.table)]?.column);
  }

  /** The column whose cells stand in it. */
  get #named(): number {
    return this.#index(this.#isFoldable ? TREES[kindOf(this.table)]?.name : 'path');
  }

  get #isFoldable(): boolean {
    return this.#isTree && this.#kept.filter === '' && this.#kept.sort === null;
  }

  /** Where a row is in a tree that stands in its own order. */
  #treeAt(row: number): (Tree & { index: number; hasRows: boolean; isFolded: boolean }) | null {
    if (!this.#isFoldable || row < 0) return null;
    const { window, at } = this.#find(row);
    const [cells, index] = [window?.rows[at], window?.index[at]];
    if (!cells || index === undefined) return null;
    const tree = treeOf(this.columns, cells);
    return { ...tree, index, hasRows: tree.next > index + 1, isFolded: this.#kept.folds?.has(index) ?? false };
  }

  /** Before the first cell of a row: how deep it is, and what folds those below it. */
  #branch(row: number) {
    const tree = this.#treeAt(row);
    if (!tree) return nothing;
    const indent = styled({ 'margin-inline-start': `${tree.depth * INDENT}ch` });
    return tree.hasRows
      ? html`<button class="fold" tabindex="-1" title=${tree.isFolded ? 'Unfold (→)' : 'Fold (←)'} ${indent}>${tree.isFolded ? '▸' : '▾'}</button>`
      : html`<i class="leaf" ${indent}></i>`;
  }

  /** Folds a row, or unfolds it. Those above it stay where they are. */
  #fold(row: number): void {
    const tree = this.#treeAt(row);
    if (!tree?.hasRows) return;
    void this.#turn(tree);
  }

  async #turn({ index, depth, next }: { index: number; depth: number; next: number }): Promise<void> {
    const folds = new Map(this.#kept.folds);
    if (!folds.delete(index)) folds.set(index, next);
    else await this.#foldWithin(folds, index, depth, next);
    this.#folded(folds);
  }

  /** Of a row of a large tree that is unfolded, only the next level is shown. */
  async #foldWithin(folds: Map<number, number>, index: number, depth: number, next: number): Promise<void> {
    if (this.#all <= MANY || next - index <= MANY / LEVELS) return;
    const within = await this.session?.call('folds', [this.table, depth + 1, index + 1, next]);
    for (const [row, behind] of within ?? []) folds.set(row, behind);
  }

  /** Goes to a row of a tree by its index in the table, and unfolds those that it lies in. */
  async reveal(index: number): Promise<void> {
    const { session, table } = this;
    const kept = this.#kept;
    if (!session) return;
    try {
      if (this.#isFoldable && kept.folds) {
        const folds = new Map(kept.folds);
        for (;;) {
          const around = [...folds].find(([row, behind]) => row < index && index < behind);
          if (!around) break;
          folds.delete(around[0]);
          const [cells] = (await session.call('list', [table, around[0], 1])).rows;
          await this.#foldWithin(folds, around[0], treeOf(this.columns, cells ?? []).depth, around[1]);
        }
        if (folds.size !== kept.folds.size || [...folds.keys()].some((row) => !kept.folds?.has(row))) {
          kept.folds = folds;
          await this.#query({});
        }
      }
      const row = await session.call('position', [table, index]);
      if (row !== null && kept === this.#kept) this.#goTo(row, 'alone');
    } catch (error) {
      if (!isAbort(error)) this.#error = message(error);
    }
  }

  #folded(folds: Folds): void {
    this.#kept.folds = folds;
    if (length(this.#kept.chosen) > 1) this.#kept.chosen = [];
    void this.#query({});
  }

  #foldItems(): Items {
    const to = (depth: number) => async () => {
      const folds = await this.#long(
        'Folding',
        async (options) => this.session?.call('folds', [this.table, depth], options),
        () => {},
      );
      if (!folds) return;
      this.#virtual.scrollTo(0);
      this.#kept.row = Math.min(this.#kept.row, 0);
      this.#folded(folds);
    };
    return [
      { title: 'Unfold all', run: () => this.#folded(new Map()) },
      ...[1, 2, 3, 4].map((levels) => ({
        title: levels === 1 ? 'One level' : `${levels} levels`,
        run: to(levels - 1),
      })),
    ];
  }

  /** To the row that one lies in. */
  #up(row: number): void {
    const depth = this.#treeAt(row)?.depth ?? 0;
    for (let at = row - 1; at >= 0; at--) {
      const above = this.#treeAt(at);
      if (!above) return; // not here yet
      if (above.depth >= depth) continue;
      this.#goTo(at, 'alone');
      return;
    }
  }

  /** Where the cell leads by itself. */
  #leadOf(index: number, cells: readonly Cell[] | undefined): Lead | null {
    const lead = this.leads?.[this.columns[index]?.key ?? ''];
    return lead && cells && lead.isLink(cells[index], cells) ? lead : null;
  }

  #columnItems(shown: readonly number[]): Items {
    const set = (keys: string[] | null) => this.#arrange({ ...this.#setup, shown: keys });
    const keys = shown.map((index) => this.columns[index]?.key ?? '');
    const all = this.columns.map(({ key }) => key);
    return [
      { title: 'The usual ones', run: () => this.#arrange({ shown: null, widths: {} }) },
      { title: 'All', run: () => set(all) },
      null,
      ...this.columns.map(({ key, title }) => {
        const isOn = keys.includes(key);
        // The last one stays.
        const next = all.filter((one) => (one === key ? !isOn : keys.includes(one)));
        return { title, hint: key, isOn, run: () => set(next.length > 0 ? next : keys) };
      }),
    ];
  }

  #copyItems(): Items {
    const { chosen, matched } = this.#kept;
    const every: Runs = [[0, matched]];
    const copies = (runs: Runs, what: string, hint?: string) =>
      FORMS.map((form, i) => ({
        title: `${what} as ${form.title}`,
        ...(hint && i === 0 ? { hint } : {}),
        run: () => void this.#copy(runs, form),
      }));
    const many = length(chosen);
    const some =
      many > 0
        ? [
            ...copies(chosen, `${many === 1 ? 'The' : count(many)} selected ${many === 1 ? 'row' : 'rows'}`, 'Ctrl+C'),
            null,
          ]
        : [];
    if (matched === 0) return some;
    const all = matched === 1 ? 'The only row' : `All ${rowsOf(matched)}`;
    return [
      ...some,
      ...copies(every, all),
      null,
      ...FORMS.filter(({ form }) => form === 'csv' || form === 'json').map((form) => ({
        title: `Save as ${form.title}…`,
        run: () => void this.#save(every, form),
      })),
    ];
  }

  #saveItems(): Items {
    const { chosen, matched, filter } = this.#kept;
    const many = length(chosen);
    const item = (title: string, runs: Runs | null) => ({ title, run: () => void this.#saveFiles(runs) });
    return [
      ...(many > 0
        ? [item(many === 1 ? 'The selected one…' : `${count(many)} selected ones as a zip file…`, chosen)]
        : []),
      ...(filter !== '' && matched > 1 ? [item(`${count(matched)} that are left as a zip file…`, [[0, matched]])] : []),
      item('All as a zip file…', null),
    ];
  }

  async #saveFiles(runs: Runs | null): Promise<void> {
    const { saves } = this;
    if (!saves || this.#isPreparing) return;
    const said = await this.#long(
      'Saving',
      (options) => saves(runs, options),
      () => {},
    );
    if (said !== undefined) this.#said = said;
    this.requestUpdate();
  }

  #arrange(setup: Setup): void {
    this.#setup = setup;
    store(this.#setupKey, setup);
    this.requestUpdate();
  }

  /** Makes a column that wide, in characters; null: as wide as it would be. */
  #resize(index: number, width: number | null): void {
    const key = this.columns[index]?.key ?? '';
    const { [key]: _, ...others } = this.#setup.widths;
    const bounded = width === null ? null : Math.min(400, Math.max(3, Math.round(width * 10) / 10));
    this.#arrange({ ...this.#setup, widths: bounded === null ? others : { ...others, [key]: bounded } });
  }

  readonly #grabbed = (event: PointerEvent): void => {
    event.preventDefault();
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };

  #dragged(event: PointerEvent, index: number): void {
    if (!(event.buttons & 1)) return;
    const title = ((event.currentTarget as HTMLElement).closest('.title') as HTMLElement).getBoundingClientRect();
    const probe = this.renderRoot.querySelector('.probe') as HTMLElement;
    this.#resize(index, (event.clientX - title.left) / (probe.getBoundingClientRect().width / PROBE));
  }

  #sortBy(index: number): void {
    const key = this.columns[index]?.key ?? null;
    const { sort, descending } = this.#kept;
    // Up, down, and back to the table's own order.
    const next =
      sort !== key ? { sort: key, descending: false } : { sort: descending ? null : key, descending: !descending };
    void this.#query(next);
  }

  readonly #filtered = (event: Event): void => {
    void this.#query({ filter: (event.target as HTMLInputElement).value });
  };

  readonly #filterKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && this.#kept.filter) this.#unfilter();
    else if (event.key === 'ArrowDown' || event.key === 'Enter') this.#focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  readonly #unfilter = (): void => {
    void this.#query({ filter: '' });
    this.renderRoot.querySelector('input')?.focus();
  };

  readonly #giveUp = (): void => {
    if (!this.#work) return;
    this.#work.isGivenUp = true;
    this.#work.controller.abort();
    this.#focus();
  };

  #focus(): void {
    this.renderRoot.querySelector<HTMLElement>('.scroller')?.focus({ preventScroll: true });
  }

  #asked(runs: Runs, form: RowsForm): Promise<string | undefined> {
    const { session, table } = this;
    const keys = shownColumns(this.columns, this.#setup).map((index) => this.columns[index]?.key ?? '');
    const ask = async (options: Options) => session?.call('copyRows', [table, keys, runs, form], options);
    return this.#long('Copying', ask, () => {});
  }

  async #copy(runs: Runs, { form, title }: (typeof FORMS)[number]): Promise<void> {
    if (this.#isPreparing || length(runs) === 0) return;
    const text = this.#asked(runs, form).then((made) => {
      if (made === undefined) throw new Error('given up');
      return made;
    });
    this.#said = await copyText(text, `${bounded(length(runs))} as ${title}`);
    this.requestUpdate();
  }

  async #save(runs: Runs, { form, extension, type }: (typeof FORMS)[number]): Promise<void> {
    if (this.#isPreparing) return;
    const text = await this.#asked(runs, form);
    if (text === undefined) return;
    save(new Blob([text], { type }), `${this.session?.name}.${this.table}.${extension}`);
    this.#said = `${bounded(length(runs))} saved`;
    this.requestUpdate();
  }

  /** Selects the bytes of the row that the keyboard is on, or later, where its page has still to come. */
  #selectRow(): void {
    const { window, at } = this.#find(this.#kept.row);
    const offset = window?.offset[at] ?? -1;
    this.#isAwaited = !window;
    if (offset >= 0) this.session?.select(offset, window?.size[at] ?? 1);
    this.#kept.selected = this.session?.selection ?? null;
  }

  /** The keyboard goes to another row: it is chosen alone, with those from the anchor on, or besides the others. */
  #goTo(row: number, how: 'alone' | 'run' | 'besides'): void {
    const kept = this.#kept;
    kept.row = row;
    this.#said = '';
    this.#isMoved = true;
    this.requestUpdate();
    if (row === HEAD) return;
    if (how === 'run') {
      kept.chosen = withRows([], kept.anchor, row);
    } else {
      kept.anchor = row;
      if (how === 'alone') kept.chosen = withRows([], row, row);
      else kept.chosen = has(kept.chosen, row) ? withoutRow(kept.chosen, row) : withRows(kept.chosen, row, row);
    }
    this.#virtual.reveal(row);
    this.#selectRow();
    const { window, at } = this.#find(row);
    const index = window?.index[at];
    if (index !== undefined) this.dispatchEvent(new CustomEvent('at', { detail: index }));
  }

  /** Goes where the row leads, or its cell in a column. */
  #lead(row: number, column = -1): void {
    const { window, at } = this.#find(row);
    const index = window?.index[at];
    if (!window || index === undefined) return;
    const target = targetOf(window, at);
    const lead = this.#leadOf(column, window.rows[at]);
    if (lead) lead.go(window.rows[at]?.[column], index);
    else if (this.follow) this.follow(index);
    else if (target) this.session?.select(Number(target.offset), Number(target.size));
    this.#kept.selected = this.session?.selection ?? null;
  }

  /** Buttons in the grid leave the keyboard where it is: at the grid. */
  readonly #pressed = (event: MouseEvent): void => {
    if (!(event.target as Element).closest('button')) return;
    event.preventDefault();
    this.#focus();
  };

  readonly #down = (event: PointerEvent): void => {
    this.#lifted();
    this.#hasRested = false;
    if (event.pointerType !== 'touch') return;
    this.#touched = rowAt(event);
    this.#resting = setTimeout(this.#rested, HOLD);
  };

  readonly #lifted = (): void => {
    clearTimeout(this.#resting);
    this.#touched = null;
  };

  /** A finger that rests on a row begins a run there, which the next tap ends. */
  readonly #rested = (): void => {
    const row = this.#touched ?? HEAD;
    this.#lifted();
    if (row === HEAD) return;
    this.#hasRested = true;
    this.#goTo(row, 'alone');
    this.#said = RUN;
  };

  /** What the browser would open for a finger that rests; it may come first. */
  readonly #menu = (event: Event): void => {
    this.#rested();
    if (this.#hasRested) event.preventDefault();
  };

  readonly #clicked = (event: MouseEvent): void => {
    const target = event.target as Element;
    const row = rowAt(event);
    const hasRested = this.#hasRested;
    this.#hasRested = false;
    if (row < 0 || hasRested) return;
    const isRun = this.#said === RUN;
    const index = Number(target.closest('.cell')?.getAttribute('aria-colindex') ?? 0) - 1;
    const column = shownColumns(this.columns, this.#setup).indexOf(index);
    if (column >= 0) this.#kept.column = column;
    if (target.closest('.fold') && !isRun) {
      this.#goTo(row, 'alone');
      this.#fold(row);
    } else if (target.closest('.link') && !isRun) {
      this.#goTo(row, 'alone');
      this.#lead(row, index);
    } else {
      this.#goTo(row, isRun || event.shiftKey ? 'run' : event.ctrlKey || event.metaKey ? 'besides' : 'alone');
    }
  };

  #isLink(row: number, index: number): boolean {
    const { window, at } = this.#find(row);
    return this.#leadOf(index, window?.rows[at]) !== null;
  }

  readonly #doubled = (): void => {
    if (this.#kept.row !== HEAD) this.#lead(this.#kept.row);
  };

  readonly #key = (event: KeyboardEvent): void => {
    const kept = this.#kept;
    const { row, matched } = kept;
    const shown = shownColumns(this.columns, this.#setup);
    const column = Math.min(kept.column, shown.length - 1);
    const index = shown[column] ?? 0;
    const isControl = event.ctrlKey || event.metaKey;
    const page = this.#virtual.page;
    const rows: Record<string, number> = {
      ArrowDown: row + 1,
      ArrowUp: row - 1,
      PageDown: row + page,
      // Only the arrow leaves the rows for the heading.
      PageUp: Math.max(Math.min(row, 0), row - page),
      ...(isControl ? { Home: 0, End: matched - 1 } : {}),
    };
    const columns: Record<string, number> = {
      ArrowLeft: column - 1,
      ArrowRight: column + 1,
      Home: 0,
      End: shown.length - 1,
    };
    const toRow = rows[event.key];
    const toColumn = columns[event.key];
    if (event.altKey) return;
    const tree = index === this.#trunk ? this.#treeAt(row) : null;
    if (tree && event.key === 'ArrowLeft') {
      if (tree.hasRows && !tree.isFolded) this.#fold(row);
      else this.#up(row);
    } else if (tree?.isFolded && event.key === 'ArrowRight') {
      this.#fold(row);
    } else if (toRow !== undefined) {
      this.#goTo(Math.min(Math.max(HEAD, toRow), matched - 1), event.shiftKey ? 'run' : 'alone');
    } else if (row === HEAD && event.shiftKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
      const width = this.#setup.widths[this.columns[index]?.key ?? ''] ?? this.#widths.get(index) ?? 4;
      this.#resize(index, width + (event.key === 'ArrowLeft' ? -1 : 1));
    } else if (toColumn !== undefined) {
      kept.column = Math.min(Math.max(0, toColumn), shown.length - 1);
      this.#isMoved = true;
      this.requestUpdate();
    } else if (event.key === 'Enter' || event.key === ' ') {
      if (row === HEAD) this.#sortBy(index);
      else if (event.key === ' ') this.#goTo(row, 'besides');
      else if (isControl) this.#lead(row);
      else if (this.columns[index]?.key === LINKS[kindOf(this.table)] || this.#isLink(row, index))
        this.#lead(row, index);
      else this.#goTo(row, 'alone');
    } else if (isControl && event.key === 'a') {
      kept.chosen = matched > 0 ? [[0, matched]] : [];
      this.#said = '';
      this.requestUpdate();
    } else if (isControl && event.key === 'c' && document.getSelection()?.isCollapsed !== false) {
      const runs: Runs = length(kept.chosen) > 0 ? kept.chosen : row === HEAD ? [] : [[row, row + 1]];
      void this.#copy(runs, FORMS[0] as (typeof FORMS)[number]);
    } else {
      return;
    }
    event.preventDefault();
  };
}

function fresh(matched: number): Kept {
  return {
    sort: null,
    descending: false,
    filter: '',
    all: matched,
    matched,
    answered: '',
    top: 0,
    row: HEAD,
    column: 0,
    chosen: [],
    selected: null,
    anchor: 0,
    folds: null,
    total: null,
    isWanted: false,
  };
}

/** Has the table go to a row, by its index in the table, when it is shown next. */
export function showRow(session: Session, table: string, row: number): void {
  session.kept.set(`table/${table}`, { ...fresh(0), row, folds: new Map(), isWanted: true } satisfies Kept);
}

/** Has the table go to the row with what is selected, unless it was selected there. */
export function showSelected(session: Session, table: string, row: number): void {
  const kept = session.kept.get(`table/${table}`) as Kept | undefined;
  if (kept?.selected !== session.selection) showRow(session, table, row);
}

/** `code` of `code/3`. */
function kindOf(table: string): string {
  return table.split('/', 1)[0] ?? table;
}

/** The barriers beside an instruction, a line for each. */
function lanes(text: string) {
  const drawn = Array.from(text, (character, barrier) => {
    const lane = LANES[character];
    if (!lane) return nothing;
    return svg`<g transform="translate(${barrier * 10})"><path d=${lane.line}></path>${
      lane.sign ? svg`<path d=${lane.sign.d} class=${lane.sign.isFilled ? 'filled' : ''}></path>` : nothing
    }</g>`;
  });
  const words = laneWords(text);
  return html`<svg class="lanes" viewBox="0 0 60 25" role="img" aria-label=${words || 'none'}>${drawn}</svg>`;
}

/** The row that an event comes from. */
function rowAt(event: Event): number {
  return Number((event.target as Element).closest('.row')?.getAttribute('aria-rowindex') ?? 1) - 2;
}

function rowId(row: number): string {
  return `r${row}`;
}

function cellId(row: number, column: number): string {
  return `c${row}-${column}`;
}

function rowsOf(many: number): string {
  return `${count(many)} ${many === 1 ? 'row' : 'rows'}`;
}

/** So many rows as can be copied at once. */
function bounded(many: number): string {
  return many > COPY_LIMIT ? `the first ${count(COPY_LIMIT)} of ${rowsOf(many)}` : rowsOf(many);
}

define('kernel-scope-table', Table);
