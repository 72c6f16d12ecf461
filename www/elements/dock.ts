// <kernel-scope-dock>: the bytes and the record side by side, or one above the other at the right; where there is little room, a
// sheet with one of them.

import { css, html, nothing } from 'lit';
import type { Side } from '../docking.ts';
import type { Change } from '../session.ts';
import { styled } from '../styled.ts';
import { hex, name } from '../text.ts';
import './diagram.ts';
import './hex.ts';
import { define, Part } from './part.ts';

/** Says `resize` with the pixels that it is to have, and `split` with the share that the bytes are to have of it. */
export class Dock extends Part {
  static override properties = {
    ...super.properties,
    isOpen: { type: Boolean, reflect: true, attribute: 'open' },
    side: { reflect: true },
    tab: { state: true },
    split: { attribute: false },
  };
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template-rows: minmax(0, 1fr); position: relative; background: var(--pane); border-block-start: 1px solid var(--line);
        min-block-size: 0; min-inline-size: 0; }
      .panes { display: grid; grid-template-columns: minmax(0, var(--bytes)) minmax(0, var(--fields)); min-block-size: 0; min-inline-size: 0; }
      kernel-scope-diagram { border-inline-start: 1px solid var(--line); }
      .handle { display: none; }
      .edge, .between { position: absolute; z-index: 2; touch-action: none; }
      .edge { inset-inline: 0; inset-block-start: -4px; block-size: 8px; cursor: row-resize; }
      .between { inset-block: 0; inset-inline-start: calc(var(--share) - 4px); inline-size: 8px; cursor: col-resize; }
      .edge:hover, .edge:focus-visible, .between:hover, .between:focus-visible { background: color-mix(in srgb, var(--accent) 35%, transparent);
        outline-offset: -2px; }
      @container (min-width: 1000px) {
        :host([side="right"]) { border-block-start: 0; border-inline-start: 1px solid var(--line); }
        :host([side="right"]) .panes { grid-template: minmax(0, var(--bytes)) minmax(0, var(--fields)) / minmax(0, 1fr); }
        :host([side="right"]) kernel-scope-diagram { border-inline-start: 0; border-block-start: 1px solid var(--line); }
        :host([side="right"]) .edge { inset-inline: -4px auto; inset-block: 0; inline-size: 8px; block-size: auto; cursor: col-resize; }
        :host([side="right"]) .between { inset-inline: 0; inset-block: calc(var(--share) - 4px) auto; inline-size: auto; block-size: 8px; cursor: row-resize; }
      }
      @container (max-width: 700px) {
        :host { grid-template-rows: auto minmax(0, 1fr); box-shadow: 0 -4px 18px rgb(0 0 0 / .12); border-start-start-radius: 12px;
          border-start-end-radius: 12px; }
        .edge, .between { display: none; }
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
        .edge, .between, .handle, .panes kernel-scope-hex { display: none !important; }
        .panes, .panes kernel-scope-diagram { display: block !important; border: 0; }
      }
    `,
  ];

  /** Whether the sheet is open; beside the rest of the page it always is. */
  declare isOpen: boolean;
  declare side: Side;
  /** The bytes' share, between 0 and 1. */
  declare split: number;
  declare tab: 'bytes' | 'fields';

  constructor() {
    super();
    this.isOpen = false;
    this.side = 'below';
    this.split = 0.5;
    this.tab = 'bytes';
  }

  protected override changed(change: Change | null): void {
    if (change === 'reveal') this.isOpen = true;
    if (change === 'location') this.requestUpdate();
  }

  /** Moves the focus to the bytes or to the fields. */
  async show(tab: 'bytes' | 'fields'): Promise<void> {
    this.tab = tab;
    this.isOpen = true;
    await this.updateComplete;
    const pane = this.renderRoot.querySelector(tab === 'bytes' ? 'kernel-scope-hex' : 'kernel-scope-diagram');
    pane?.shadowRoot?.querySelector<HTMLElement>('[tabindex="0"], button')?.focus();
  }

  override render() {
    const { session, split } = this;
    const { selection, location } = session ?? {};
    const [part] = location?.parts ?? [];
    const share = `${(split * 100).toFixed(1)}%`;
    return html`
      <div class="edge" role="separator" aria-orientation=${this.#isRight ? 'vertical' : 'horizontal'} aria-label="Size of the bytes and fields" tabindex="0"
        aria-valuenow=${this.#size} aria-valuemin="0" aria-valuemax="4000" @pointerdown=${this.#grabbed} @pointermove=${this.#sized} @keydown=${this.#sizeKey}></div>
      <div class="handle">
        ${this.#tab('bytes', 'Bytes')}${this.#tab('fields', 'Fields')}
        <span class="what">${part && selection ? `${hex(selection.offset)} ${name(part.name, 40)}` : nothing}</span>
        <button aria-expanded=${this.isOpen} aria-label=${this.isOpen ? 'Close the sheet' : 'Open the sheet'} @click=${() => (this.isOpen = !this.isOpen)}>${this.isOpen ? '▾' : '▴'}</button>
      </div>
      <div class="panes ${this.tab}" ${styled({ '--bytes': `${split}fr`, '--fields': `${1 - split}fr` })}>
        <kernel-scope-hex .session=${session}></kernel-scope-hex>
        <kernel-scope-diagram .session=${session}></kernel-scope-diagram>
      </div>
      <div class="between" role="separator" aria-orientation=${this.#isRight ? 'horizontal' : 'vertical'} aria-label="Bytes' share" tabindex="0"
        aria-valuenow=${Math.round(split * 100)} ${styled({ '--share': share })} @pointerdown=${this.#grabbed} @pointermove=${this.#shared}
        @keydown=${this.#shareKey}></div>
    `;
  }

  /** Whether it stands at the right: only where there is room for that. */
  get #isRight(): boolean {
    return this.side === 'right';
  }

  get #size(): number {
    const { width, height } = this.getBoundingClientRect();
    return Math.round(this.#isRight ? width : height);
  }

  #resize(size: number): void {
    this.dispatchEvent(new CustomEvent('resize', { detail: Math.round(size) }));
  }

  #share(split: number): void {
    this.dispatchEvent(new CustomEvent('split', { detail: Math.min(0.85, Math.max(0.15, split)) }));
  }

  readonly #grabbed = (event: PointerEvent): void => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };

  readonly #sized = (event: PointerEvent): void => {
    if (!(event.buttons & 1)) return;
    const { right, bottom } = this.getBoundingClientRect();
    this.#resize(this.#isRight ? right - event.clientX : bottom - event.clientY);
  };

  readonly #shared = (event: PointerEvent): void => {
    if (!(event.buttons & 1)) return;
    const { left, top, width, height } = this.getBoundingClientRect();
    this.#share(this.#isRight ? (event.clientY - top) / height : (event.clientX - left) / width);
  };

  readonly #sizeKey = (event: KeyboardEvent): void => {
    const step = { ArrowUp: 24, ArrowLeft: 24, ArrowDown: -24, ArrowRight: -24 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.#resize(this.#size + step);
  };

  readonly #shareKey = (event: KeyboardEvent): void => {
    const step = { ArrowUp: -0.03, ArrowLeft: -0.03, ArrowDown: 0.03, ArrowRight: 0.03 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.#share(this.split + step);
  };

  #tab(tab: 'bytes' | 'fields', title: string) {
    return html`<button aria-pressed=${this.isOpen && this.tab === tab} @click=${() => {
      this.tab = tab;
      this.isOpen = true;
    }}>${title}</button>`;
  }
}

define('kernel-scope-dock', Dock);
