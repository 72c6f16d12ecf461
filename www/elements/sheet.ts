// <kernel-scope-sheet>: what the keyboard does.

import { css, html, LitElement } from 'lit';
import { GROUPS } from '../shortcuts.ts';
import { base } from '../style.ts';
import { define } from './part.ts';

const NAMES: Record<string, string> = { Control: 'Ctrl' };

/** Says `single` with whether keys alone may do something. */
export class Sheet extends LitElement {
  static override properties = { hasSingle: { attribute: false } };
  static override styles = [
    base,
    css`
      dialog { border: 1px solid var(--line); border-radius: 12px; background: var(--pane); color: var(--ink); padding: 18px 24px 20px;
        inline-size: min(60rem, calc(100vw - 24px)); max-block-size: calc(100dvh - 40px); overflow: auto; font: 13px/1.45 var(--sans);
        box-shadow: 0 12px 48px rgb(0 0 0 / .3); }
      dialog::backdrop { background: rgb(0 0 0 / .35); }
      header { display: flex; align-items: baseline; gap: 16px; }
      h2 { font-size: 16px; font-weight: 650; }
      header button { margin-inline-start: auto; }
      .groups { columns: 21rem; column-gap: 40px; }
      section { break-inside: avoid; padding-block-start: 16px; }
      h3 { font: 600 12px var(--sans); color: var(--dim); margin: 0 0 4px; }
      dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 14px; }
      dt { white-space: nowrap; }
      kbd { font: 11.5px var(--mono); border: 1px solid var(--line); border-radius: 4px; padding: 1px 5px; background: var(--paper); }
      label { display: flex; gap: 8px; align-items: center; margin-block-start: 16px; }
    `,
  ];

  declare hasSingle: boolean;

  constructor() {
    super();
    this.hasSingle = true;
  }

  get #dialog(): HTMLDialogElement {
    return this.renderRoot.querySelector('dialog') as HTMLDialogElement;
  }

  show(): void {
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  override render() {
    return html`<dialog aria-label="Keyboard" @click=${this.#clicked}>
      <header><h2>Keyboard</h2><button class="button" @click=${() => this.#dialog.close()}>Close</button></header>
      <div class="groups">${GROUPS.map(
        ({ title, shortcuts }) =>
          html`<section><h3>${title}</h3><dl>${shortcuts.map(
            ({ keys, title }) =>
              html`<dt>${keys.map((one, i) => html`${i > 0 ? (keys[0]?.startsWith('Control') ? ' or ' : ' ') : ''}${this.#keys(one)}`)}</dt><dd>${title}</dd>`,
          )}</dl></section>`,
      )}</div>
      <label><input type="checkbox" .checked=${this.hasSingle} @change=${this.#switched}> Keys alone (without Ctrl) may do something</label>
    </dialog>`;
  }

  #keys(keys: string) {
    return keys
      .split('+')
      .map(
        (key, i) => html`${i > 0 ? '+' : ''}<kbd>${NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key)}</kbd>`,
      );
  }

  readonly #switched = (event: Event): void => {
    this.dispatchEvent(new CustomEvent('single', { detail: (event.target as HTMLInputElement).checked }));
  };

  /** A click beside the sheet closes it. */
  readonly #clicked = (event: MouseEvent): void => {
    if (event.target === this.#dialog && event.detail > 0) {
      const { left, right, top, bottom } = this.#dialog.getBoundingClientRect();
      const { clientX: x, clientY: y } = event;
      if (x < left || x > right || y < top || y > bottom) this.#dialog.close();
    }
  };
}

define('kernel-scope-sheet', Sheet);
