// <kernel-scope-identity>: what the file is, in one line, and what the findings come to.

import { css, html, nothing } from 'lit';
import { client, type Work } from '../client.ts';
import type { Summary } from '../protocol.ts';
import { bytes, name, share } from '../text.ts';
import { define, Part } from './part.ts';

const MARKS = { error: '✕', warning: '▲', note: '●', none: '●' };

const WORKS: Partial<Record<Work['call'], string>> = {
  open: 'opening',
  check: 'checking',
  query: 'sorting',
  search: 'searching',
};

export class Identity extends Part {
  static override styles = [
    super.styles,
    css`
      :host { display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: center; padding: 8px 16px; background: var(--pane);
        border-block-end: 1px solid var(--line); min-block-size: 46px; }
      h1 { font-size: 15px; font-weight: 650; letter-spacing: -.01em; font-family: var(--sans); max-inline-size: 32em; overflow: hidden;
        text-overflow: ellipsis; white-space: nowrap; }
      .facts { font: 12px var(--mono); color: var(--dim); }
      .facts b { color: var(--ink); font-weight: 600; }
      .verdict { font-weight: 600; white-space: nowrap; }
      .verdict.none { color: var(--good); }
      .verdict.warning { color: var(--warning); }
      .verdict.error { color: var(--error); }
      .end { margin-inline-start: auto; display: flex; gap: 14px; align-items: center; }
      .work { color: var(--dim); display: flex; gap: 10px; align-items: center; white-space: nowrap; }
      @container (max-width: 700px) {
        :host { padding: 8px 12px; }
        .facts { order: 3; inline-size: 100%; }
        .verdict { order: 4; }
        .work { order: 5; }
        h1 { max-inline-size: 60vw; font-size: 14px; }
        .end { display: contents; }
        .open { margin-inline-start: auto; }
      }
      @media print { .open, .work { display: none; } }
    `,
  ];

  #work: Work | null = null;

  readonly #working = (event: Event): void => {
    this.#work = (event as CustomEvent<Work | null>).detail;
    this.requestUpdate();
  };

  override connectedCallback(): void {
    super.connectedCallback();
    client().addEventListener('working', this.#working);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    client().removeEventListener('working', this.#working);
  }

  override render() {
    const { session } = this;
    return html`
      ${session ? this.#file(session.name, session.summary) : html`<h1>Kernelscope</h1>`}
      <div class="end">
        <span class="work" role="status">${this.#work ? this.#working_(this.#work) : nothing}</span>
        ${session ? this.#verdict(session.summary) : nothing}
        ${session ? html`<button class="button open" @click=${() => this.dispatchEvent(new Event('pick'))}>Open…</button>` : nothing}
      </div>
    `;
  }

  #file(file: string, { format_title, target, facts, size }: Summary) {
    const words = [target, ...facts, bytes(size)].filter((word) => word !== null && word !== undefined);
    return html`
      <h1 class="file" title=${name(file, 1000)}>${name(file, 80)}</h1>
      <span class="facts"><b>${format_title}</b>${words.map((word) => html` · ${name(word)}`)}</span>
    `;
  }

  #verdict({ verdict }: Summary) {
    const severity = verdict.severity ?? 'none';
    const tone = severity === 'note' ? 'none' : severity;
    return html`<button class="verdict ${tone}" title="The findings" @click=${() => this.#show('diagnostics')}>
      <span aria-hidden="true">${MARKS[severity]}</span> ${verdict.text}
    </button>`;
  }

  #working_({ seq, call, progress }: Work) {
    const far = progress && progress.total > 0 ? ` ${share(progress.done, progress.total).replace(/\.\d/, '')}` : '';
    return html`${WORKS[call] ?? 'working'}…${far} <button class="link" @click=${() => client().cancel(seq)}>cancel</button>`;
  }

  #show(view: string): void {
    if (this.session) this.session.view = view;
  }
}

define('kernel-scope-identity', Identity);
