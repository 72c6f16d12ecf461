// <kernel-scope-find>: a line that finds bytes. The match is selected; `close` is said when the line is to go.

import { css, html, LitElement, nothing } from 'lit';
import type { ByteSpace } from '../bytes.ts';
import { isAbort, message } from '../client.ts';
import { looksHex } from '../find.ts';
import type { Progress } from '../protocol.ts';
import { base } from '../style.ts';
import { hex, share } from '../text.ts';
import { define } from './part.ts';

export class Find extends LitElement {
  static override properties = { space: { attribute: false } };
  static override styles = [
    base,
    css`
      :host { display: flex; gap: 4px 10px; align-items: baseline; padding: 0 14px 5px; font-size: 12px; color: var(--dim); min-inline-size: 0; }
      input { flex: 0 1 22em; font: 12px var(--mono); padding-block: 1px; color: var(--ink); }
      input[aria-invalid="true"] { border-color: var(--error); }
      button:hover { color: var(--ink); text-decoration: underline; }
      [aria-pressed="true"] { color: var(--ink); font-weight: 600; }
      .said { flex: 1; min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      .wrong { color: var(--error); }
      @container (max-width: 700px) { :host { flex-wrap: wrap; } input { flex: 1 0 100%; } button { min-block-size: 28px; padding-inline: 4px; } }
    `,
  ];

  declare space: ByteSpace | null;
  /** What is chosen by hand; null where it is guessed. */
  #isHex: boolean | null = null;
  #said = '';
  #isWrong = false;
  #asking: AbortController | undefined;
  /** What was found last: the same again goes on from there. */
  #last = '';

  constructor() {
    super();
    this.space = null;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#asking?.abort();
  }

  override focus(): void {
    const input = this.#input;
    input?.focus();
    input?.select();
  }

  get #input(): HTMLInputElement | null {
    return this.renderRoot.querySelector('input');
  }

  get #hex(): boolean {
    return this.#isHex ?? looksHex(this.#input?.value ?? '');
  }

  override render() {
    const isHex = this.#hex;
    return html`
      <input class="field" aria-label="Bytes to find" placeholder="48 8b ?? f? or text" autocomplete="off" spellcheck="false"
        aria-invalid=${this.#isWrong} @input=${this.#typed} @keydown=${this.#key}>
      <span role="group" aria-label="What is written"><button aria-pressed=${isHex} @click=${() => this.#choose(true)}>hex</button> ·
        <button aria-pressed=${!isHex} @click=${() => this.#choose(false)}>text</button></span>
      <button aria-label="Previous match" title="Shift Enter" @click=${() => this.find(true)}>↑</button>
      <button aria-label="Next match" title="Enter" @click=${() => this.find(false)}>↓</button>
      <span class="said ${this.#isWrong ? 'wrong' : ''}" role="status">${this.#said}</span>
      ${this.#asking ? html`<button @click=${() => this.#asking?.abort()}>cancel</button>` : nothing}
      <button aria-label="Close" title="Escape" @click=${this.#close}>✕</button>
    `;
  }

  /** Finds the next match behind the selection's first byte, or the one before it. */
  async find(isBackwards: boolean): Promise<void> {
    const { space } = this;
    const text = this.#input?.value ?? '';
    if (!space || space.size === 0) return;
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    this.#say('searching…');
    const isHex = this.#hex;
    const options = {
      signal: asking.signal,
      progress: ({ done, total }: Progress) =>
        this.#say(`searching… ${share(Math.min(done, total), total).replace(/\.\d/, '')}`),
    };
    const search = (start: number) =>
      isBackwards || start < space.size ? space.search(text, isHex, start, isBackwards, options) : null;
    try {
      const { offset } = space.selection;
      const isNew = this.#last !== `${isHex} ${text}`;
      const first = await search(isBackwards ? offset : offset + (isNew ? 0 : 1));
      const found = first ?? (await search(isBackwards ? space.size : 0));
      if (this.#asking !== asking) return;
      this.#asking = undefined;
      this.#last = `${isHex} ${text}`;
      if (!found) return this.#say('not found');
      const isWrapped = first ? '' : isBackwards ? ', from the end again' : ', from the beginning again';
      space.select(found.offset, found.size);
      this.#say(`found at ${hex(found.offset)}${isWrapped}`);
    } catch (error) {
      if (this.#asking !== asking) return;
      this.#asking = undefined;
      this.#say(isAbort(error) ? 'cancelled' : message(error), !isAbort(error));
    }
  }

  #say(text: string, isWrong = false): void {
    this.#said = text;
    this.#isWrong = isWrong;
    this.requestUpdate();
  }

  #choose(isHex: boolean): void {
    this.#isHex = isHex;
    this.#say('');
    this.#input?.focus();
  }

  readonly #typed = (): void => {
    if (this.#input?.value === '') this.#isHex = null;
    this.#say('');
  };

  readonly #key = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' || event.key === 'F3') void this.find(event.shiftKey);
    else if (event.key === 'Escape') this.#close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  readonly #close = (): void => {
    this.#asking?.abort();
    this.dispatchEvent(new Event('close'));
  };
}

define('kernel-scope-find', Find);
