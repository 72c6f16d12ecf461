// <kernel-scope-wide>: a table that may be wider than the room for it, and is scrolled then. Only as long as there is something to scroll
// the keyboard stops at it; shadows at its edges say that there is more behind them.

import { css, html, LitElement } from 'lit';
import { define } from './part.ts';
import { observeSelf } from './width.ts';

export class Wide extends LitElement {
  static override properties = { label: {} };
  static override styles = css`
    :host { display: block; overflow-x: auto; background: linear-gradient(90deg, var(--paper) 30%, transparent) 0 0 / 32px 100% local no-repeat,
      linear-gradient(-90deg, var(--paper) 30%, transparent) 100% 0 / 32px 100% local no-repeat,
      linear-gradient(90deg, color-mix(in srgb, var(--ink) 22%, transparent), transparent) 0 0 / 12px 100% scroll no-repeat,
      linear-gradient(-90deg, color-mix(in srgb, var(--ink) 22%, transparent), transparent) 100% 0 / 12px 100% scroll no-repeat; }
    :host(:focus-visible) { outline: 2px solid var(--accent); outline-offset: -2px; }
    @media print { :host { overflow: visible; background: none; } }
  `;
  /** What it is called to those who do not see it. */
  declare label: string;
  readonly #room = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => this.#measured());

  constructor() {
    super();
    this.label = '';
    observeSelf(this, this.#room);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // What is in it may grow where it does not.
    for (const child of this.children) this.#room?.observe(child);
  }

  override render() {
    return html`<slot></slot>`;
  }

  #measured(): void {
    const attributes = { tabindex: '0', role: 'region', 'aria-label': this.label };
    for (const [key, value] of Object.entries(attributes)) {
      if (this.scrollWidth > this.clientWidth) this.setAttribute(key, value);
      else this.removeAttribute(key);
    }
  }
}

define('kernel-scope-wide', Wide);
