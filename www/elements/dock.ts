// <kernel-scope-dock>: the bytes and the record side by side; where there is little room, a sheet with one of them.

import { css, html, nothing } from 'lit';
import type { Change } from '../session.ts';
import { hex, name } from '../text.ts';
import './diagram.ts';
import './hex.ts';
import { define, Part } from './part.ts';

/** Says `height` with the pixels that it is to have. */
export class Dock extends Part {
  static override properties = {
    ...super.properties,
    isOpen: { type: Boolean, reflect: true, attribute: 'open' },
    tab: { state: true },
    height: { attribute: false },
  };
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template-rows: minmax(0, 1fr); position: relative; background: var(--pane); border-block-start: 1px solid var(--line); min-block-size: 0; }
      .panes { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.06fr); min-block-size: 0; }
      kernel-scope-diagram { border-inline-start: 1px solid var(--line); }
      .handle { display: none; }
      .split { position: absolute; inset-inline: 0; inset-block-start: -4px; block-size: 8px; cursor: row-resize; z-index: 2; touch-action: none; }
      .split:hover, .split:focus-visible { background: color-mix(in srgb, var(--accent) 35%, transparent); outline-offset: -2px; }
      @container (max-width: 700px) {
        :host { grid-template-rows: auto minmax(0, 1fr); box-shadow: 0 -4px 18px rgb(0 0 0 / .12); border-start-start-radius: 12px;
          border-start-end-radius: 12px; }
        .split { display: none; }
        .handle { display: flex; align-items: center; gap: 4px; padding: 0 6px; min-inline-size: 0; }
        .handle button { padding: 12px 8px; white-space: nowrap; }
        .handle [aria-pressed="true"] { font-weight: 600; box-shadow: inset 0 -3px var(--accent); }
        .what { margin-inline-start: auto; color: var(--dim); font: 12px var(--mono); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .panes { grid-template-columns: minmax(0, 1fr); }
        kernel-scope-diagram { border: 0; }
        :host(:not([open])) .panes { display: none; }
        .panes.bytes kernel-scope-diagram, .panes.fields kernel-scope-hex { display: none; }
      }
      @media print {
        :host { display: block; box-shadow: none; }
        .split, .handle, .panes kernel-scope-hex { display: none !important; }
        .panes, .panes kernel-scope-diagram { display: block !important; border: 0; }
      }
    `,
  ];

  /** Whether the sheet is open; beside the rest of the page it always is. */
  declare isOpen: boolean;
  /** Pixels; null before anyone has moved the edge. */
  declare height: number | null;
  declare tab: 'bytes' | 'fields';

  constructor() {
    super();
    this.isOpen = false;
    this.tab = 'bytes';
    this.height = null;
  }

  protected override changed(change: Change | null): void {
    if (change === 'reveal') this.isOpen = true;
    if (change === 'location') this.requestUpdate();
  }

  override render() {
    const { session } = this;
    const { selection, location } = session ?? {};
    const [part] = location?.parts ?? [];
    return html`
      <div class="split" role="separator" aria-orientation="horizontal" aria-label="Height of the bytes" tabindex="0"
        aria-valuenow=${this.height ?? 0} @pointerdown=${this.#grabbed} @pointermove=${this.#moved} @keydown=${this.#key}></div>
      <div class="handle">
        ${this.#tab('bytes', 'Bytes')}${this.#tab('fields', 'Fields')}
        <span class="what">${part && selection ? `${hex(selection.offset)} ${name(part.name, 40)}` : nothing}</span>
        <button aria-expanded=${this.isOpen} aria-label=${this.isOpen ? 'Close the sheet' : 'Open the sheet'} @click=${() => (this.isOpen = !this.isOpen)}>${this.isOpen ? '▾' : '▴'}</button>
      </div>
      <div class="panes ${this.tab}">
        <kernel-scope-hex .session=${session}></kernel-scope-hex>
        <kernel-scope-diagram .session=${session}></kernel-scope-diagram>
      </div>
    `;
  }

  #resize(height: number): void {
    this.dispatchEvent(new CustomEvent('height', { detail: Math.round(height) }));
  }

  readonly #grabbed = (event: PointerEvent): void => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };

  readonly #moved = (event: PointerEvent): void => {
    if (event.buttons & 1) this.#resize(this.getBoundingClientRect().bottom - event.clientY);
  };

  readonly #key = (event: KeyboardEvent): void => {
    const step = { ArrowUp: 24, ArrowDown: -24 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.#resize(this.getBoundingClientRect().height + step);
  };

  #tab(tab: 'bytes' | 'fields', title: string) {
    return html`<button aria-pressed=${this.isOpen && this.tab === tab} @click=${() => {
      this.tab = tab;
      this.isOpen = true;
    }}>${title}</button>`;
  }
}

define('kernel-scope-dock', Dock);
