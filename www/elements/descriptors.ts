// <kernel-scope-descriptors>: the launch descriptors of a dump, or the fields of one. In a pushbuffer it can lie in pieces.
// <kernel-scope-compare>: two of them, field by field.

import { css, html, nothing, type TemplateResult } from 'lit';
import { isAbort, message } from '../client.ts';
import type { Cell, Column, Form, StructRecord } from '../protocol.ts';
import type { Session } from '../session.ts';
import { count, hex, name } from '../text.ts';
import type { Unwritten } from './diagram.ts';
import './diagram.ts';
import { One } from './one.ts';
import { define, Part } from './part.ts';
import type { Table } from './table.ts';
import './table.ts';

/** Descriptors that can be chosen from to be compared. */
const MOST = 1000;
const DIFFERS = 'differs:yes';

type Row = ReadonlyMap<string, Cell>;

function rowsOf(columns: readonly Column[], rows: readonly (readonly Cell[])[]): Row[] {
  return rows.map((cells) => new Map(columns.map(({ key }, i) => [key, cells[i] ?? null])));
}

/** A launch descriptor in a few words. */
function inShort(row: Row): string {
  const of = (key: string) => row.get(key) ?? '';
  return `${of('index')}: version ${of('version')}, grid ${of('grid')}, block ${of('block')}`;
}

export class Descriptors extends One {
  static override styles = [
    super.styles,
    css`
      :host { display: block; block-size: 100%; }
      .one { padding: 12px 20px 20px; }
      .back { margin-block-end: 6px; }
      h2 { font: 600 16px/1.3 var(--sans); }
      .lead { color: var(--dim); margin: 2px 0 12px; }
      .failed { color: var(--error); }
      kernel-scope-diagram { border: 1px solid var(--line); border-radius: 8px; background: var(--pane); overflow: hidden; }
      @container (max-width: 700px) { .one { padding-inline: 12px; } }
    `,
  ];
  protected override readonly table = 'qmds';
  protected override readonly label = 'Launch descriptors';
  #row: Row | null = null;
  #shown: Unwritten | null = null;
  #at = 0;
  #field: number | null = null;

  protected override async ask(session: Session, index: number, signal: AbortSignal): Promise<void> {
    const { rows, offset } = await session.call('list', ['qmds', index, 1], { signal });
    const [row = null] = rowsOf(this.columns, rows);
    const at = offset[0] ?? 0;
    const { records } = row ? await session.call('locate', [at], { signal }) : { records: [] };
    // The methods that write it are structures of the same bytes.
    const record = records.at(-1);
    if (!record) throw new Error('there is no such launch descriptor');
    const print = (form: Form) => session.call('print', [at, form, records.length - 1]);
    const pieces = Number(row?.get('pieces'));
    const about = record.is_stored ? `at ${hex(record.span.offset)}` : `in ${count(pieces)} pieces`;
    this.#row = row;
    this.#at = at;
    this.#field = null;
    this.#shown = { record, print, about };
  }

  protected override one(index: number): TemplateResult {
    const { session } = this;
    const row = this.#row;
    const address = row?.get('address');
    return html`<div class="one">
      ${this.head('launch descriptors')}
      ${
        row && this.#shown
          ? html`
              <h2>Launch descriptor ${inShort(row)}</h2>
              <p class="lead">found in ${row.get('from')}${typeof address === 'number' || typeof address === 'string' ? html`, written to <span class="num">${hex(address)}</span>` : nothing}
                · <button class="link" @click=${() => session?.select(this.#at, 1)}>Go to its bytes</button>
                ${this.count > 1 ? html`· <button class="link" @click=${() => this.show(`compare/${this.#pair(index)}`)}>Compare</button>` : nothing}</p>
              <kernel-scope-diagram .session=${session} .unwritten=${this.#shown} .field=${this.#field} @choose=${this.#chose}></kernel-scope-diagram>`
          : nothing
      }
    </div>`;
  }

  /** With the one before, since a launch is like the last one but for what has changed. */
  #pair(index: number): string {
    return index === 0 ? '0-1' : `${index - 1}-${index}`;
  }

  /** The bytes of a field are selected, where the descriptor lies in one piece. */
  readonly #chose = ({ detail }: CustomEvent<number>): void => {
    this.#field = detail;
    const { record } = this.#shown ?? {};
    if (record?.is_stored) this.#select(record, detail);
    this.requestUpdate();
  };

  #select(record: StructRecord, index: number): void {
    const { name: of, bits } = record.fields[index] ?? {};
    if (!bits) return;
    const first = Math.floor(bits[1] / 8);
    const offset = Number(record.span.offset) + first;
    void this.session?.selectWhere(offset, Math.floor(bits[0] / 8) - first + 1, (field) => field.name === of);
  }
}

export class Compare extends Part {
  static override properties = { ...super.properties, columns: { attribute: false }, rest: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr); block-size: 100%; }
      .line { display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: baseline; padding: 10px 20px 4px; }
      label { display: flex; gap: 6px; align-items: baseline; min-inline-size: 0; }
      select { min-inline-size: 0; max-inline-size: 26em; }
      .failed { color: var(--error); }
      @container (max-width: 700px) { .line { padding-inline: 12px; } select { max-inline-size: 68cqi; } }
    `,
  ];

  /** The columns of the table, and which two are compared: `0-1`. */
  declare columns: Column[];
  declare rest: string;
  #descriptors: Row[] = [];
  #failed = '';
  /** These two have not been compared before. */
  #isNew = false;

  constructor() {
    super();
    this.columns = [];
    this.rest = '';
  }

  protected override changed(change: unknown): void {
    if (change === null || change === 'reopened') void this.#ask();
  }

  async #ask(): Promise<void> {
    const { session } = this;
    if (!session) return;
    try {
      const [columns, { rows }] = await Promise.all([
        session.call('columns', ['qmds']),
        session.call('list', ['qmds', 0, MOST]),
      ]);
      if (session !== this.session) return;
      this.#descriptors = rowsOf(columns, rows);
      this.#failed = '';
    } catch (error) {
      if (isAbort(error)) return;
      this.#failed = message(error);
    }
    this.requestUpdate();
  }

  get #pair(): [number, number] {
    const [first = 0, second = 1] = this.rest.split('-').map((part) => Number.parseInt(part, 10) || 0);
    return this.rest === '' ? [0, 1] : [first, second];
  }

  override render() {
    const { session } = this;
    const [first, second] = this.#pair;
    if (!session) return nothing;
    const table = `compare/${first}-${second}`;
    if (!session.kept.has(`table/${table}`)) this.#isNew = true;
    return html`
      <div class="line">
        ${this.#failed ? html`<p class="failed" role="alert">${this.#failed}</p>` : nothing}
        ${this.#chooser('First', first, (index) => `${index}-${second}`)}
        ${this.#chooser('Second', second, (index) => `${first}-${index}`)}
      </div>
      <kernel-scope-table .session=${session} .table=${table} .columns=${this.columns} .label=${'Comparison'}></kernel-scope-table>
    `;
  }

  #chooser(title: string, chosen: number, to: (index: number) => string) {
    const go = (event: Event) => {
      if (this.session) this.session.view = `compare/${to((event.target as HTMLSelectElement).selectedIndex)}`;
    };
    return html`<label>${title} <select class="field" @change=${go}>${this.#descriptors.map(
      (row, i) => html`<option .selected=${i === chosen}>${name(inShort(row), 120)}</option>`,
    )}</select></label>`;
  }

  /** What differs is what one wants to see first; whoever wants the rest clears the filter. */
  protected override updated(): void {
    const table = this.renderRoot.querySelector<Table>('kernel-scope-table');
    if (table && this.#isNew) {
      void table.updateComplete.then(() => {
        table.filter = DIFFERS;
      });
    }
    this.#isNew = false;
  }
}

define('kernel-scope-descriptors', Descriptors);
define('kernel-scope-compare', Compare);
