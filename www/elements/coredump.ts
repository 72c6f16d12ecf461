// <kernel-scope-coredump>: a table of a core dump whose code leads to the cubin that it is in; of threads also the one that is open, with
// what there is of it: registers, predicates, memory. Its rows are selected, and the views of bytes and fields show them.

import { css, html, nothing } from 'lit';
import { cellsOf, codePlace } from '../coredump.ts';
import type { Cell, Column } from '../protocol.ts';
import type { Session } from '../session.ts';
import { name } from '../text.ts';
import { One } from './one.ts';
import { define } from './part.ts';
import type { Leads } from './table.ts';
import './table.ts';

export class Coredump extends One {
  static override properties = { ...super.properties, of: { attribute: false }, label: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: block; block-size: 100%; }
      :host([one]) { display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr); }
      .head { padding: 10px 20px 4px; }
      .back { margin-block-end: 6px; }
      h2 { font: 600 16px/1.3 var(--sans); }
      .lead { color: var(--dim); }
      .failed { color: var(--error); }
      @container (max-width: 700px) { .head { padding-inline: 12px; } }
    `,
  ];

  /** The table's key. */
  declare of: string;
  declare label: string;
  #thread: ReadonlyMap<string, Cell> | null = null;
  #parts: Column[] | null = null;

  constructor() {
    super();
    this.of = '';
    this.label = '';
  }

  protected override get table(): string {
    return this.of;
  }

  protected override get open(): number | null {
    return this.of === 'lanes' && this.rest !== '' ? Number.parseInt(this.rest, 10) : null;
  }

  protected override willUpdate(properties: Map<PropertyKey, unknown>): void {
    super.willUpdate(properties);
    this.toggleAttribute('one', this.open !== null);
  }

  protected override async ask(session: Session, index: number, signal: AbortSignal): Promise<void> {
    this.#thread = this.#parts = null;
    const [{ rows }, parts] = await Promise.all([
      session.call('list', ['lanes', index, 1], { signal }),
      session.call('columns', [`lane/${index}`], { signal }),
    ]);
    this.#thread = cellsOf(this.columns, rows[0]);
    this.#parts = parts;
  }

  override render() {
    const { open, session, of, columns, label } = this;
    if (open !== null) return this.one(open);
    return html`<kernel-scope-table .session=${session} .table=${of} .columns=${columns} .label=${label} .leads=${this.#leads}
      .follow=${of === 'lanes' ? this.#openThread : of === 'exceptions' ? this.#openFaulted : null}></kernel-scope-table>`;
  }

  protected override one(index: number) {
    const word = (key: string) => String(this.#thread?.get(key) ?? '');
    const at = word('function') && `${word('function')}, ${word('file')}:${word('line')}`;
    return html`
      <div class="head">
        ${this.head('threads')}
        ${
          this.#thread
            ? html`<h2>Thread ${word('thread')} of block ${word('block')}</h2>
                <p class="lead">SM ${word('sm')}, warp ${word('warp')}, lane ${word('lane')}${at ? html` · ${name(at, 120)}` : nothing}${word('exception') ? html` · ${word('exception')}` : nothing}</p>`
            : nothing
        }
      </div>
      ${
        this.#parts && !this.failed
          ? html`<kernel-scope-table .session=${this.session} .table=${`lane/${index}`} .columns=${this.#parts} .label=${'What there is of it'}></kernel-scope-table>`
          : nothing
      }
    `;
  }

  readonly #leads: Leads = {
    function: {
      title: 'Open the cubin at this code',
      isLink: (cell) => cell !== null && cell !== undefined,
      go: (_, row) => void this.#openCode(row),
    },
  };

  readonly #openThread = (row: number): void => this.show(`lanes/${row}`);

  /** What failed is told by a thread, or by the warp or the SM that it was in. */
  readonly #openFaulted = (row: number): void => void this.#find(row);

  async #find(row: number): Promise<void> {
    await this.#try(async (session) => {
      const { offset } = await session.call('list', [this.of, row, 1]);
      const at = offset[0];
      const thread = at === null || at === undefined ? null : await session.call('rowAt', ['lanes', Number(at)]);
      if (thread !== null) this.show(`lanes/${thread}`);
      else if (at !== null && at !== undefined) session.select(Number(at), 1);
    });
  }

  async #openCode(row: number): Promise<void> {
    await this.#try(async (session) => {
      const { rows } = await session.call('list', [this.of, row, 1]);
      const cells = cellsOf(this.columns, rows[0]);
      const member = cells.get('member');
      if (member) session.openMember(String(member), codePlace(cells));
    });
  }

  async #try(act: (session: Session) => Promise<void>): Promise<void> {
    const { session } = this;
    await session?.attempt('That cannot be shown', () => act(session));
  }
}

define('kernel-scope-coredump', Coredump);
