// What panels have in common that work something out for a kernel, from what is typed: the table of kernels, or of the one that is open a
// form on the one side and what comes of it on the other.

import { css, html, nothing, type TemplateResult } from 'lit';
import type { LaunchInput, Problem } from '../protocol.ts';
import type { Change, Session } from '../session.ts';
import { name } from '../text.ts';
import './form.ts';
import { One } from './one.ts';

/** Milliseconds after which what is typed is asked about. */
const REST = 120;

/** What answers have in common. */
interface Answer {
  inputs: LaunchInput[];
  problems: Problem[];
}

export abstract class Worked<A extends Answer> extends One {
  static override styles = [
    super.styles,
    css`
      :host { display: block; block-size: 100%; }
      .one { padding: 12px 20px 20px; }
      .back { margin-block-end: 6px; }
      .failed { color: var(--error); margin-block-end: 8px; }
      h2 { font: 600 18px/1.3 var(--mono); letter-spacing: -.01em; margin-block-end: 10px; }
      h2 small { font: 13px var(--sans); color: var(--dim); }
      kernel-scope-form { margin-block-end: 12px; }
      /* What is typed and what comes of it are both in view. */
      @container (min-width: 900px) {
        .one { display: grid; grid-template: auto minmax(0, 1fr) / 330px minmax(0, 1fr); column-gap: 24px; block-size: 100%;
          padding-block-end: 0; }
        .top { grid-column: 1 / -1; }
        .typed, .made { overflow: auto; padding-block-end: 20px; padding-inline: 2px; }
      }
      @container (max-width: 700px) { .one { padding-inline: 12px; } }
      @media print {
        :host, .one { block-size: auto; }
        .one { display: block; }
        .typed, .made { overflow: visible; }
        .back { display: none; }
      }
    `,
  ];
  protected override readonly table = 'kernels';
  /** What it is about, behind the kernel's name, and what is said where nothing comes of it. */
  protected abstract readonly about: string;
  protected abstract readonly unknown: string;
  /** The kernel's name. */
  protected kernel = '';
  /** The last answer: it stays while the next one is on its way. */
  #answer: A | null = null;
  #isAnswered = false;
  #index = -1;
  /** What the answer that is shown is about. */
  #asked = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  protected abstract work(session: Session, index: number, text: string, signal: AbortSignal): Promise<A | null>;
  protected abstract answered(session: Session, index: number, answer: A): TemplateResult | typeof nothing;

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
      this.#answer = null;
      this.#isAnswered = false;
      this.kernel = '';
      const [columns, { rows }] = await Promise.all([
        session.call('columns', ['kernels'], { signal }),
        session.call('list', ['kernels', index, 1], { signal }),
      ]);
      const at = columns.filter(({ unit }) => unit !== 'share').findIndex(({ key }) => key === 'name');
      const cell = rows[0]?.[at] ?? null;
      if (cell === null) throw new Error('there is no such kernel');
      this.kernel = String(cell);
      this.#index = index;
    }
    this.#answer = await this.work(session, index, text, signal);
    this.#isAnswered = true;
    this.#asked = asked;
  }

  protected override one(index: number): TemplateResult {
    const { session } = this;
    const answer = this.#answer;
    return html`<div class="one">
      <div class="top">
        ${this.head('kernels')}
        <h2><span class="file">${name(this.kernel, 200)}</span> <small>${this.about}</small></h2>
      </div>
      ${
        answer && session
          ? html`
              <div class="typed"><kernel-scope-form .inputs=${answer.inputs} .problems=${answer.problems} .text=${session.typed} @type=${this.typed}></kernel-scope-form></div>
              <div class="made">${this.answered(session, index, answer)}</div>`
          : this.#isAnswered
            ? html`<p class="top dim">${this.unknown}</p>`
            : nothing
      }
    </div>`;
  }

  /** What is typed is another text now. */
  protected readonly typed = ({ detail }: CustomEvent<string>): void => {
    if (this.session) this.session.typed = detail;
  };
}
