// <kernel-scope-kernels>: the table of kernels, or the one that is open.

import { css, html, nothing, type PropertyValues } from 'lit';
import { isAbort, message } from '../client.ts';
import type { Column, KernelDetail, Window } from '../protocol.ts';
import type { Change } from '../session.ts';
import { count, name } from '../text.ts';
import './bank.ts';
import './code.ts';
import { ROWS } from './kernel.ts';
import './kernel.ts';
import { define, Part } from './part.ts';
import './table.ts';

export class Kernels extends Part {
  static override properties = { ...super.properties, columns: { attribute: false }, rest: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: block; block-size: 100%; }
      :host([code]) { display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr); }
      :host([code]) .back { padding: 10px 20px 0; }
      .one { padding: 12px 20px 20px; }
      .back { margin-block-end: 6px; }
      .failed { color: var(--error); }
      @container (max-width: 700px) { .one { padding-inline: 12px; } }
    `,
  ];

  declare columns: Column[];
  /** The index of the kernel that is open, or nothing; behind a `/` the view of it: `3/code`. */
  declare rest: string;
  #kernel: KernelDetail | null = null;
  #rows: Window | null = null;
  #failed = '';
  #asking: AbortController | undefined;

  constructor() {
    super();
    this.columns = [];
    this.rest = '';
  }

  get #count(): number {
    return Number(this.session?.summary.tables.find((table) => table.key === 'kernels')?.count ?? 0);
  }

  /** The kernel to show: the only one needs no table. */
  get #open(): number | null {
    if (this.rest !== '') return Number.parseInt(this.rest, 10);
    return this.#count === 1 ? 0 : null;
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('session') || properties.has('rest')) {
      this.toggleAttribute('code', this.rest.endsWith('/code'));
      void this.#ask();
    }
  }

  protected override changed(change: Change | null): void {
    if (change === 'reopened') void this.#ask();
  }

  async #ask(): Promise<void> {
    const index = this.#open;
    this.#asking?.abort();
    if (index === null || !this.session) {
      this.#kernel = null;
      return;
    }
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    try {
      const kernel = await this.session.call('kernel', [index], { signal });
      this.#rows =
        kernel?.family === 'cubin'
          ? await this.session.call('list', [`attributes/${index}`, 0, ROWS], { signal })
          : null;
      this.#kernel = kernel;
      this.#failed = this.#kernel ? '' : 'there is no such kernel';
    } catch (error) {
      if (isAbort(error)) return;
      this.#failed = message(error);
    }
    this.requestUpdate();
  }

  override render() {
    if (this.#open === null) {
      return html`<kernel-scope-table .session=${this.session} .table=${'kernels'} .columns=${this.columns} .label=${'Kernels'}
        .follow=${(index: number) => this.#show(`kernels/${index}`)}></kernel-scope-table>`;
    }
    if (this.rest.endsWith('/code')) {
      const index = this.#open;
      return html`<p class="back">Code of <button class="link file" @click=${() => this.#show(`kernels/${index}`)}>${name(this.#kernel?.name ?? `kernel ${index}`)}</button></p>
        <kernel-scope-code .session=${this.session} .kernel=${index}></kernel-scope-code>`;
    }
    return html`<div class="one">
      ${
        this.#count > 1
          ? html`<p class="back"><button class="link" @click=${() => this.#show('kernels')}>All ${count(this.#count)} kernels</button></p>`
          : nothing
      }
      ${this.#failed ? html`<p class="failed" role="alert">${this.#failed}</p>` : nothing}
      <kernel-scope-kernel .session=${this.session} .kernel=${this.#kernel} .index=${this.#open} .rows=${this.#rows}></kernel-scope-kernel>
      ${
        this.#kernel?.family === 'cubin'
          ? html`<kernel-scope-bank .session=${this.session} .index=${this.#open}></kernel-scope-bank>`
          : nothing
      }
    </div>`;
  }

  #show(view: string): void {
    if (this.session) this.session.view = view;
  }
}

define('kernel-scope-kernels', Kernels);
