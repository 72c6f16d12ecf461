// <kernel-scope-texts>: the source that a file keeps, such as PTX: the list of texts, or the lines of one.

import { css, html, nothing, type PropertyValues } from 'lit';
import { isAbort, message } from '../client.ts';
import type { Column } from '../protocol.ts';
import { count } from '../text.ts';
import { define, Part } from './part.ts';
import './table.ts';

export class Texts extends Part {
  static override properties = { ...super.properties, columns: { attribute: false }, rest: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr); block-size: 100%; min-block-size: 0; }
      p { padding: 10px 20px 0; }
      .failed { color: var(--error); }
      kernel-scope-table { min-block-size: 0; grid-row: 2; }
    `,
  ];

  /** The columns of the table of texts. */
  declare columns: Column[];
  /** The index of the text that is open, or nothing. */
  declare rest: string;
  #lines: Column[] | null = null;
  #failed = '';
  #asking: AbortController | undefined;

  constructor() {
    super();
    this.columns = [];
    this.rest = '';
  }

  get #count(): number {
    return Number(this.session?.summary.tables.find((table) => table.key === 'texts')?.count ?? 0);
  }

  /** The text to show: the only one needs no list. */
  get #open(): number | null {
    if (this.rest !== '') return Number(this.rest);
    return this.#count === 1 ? 0 : null;
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('session') || properties.has('rest')) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#asking?.abort();
    this.#failed = '';
    const index = this.#open;
    if (index === null || !this.session) return;
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    try {
      this.#lines = await this.session.call('columns', [`text/${index}`], { signal });
    } catch (error) {
      if (isAbort(error)) return;
      this.#failed = message(error);
    }
    this.requestUpdate();
  }

  override render() {
    const index = this.#open;
    if (index === null) {
      return html`<kernel-scope-table .session=${this.session} .table=${'texts'} .columns=${this.columns} .label=${'Text'}
        .follow=${(row: number) => this.#show(`texts/${row}`)}></kernel-scope-table>`;
    }
    return html`
      ${this.#failed ? html`<p class="failed" role="alert">${this.#failed}</p>` : nothing}
      ${this.#count > 1 ? html`<p><button class="link" @click=${() => this.#show('texts')}>All ${count(this.#count)} texts</button></p>` : nothing}
      ${
        this.#lines && !this.#failed
          ? html`<kernel-scope-table .session=${this.session} .table=${`text/${index}`} .columns=${this.#lines} .label=${'Lines'}></kernel-scope-table>`
          : nothing
      }
    `;
  }

  #show(view: string): void {
    if (this.session) this.session.view = view;
  }
}

define('kernel-scope-texts', Texts);
