// <kernel-scope-menu>: a button that opens a list of things to do or to choose. The list is above everything (a popover), closes by
// Escape, by a click elsewhere and by the choice, unless the choice is one that can be ticked.

import { css, html, LitElement, nothing } from 'lit';
import { base } from '../style.ts';
import { define } from './part.ts';

export interface Item {
  title: string;
  run: () => void;
  /** Said small behind the title: a shortcut, an example. */
  hint?: string;
  /** For what is on or off; the list then stays open. */
  isOn?: boolean;
  /** For one of several, of which one is chosen. */
  isChosen?: boolean;
}

/** `null` is a line between items. */
export type Items = readonly (Item | null)[];

export class Menu extends LitElement {
  static override properties = { label: {}, hint: {}, items: { attribute: false }, isOpen: { state: true } };
  static override styles = [
    base,
    css`
      :host { display: inline-block; }
      .opener { white-space: nowrap; }
      .opener:hover { color: var(--ink); text-decoration: underline; }
      .list { position: fixed; inset: auto; margin: 0; padding: 5px 0; max-block-size: min(70vh, 420px); overflow: auto; min-inline-size: 11em;
        max-inline-size: min(26em, 92vw); background: var(--pane); color: var(--ink); border: 1px solid var(--line); border-radius: 8px;
        box-shadow: 0 6px 24px rgb(0 0 0 / .18); font: 13px/1.45 var(--sans); }
      .list button { display: flex; gap: 8px; inline-size: 100%; padding: 5px 14px 5px 8px; align-items: baseline; }
      .list button:hover, .list button:focus { background: var(--hover); outline: 0; }
      .list button:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
      .tick { inline-size: 1em; flex: none; }
      .hint { margin-inline-start: auto; padding-inline-start: 14px; color: var(--dim); font: 11.5px var(--mono); }
      hr { border: 0; border-block-start: 1px solid var(--line); margin: 5px 0; }
    `,
  ];

  /** What the button says. */
  declare label: string;
  /** What it is for, where the label alone does not say it. */
  declare hint: string;
  declare items: Items;
  declare isOpen: boolean;

  constructor() {
    super();
    this.label = '';
    this.hint = '';
    this.items = [];
    this.isOpen = false;
  }

  override render() {
    return html`
      <button class="opener" aria-haspopup="menu" aria-expanded=${this.isOpen} aria-label=${this.hint || nothing} title=${this.hint || nothing}
        @click=${this.#toggle} @keydown=${this.#opener}><slot>${this.label}</slot> <span aria-hidden="true">▾</span></button>
      <div class="list" role="menu" popover="auto" aria-label=${this.hint || this.label} @toggle=${this.#toggled} @keydown=${this.#key}>
        ${this.isOpen ? this.items.map((item) => (item ? this.#item(item) : html`<hr role="separator">`)) : nothing}
      </div>
    `;
  }

  #item(item: Item) {
    const { title, hint, isOn, isChosen } = item;
    const state = isOn ?? isChosen;
    const role = isOn !== undefined ? 'menuitemcheckbox' : isChosen !== undefined ? 'menuitemradio' : 'menuitem';
    return html`<button role=${role} tabindex=${item === this.items[0] ? 0 : -1} aria-checked=${state === undefined ? nothing : state} @click=${() => this.#choose(item)}>
      ${this.items.some((one) => one && (one.isOn ?? one.isChosen) !== undefined) ? html`<span class="tick" aria-hidden="true">${state ? '✓' : ''}</span>` : nothing}
      <span>${title}</span>${hint ? html`<span class="hint">${hint}</span>` : nothing}
    </button>`;
  }

  get #list(): HTMLElement {
    return this.renderRoot.querySelector('.list') as HTMLElement;
  }

  get #buttons(): HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>('button')];
  }

  #choose(item: Item): void {
    if (item.isOn === undefined) this.#list.hidePopover();
    item.run();
  }

  readonly #toggle = async (): Promise<void> => {
    if (this.isOpen) return this.#list.hidePopover();
    this.isOpen = true;
    await this.updateComplete;
    const list = this.#list;
    list.showPopover();
    // Below the button, or above it where there is no room; never past an edge of the window.
    const button = this.getBoundingClientRect();
    const { width, height } = list.getBoundingClientRect();
    const isAbove = button.bottom + height + 4 > window.innerHeight && button.top > height;
    list.style.top = `${isAbove ? button.top - height - 4 : button.bottom + 4}px`;
    list.style.left = `${Math.max(4, Math.min(button.left, window.innerWidth - width - 4))}px`;
    this.#buttons[0]?.focus();
  };

  readonly #toggled = (event: Event): void => {
    const isOpen = (event as ToggleEvent).newState === 'open';
    const had = this.#list.contains((this.renderRoot as ShadowRoot).activeElement);
    this.isOpen = isOpen;
    if (!isOpen && had) this.renderRoot.querySelector<HTMLElement>('.opener')?.focus();
  };

  readonly #opener = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' || this.isOpen) return;
    event.preventDefault();
    void this.#toggle();
  };

  readonly #key = (event: KeyboardEvent): void => {
    const buttons = this.#buttons;
    const at = buttons.indexOf(event.target as HTMLElement);
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    let to = moves[event.key];
    if (to === undefined && event.key.length === 1 && /\S/.test(event.key)) {
      // A letter goes to the next item that begins with it.
      const begins = (button: HTMLElement) =>
        button.querySelector('span:not(.tick)')?.textContent?.toLowerCase().startsWith(event.key.toLowerCase());
      const next = [...buttons.slice(at + 1), ...buttons.slice(0, at + 1)].find(begins);
      if (next) to = buttons.indexOf(next);
    }
    if (event.key === 'Tab') this.#list.hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    buttons.at(to % buttons.length)?.focus();
  };
}

define('kernel-scope-menu', Menu);
