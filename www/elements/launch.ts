// <kernel-scope-launch>: a launch of a kernel: what can be typed on the one side, what the GPU is handed on the other.

import { css, html, nothing } from 'lit';
import { chosenOf } from '../launch.ts';
import type { Launch as Answer, Cell, Form, Made } from '../protocol.ts';
import type { Change, Session } from '../session.ts';
import { name } from '../text.ts';
import './form.ts';
import './made.ts';
import { One } from './one.ts';
import { define } from './part.ts';

/** Milliseconds after which what is typed is asked about. */
const REST = 120;

export class Launch extends One {
  static override styles = [
    super.styles,
    css`
      :host { display: block; block-size: 100%; }
      .one { padding: 12px 20px 20px; }
      .back { margin-block-end: 6px; }
      .failed { color: var(--error); margin-block-end: 8px; }
      h2 { font: 600 18px/1.3 var(--mono); letter-spacing: -.01em; margin-block-end: 10px; }
      h2 small { font: 13px var(--sans); color: var(--dim); }
      .tabs { display: flex; flex-wrap: wrap; gap: 2px; border-block-end: 1px solid var(--line); margin-block-end: 8px; }
      .tabs button { padding: 4px 12px 5px; border-block-end: 2px solid transparent; color: var(--dim); }
      .tabs button:hover { color: var(--ink); }
      .tabs [aria-selected="true"] { color: var(--ink); font-weight: 600; border-color: var(--accent); }
      kernel-scope-form { margin-block-end: 12px; }
      /* What is typed and what comes of it are both in view. */
      @container (min-width: 900px) {
        .one { display: grid; grid-template: auto minmax(0, 1fr) / minmax(250px, 330px) minmax(0, 1fr); column-gap: 24px; block-size: 100%;
          padding-block-end: 0; }
        .top { grid-column: 1 / -1; }
        .typed, .made { overflow: auto; padding-block-end: 20px; padding-inline: 2px; }
      }
      @container (max-width: 700px) { .one { padding-inline: 12px; } .tabs button { min-block-size: 36px; } }
      @media print {
        :host, .one { block-size: auto; }
        .one { display: block; }
        .typed, .made { overflow: visible; }
        .back { display: none; }
      }
    `,
  ];
  protected override readonly table = 'kernels';
  protected override readonly label = 'Kernels to launch';
  #answer: Answer | null = null;
  #isAnswered = false;
  #title = '';
  #index = -1;
  /** What the answer that is shown is about. */
  #asked = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  protected override get panel(): string {
    return 'launch';
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  protected override changed(change: Change | null): void {
    if (change === null || change === 'reopened') {
      this.#asked = '';
      this.#index = -1;
    }
    super.changed(change);
    if (change !== 'typed') return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.again(), REST);
    this.requestUpdate();
  }

  protected override async ask(session: Session, index: number, signal: AbortSignal): Promise<void> {
    const text = session.typed;
    const asked = `${session.file} ${index} ${text}`;
    if (asked === this.#asked) return;
    if (index !== this.#index) {
      this.#index = index;
      this.#answer = null;
      this.#isAnswered = false;
      this.#title = '';
      const [columns, { rows }] = await Promise.all([
        session.call('columns', ['kernels'], { signal }),
        session.call('list', ['kernels', index, 1], { signal }),
      ]);
      const at = columns.filter(({ unit }) => unit !== 'share').findIndex(({ key }) => key === 'name');
      const cell: Cell = rows[0]?.[at] ?? null;
      if (cell === null) throw new Error('there is no such kernel');
      this.#title = String(cell);
    }
    this.#answer = await session.call('launch', [index, text], { signal });
    this.#isAnswered = true;
    this.#asked = asked;
  }

  protected override one(index: number) {
    const { session } = this;
    const answer = this.#answer;
    if (!session) return nothing as never;
    return html`<div class="one">
      <div class="top">
        ${this.head('kernels')}
        <h2><span class="file">${name(this.#title, 200)}</span> <small>what a launch of it hands to the GPU</small></h2>
      </div>
      ${
        answer
          ? html`
              <div class="typed"><kernel-scope-form .inputs=${answer.inputs} .problems=${answer.problems} .text=${session.typed} @type=${this.#typed}></kernel-scope-form></div>
              <div class="made">${this.#made(session, index, answer.made)}</div>`
          : this.#isAnswered
            ? html`<p class="top dim">Nothing is known of what a launch on this kernel's GPU is described by.</p>`
            : nothing
      }
    </div>`;
  }

  #made(session: Session, index: number, made: readonly Made[]) {
    const [, tab = ''] = this.rest.split('/');
    const chosen = chosenOf(made, tab);
    if (!chosen) return nothing;
    const print = (key: string) => (form: Form) => session.call('printMade', [index, session.typed, key, form]);
    return html`
      <div class="tabs" role="tablist" aria-label="What the GPU is handed" @keydown=${this.#key}>${made.map(
        ({ key, title }) =>
          html`<button role="tab" id="tab-${key}" aria-controls="shown" aria-selected=${key === chosen.key} tabindex=${key === chosen.key ? 0 : -1}
            @click=${() => this.show(`launch/${index}/${key}`)}>${name(title, 60)}</button>`,
      )}</div>
      <kernel-scope-made role="tabpanel" id="shown" aria-labelledby="tab-${chosen.key}" .session=${session} .made=${chosen} .of=${this.#title} .text=${session.typed}
        .print=${print(chosen.key)} @type=${this.#typed}></kernel-scope-made>
    `;
  }

  readonly #typed = ({ detail }: CustomEvent<string>): void => {
    if (this.session) this.session.typed = detail;
  };

  /** Along the tabs. */
  readonly #key = async (event: KeyboardEvent): Promise<void> => {
    const tabs = [...this.renderRoot.querySelectorAll<HTMLElement>('[role="tab"]')];
    const at = tabs.indexOf(event.target as HTMLElement);
    const moves: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
    const move = moves[event.key];
    if (move === undefined || at < 0) return;
    event.preventDefault();
    const tab = tabs.at(move % tabs.length);
    tab?.click();
    tab?.focus();
  };
}

define('kernel-scope-launch', Launch);
