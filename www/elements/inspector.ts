// <kernel-scope-inspector>: what the bytes from the selection's first on are as numbers, times and characters. A click copies a value.

import { css, html, LitElement } from 'lit';
import type { ByteSpace } from '../bytes.ts';
import { INSPECTED, inspect, plain } from '../inspect.ts';
import { copyText } from '../out.ts';
import { store, stored } from '../stored.ts';
import { base } from '../style.ts';
import { define } from './part.ts';

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

export class Inspector extends LitElement {
  static override properties = { space: { attribute: false }, isLittle: { state: true } };
  static override styles = [
    base,
    css`
      :host { display: block; font-size: 12px; }
      .head { display: flex; gap: 12px; color: var(--dim); margin-block-end: 3px; }
      .head [aria-pressed="true"] { color: var(--ink); font-weight: 600; }
      .head button:hover { text-decoration: underline; }
      .said { margin-inline-start: auto; }
      dl { columns: 250px; column-gap: 24px; }
      div { break-inside: avoid; }
      dl div { display: grid; grid-template-columns: 84px minmax(0, 1fr); align-items: baseline; }
      dt { color: var(--dim); }
      dd { font: 12.5px/19px var(--mono); overflow-wrap: anywhere; }
      dd button { max-inline-size: 100%; white-space: normal; text-align: start; vertical-align: bottom; unicode-bidi: isolate; }
      dd button:hover { background: var(--hover); }
      dd button:focus-visible { outline-offset: -2px; }
    `,
  ];

  declare space: ByteSpace | null;
  declare isLittle: boolean;
  #bytes: Uint8Array = new Uint8Array();
  #said = '';
  #asking: AbortController | undefined;
  #quiet: (() => void) | undefined;

  constructor() {
    super();
    this.space = null;
    this.isLittle = stored('little', true, isBoolean);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#listen();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#quiet?.();
  }

  protected override willUpdate(properties: Map<PropertyKey, unknown>): void {
    if (properties.has('space')) this.#listen();
  }

  #listen(): void {
    this.#quiet?.();
    this.#quiet = this.space?.listen((change) => {
      if (change === 'selection' || change === 'reopened') void this.#ask();
    });
    void this.#ask();
  }

  async #ask(): Promise<void> {
    const { space } = this;
    this.#asking?.abort();
    if (!space) return;
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    try {
      this.#bytes = await space.read(space.selection.offset, INSPECTED, signal);
    } catch {
      // The rows of bytes say what is wrong with those that cannot be read.
      if (signal.aborted) return;
      this.#bytes = new Uint8Array();
    }
    this.#said = '';
    this.requestUpdate();
  }

  override render() {
    return html`
      <div class="head" role="group" aria-label="Order of bytes">
        ${this.#order(true, 'little-endian')}${this.#order(false, 'big-endian')}
        <span class="said" role="status">${this.#said}</span>
      </div>
      <dl>${inspect(this.#bytes, this.isLittle).map(
        ({ name, value, title }) =>
          html`<div><dt title=${title}>${name}</dt><dd>${
            value === null
              ? html`<span class="dim">–</span>`
              : html`<button title=${`${value}, ${title}: copy`} aria-label=${`${name} ${value}, copy`} @click=${() => this.#copy(value)}>${value}</button>`
          }</dd></div>`,
      )}</dl>
    `;
  }

  #order(isLittle: boolean, title: string) {
    return html`<button aria-pressed=${this.isLittle === isLittle} @click=${() => {
      this.isLittle = isLittle;
      store('little', isLittle);
    }}>${title}</button>`;
  }

  async #copy(value: string): Promise<void> {
    const text = plain(value);
    this.#said = await copyText(text, text);
    this.requestUpdate();
  }
}

define('kernel-scope-inspector', Inspector);
