// <kernel-scope-launch>: a launch of a kernel: what can be typed on the one side, what the GPU is handed on the other.

import { css, html, nothing } from 'lit';
import { chosenOf } from '../launch.ts';
import type { Launch as Answer, Form } from '../protocol.ts';
import type { Session } from '../session.ts';
import { name } from '../text.ts';
import './made.ts';
import { define } from './part.ts';
import { Worked } from './worked.ts';

export class Launch extends Worked<Answer> {
  static override styles = [
    super.styles,
    css`
      .tabs { display: flex; flex-wrap: wrap; gap: 2px; border-block-end: 1px solid var(--line); margin-block-end: 8px; }
      .tabs button { padding: 4px 12px 5px; border-block-end: 2px solid transparent; color: var(--dim); }
      .tabs button:hover { color: var(--ink); }
      .tabs [aria-selected="true"] { color: var(--ink); font-weight: 600; border-color: var(--accent); }
      @container (max-width: 700px) { .tabs button { min-block-size: 36px; } }
    `,
  ];
  protected override readonly panel = 'launch';
  protected override readonly label = 'Kernels to launch';
  protected override readonly about = 'what a launch of it hands to the GPU';
  protected override readonly unknown = "Nothing is known of what a launch on this kernel's GPU is described by.";

  protected override work(session: Session, index: number, text: string, signal: AbortSignal) {
    return session.call('launch', [index, text], { signal });
  }

  protected override answered(session: Session, index: number, { made }: Answer) {
    const [, tab = ''] = this.rest.split('/');
    const chosen = chosenOf(made, tab);
    if (!chosen) return nothing;
    const print = (key: string) => (form: Form) => session.call('printMade', [index, session.typed, key, form]);
    return html`
      <div class="tabs" role="tablist" aria-label="What the GPU is handed" @keydown=${this.#key}>${made.map(
        ({ key, title }) =>
          html`<button role="tab" id="tab-${key}" aria-controls="shown" aria-selected=${key === chosen.key} tabindex=${key === chosen.key ? 0 : -1}
            @click=${() => this.show(`launch/${index}/${key}`)}>${name(this.#short(title), 60)}</button>`,
      )}</div>
      <kernel-scope-made role="tabpanel" id="shown" aria-labelledby="tab-${chosen.key}" .session=${session} .made=${chosen} .of=${this.kernel} .text=${session.typed}
        .print=${print(chosen.key)} @type=${this.typed}></kernel-scope-made>
    `;
  }

  /** A title without the kernel's name, which stands above all of them. */
  #short(title: string): string {
    const of = ` of ${this.kernel}`;
    return title.endsWith(of) ? title.slice(0, -of.length) : title;
  }

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
