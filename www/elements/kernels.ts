// <kernel-scope-kernels>: the table of kernels, or the one that is open.

import { css, html, nothing, type PropertyValues } from 'lit';
import type { KernelDetail, StructRecord, Window } from '../protocol.ts';
import type { Session } from '../session.ts';
import { name } from '../text.ts';
import './bank.ts';
import './code.ts';
import './dispatch.ts';
import { ROWS } from './kernel.ts';
import './kernel.ts';
import { One } from './one.ts';
import { define } from './part.ts';

export class Kernels extends One {
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
  protected override readonly table = 'kernels';
  protected override readonly label = 'Kernels';
  #kernel: KernelDetail | null = null;
  #rows: Window | null = null;
  #kernarg: StructRecord | null = null;
  #index = -1;

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    this.toggleAttribute('code', this.rest.endsWith('/code'));
  }

  protected override async ask(session: Session, index: number, signal: AbortSignal): Promise<void> {
    if (index !== this.#index) this.#kernel = null;
    this.#index = index;
    const kernel = await session.call('kernel', [index], { signal });
    const isCubin = kernel?.family === 'cubin';
    this.#rows = isCubin ? await session.call('list', [`attributes/${index}`, 0, ROWS], { signal }) : null;
    this.#kernarg = kernel && !isCubin ? await session.call('kernarg', [index], { signal }) : null;
    this.#kernel = kernel;
    if (!kernel) this.failed = 'there is no such kernel';
  }

  protected override one(index: number) {
    const kernel = this.#kernel;
    if (this.rest.endsWith('/code')) {
      return html`<p class="back">Code of <button class="link file" @click=${() => this.show(`kernels/${index}`)}>${name(kernel?.name ?? `kernel ${index}`)}</button></p>
        <kernel-scope-code .session=${this.session} .kernel=${index}></kernel-scope-code>`;
    }
    return html`<div class="one">
      ${this.head('kernels')}
      <kernel-scope-kernel .session=${this.session} .kernel=${kernel} .index=${index} .rows=${this.#rows} .kernarg=${this.#kernarg}></kernel-scope-kernel>
      ${
        kernel?.family === 'cubin'
          ? html`<kernel-scope-bank .session=${this.session} .index=${index}></kernel-scope-bank>`
          : nothing
      }
      ${
        kernel?.family === 'amdgpu'
          ? html`<kernel-scope-dispatch .session=${this.session} .kernel=${kernel} .index=${index} .kernarg=${this.#kernarg}></kernel-scope-dispatch>`
          : nothing
      }
    </div>`;
  }
}

define('kernel-scope-kernels', Kernels);
