// What panels of a table have in common whose rows are opened, such as kernels: the table, or the one that is open.

import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { isAbort, message } from '../client.ts';
import type { Column } from '../protocol.ts';
import type { Change, Session } from '../session.ts';
import { count } from '../text.ts';
import { Part } from './part.ts';
import './table.ts';

export abstract class One extends Part {
  static override properties = { ...super.properties, columns: { attribute: false }, rest: { attribute: false } };

  /** The columns of the table. */
  declare columns: Column[];
  /** The index of the one that is open, or nothing; behind a `/` the view of it: `3/code`. */
  declare rest: string;
  /** The table's key, and what it is called. */
  protected abstract readonly table: string;
  protected abstract readonly label: string;
  protected failed = '';

  /** The panel that shows the table and its rows, where it is not the table's own. */
  protected readonly panel: string | undefined;

  #asking: AbortController | undefined;

  constructor() {
    super();
    this.columns = [];
    this.rest = '';
  }

  /** Asks for what the one that is open needs. */
  protected abstract ask(session: Session, index: number, signal: AbortSignal): Promise<void>;
  protected abstract one(index: number): TemplateResult;

  protected get count(): number {
    return this.session?.countOf(this.table) ?? 0;
  }

  /** The one to show: the only one needs no table. */
  protected get open(): number | null {
    if (this.rest !== '') return Number.parseInt(this.rest, 10);
    return this.count === 1 ? 0 : null;
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('session') || properties.has('rest')) void this.again();
  }

  protected override changed(change: Change | null): void {
    if (change === 'reopened') void this.again();
  }

  /** Asks anew. */
  protected async again(): Promise<void> {
    const { session, open } = this;
    this.#asking?.abort();
    this.failed = '';
    if (open === null || !session) return;
    this.#asking = new AbortController();
    try {
      await this.ask(session, open, this.#asking.signal);
    } catch (error) {
      if (isAbort(error)) return;
      this.failed = message(error);
    }
    this.requestUpdate();
  }

  override render() {
    const { open } = this;
    if (open !== null) return this.one(open);
    return html`<kernel-scope-table .session=${this.session} .table=${this.table} .columns=${this.columns} .label=${this.label}
      .follow=${this.#follow}></kernel-scope-table>`;
  }

  /** The way back to the table, and what has failed. */
  protected head(many: string) {
    return html`
      ${
        this.count > 1
          ? html`<p class="back"><button class="link" @click=${() => this.show(this.panel ?? this.table)}>All ${count(this.count)} ${many}</button></p>`
          : nothing
      }
      ${this.failed ? html`<p class="failed" role="alert">${this.failed}</p>` : nothing}
    `;
  }

  readonly #follow = (index: number): void => this.show(`${this.panel ?? this.table}/${index}`);

  protected show(view: string): void {
    if (this.session) this.session.view = view;
  }
}
