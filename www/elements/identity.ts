// <kernel-scope-identity>: what the file is, in one line, what the findings come to, and what can be done.

import { css, html, nothing } from 'lit';
import { client, type Work } from '../client.ts';
import type { Session } from '../session.ts';
import { bytes, name, share } from '../text.ts';
import './menu.ts';
import type { Items } from './menu.ts';
import { define, Part } from './part.ts';

const MARKS = { error: '✕', warning: '▲', note: '●', none: '●' };

const WORKS: Partial<Record<Work['call'], string>> = {
  open: 'opening',
  openPath: 'opening',
  extract: 'saving',
  check: 'checking',
  query: 'sorting',
  search: 'searching',
};

/** Says `pick` and `find`. */
export class Identity extends Part {
  static override properties = { ...super.properties, items: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: center; padding: 8px 16px; background: var(--pane);
        border-block-end: 1px solid var(--line); min-block-size: 47px; }
      h1 { font-size: 15px; font-weight: 650; letter-spacing: -.01em; font-family: var(--sans); max-inline-size: 32em; overflow: hidden;
        text-overflow: ellipsis; white-space: nowrap; }
      .crumbs { font: 12px var(--mono); max-inline-size: 48em; min-inline-size: 6em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      .facts { font: 12px var(--mono); color: var(--dim); min-inline-size: 0; overflow-wrap: anywhere; }
      .facts b { color: var(--ink); font-weight: 600; }
      .verdict { font-weight: 600; white-space: nowrap; }
      .verdict.none { color: var(--good); }
      .verdict.warning { color: var(--warning); }
      .verdict.error { color: var(--error); }
      .end { margin-inline-start: auto; display: flex; gap: 12px; align-items: center; }
      .work { color: var(--dim); display: flex; gap: 10px; align-items: center; white-space: nowrap; }
      .find { color: var(--dim); display: flex; gap: 18px; align-items: baseline; padding: 4px 8px 4px 10px; }
      .find:hover { color: var(--ink); }
      kbd { font: 11px var(--mono); border: 1px solid var(--line); border-radius: 4px; padding: 0 5px; }
      kernel-scope-menu { font-size: 13px; }
      @container (min-width: 1000px) {
        :host { flex-wrap: nowrap; }
        h1, .facts { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        h1 { flex: 0 2 auto; }
        /* They have what the name leaves. */
        .facts { flex: 1 1 0; min-inline-size: 8em; max-inline-size: max-content; }
        .end { flex: none; }
      }
      @container (max-width: 1500px) { .find .words { display: none; } }
      @container (min-width: 1500px) { .find .short { display: none; } }
      @container (max-width: 700px) {
        :host { padding: 8px 12px; column-gap: 10px; }
        .crumbs { inline-size: 100%; }
        .find kbd { display: none; }
        .facts { order: 3; inline-size: 100%; }
        .verdict { order: 4; }
        .work { order: 5; }
        h1 { flex: 1 1 7em; max-inline-size: none; font-size: 14px; }
        .end { display: contents; }
      }
      @media print { .open, .work, .find, kernel-scope-menu { display: none; } }
    `,
  ];

  declare items: Items;
  #work: Work | null = null;

  constructor() {
    super();
    this.items = [];
  }

  readonly #working = (event: Event): void => {
    const work = (event as CustomEvent<Work | null>).detail;
    // The reader serves all files of the page; what it does for others is theirs to show.
    this.#work = work?.file === this.session?.file ? work : null;
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
      ${session ? this.#file(session) : html`<h1>Kernelscope</h1>`}
      <div class="end">
        <span class="work" role="status">${this.#work ? this.#working_(this.#work) : nothing}</span>
        ${
          session
            ? html`${this.#verdict(session.summary)}
              <button class="button find" title="Find (Ctrl+K)" aria-label="Find kernel, symbol, byte, offset" @click=${() => this.dispatchEvent(new Event('find'))}>
                <span class="words">Find kernel, symbol, byte, offset</span><span class="short">Find</span><kbd>Ctrl K</kbd>
              </button>
              <button class="button open" @click=${() => this.dispatchEvent(new Event('pick'))}>Open…</button>`
            : nothing
        }
        <kernel-scope-menu .label=${'Menu'} .hint=${'What else can be done'} .items=${this.items}></kernel-scope-menu>
      </div>
    `;
  }

  #file({ name: file, source, summary, onMember }: Session) {
    const { format_title, target, facts, size } = summary;
    const words = [target, ...facts, bytes(size)].filter((word) => word !== null && word !== undefined);
    const names = source.member?.path.split('!/') ?? [];
    const own = names.pop() ?? file;
    const crumb = (title: string, path: string) =>
      html`<button class="link" @click=${() => onMember(path)}>${name(title, 60)}</button> › `;
    return html`
      ${
        source.member
          ? html`<nav class="crumbs" aria-label="What it lies in">${[crumb(source.member.of.name, ''), ...names.map((one, at) => crumb(one, names.slice(0, at + 1).join('!/')))]}</nav>`
          : nothing
      }
      <h1 class="file" title=${name(file, 1000)}>${name(own, 80)}</h1>
      <span class="facts"><b>${format_title}</b>${words.map((word) => html` · ${name(word)}`)}</span>
    `;
  }

  #verdict({ verdict }: Session['summary']) {
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
