// <kernel-scope-start>: what is there before a file is: what this is, how to open a file, and three to try.

import { css, html, nothing } from 'lit';
import { EXAMPLES } from '../examples.ts';
import type { Place } from '../place.ts';
import { name } from '../text.ts';
import { define, Part } from './part.ts';

/** Sites beside its own that the page's policy lets it fetch files from; whoever builds it may name some. */
const OTHER_SITES: readonly string[] = __CONNECT__;

/** Says `pick`, `decode`, `address` with the one of a file, and `example` with the one that was chosen. */
export class Start extends Part {
  static override properties = { ...super.properties, isWhole: { attribute: false }, pending: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: grid; align-content: center; justify-content: center; padding: 24px 20px; overflow: auto; }
      .sheet { inline-size: min(680px, 100cqi - 40px); }
      h2 { font-size: 24px; letter-spacing: -.02em; font-weight: 650; line-height: 1.25; }
      .lead { color: var(--dim); font-size: 15px; margin: 8px 0 20px; max-inline-size: 56ch; }
      .drop { display: flex; flex-wrap: wrap; gap: 10px 16px; align-items: center; border: 1.5px dashed color-mix(in srgb, var(--dim) 60%, transparent);
        border-radius: 10px; padding: 22px 20px; background: var(--pane); inline-size: 100%; }
      .drop:hover { border-color: var(--accent); }
      .drop .button { background: var(--accent); color: var(--pane); border-color: var(--accent); font-weight: 600; padding: 6px 14px; }
      .drop .words { font-size: 14px; }
      form { display: flex; gap: 10px; margin-block-start: 12px; align-items: center; }
      form input { flex: 1; }
      .pending { background: var(--wash); border-inline-start: 3px solid var(--accent); padding: 8px 14px; margin-block-end: 16px; }
      .other { margin-block-start: 12px; }
      h3 { font: 600 12px var(--sans); color: var(--dim); margin: 26px 0 2px; }
      li button { display: grid; grid-template-columns: 9.5em minmax(0, 1fr); gap: 2px 16px; inline-size: 100%; padding: 8px 0; align-items: baseline;
        border-block-end: 1px solid var(--line); }
      li button:hover { background: var(--hover); }
      li b { font-weight: 600; color: var(--accent); }
      li .file { grid-column: 2; font-size: 12px; color: var(--dim); }
      .private { color: var(--dim); margin-block-start: 20px; font-size: 12.5px; max-inline-size: 70ch; }
      @container (max-width: 700px) {
        :host { align-content: start; }
        h2 { font-size: 21px; }
        li button { grid-template-columns: 1fr; }
        li .file { grid-column: 1; }
      }
    `,
  ];

  declare isWhole: boolean;
  /** The place that the page's address names, in a file that is not open. */
  declare pending: Place | null;

  constructor() {
    super();
    this.isWhole = false;
    this.pending = null;
  }

  override render() {
    const { pending } = this;
    return html`<div class="sheet">
      ${
        pending
          ? html`<p class="pending" role="status">The address of this page names a place${pending.at ? html` (<span class="file">${name(pending.at, 80)}</span>)` : nothing}
              in a file of your own. Open the file again, and it is shown there.</p>`
          : nothing
      }
      <h2>Open a GPU binary. See all of it, down to the bit.</h2>
      <p class="lead">Kernels with their registers, memory and parameters first; then every header, table and byte of an
        NVIDIA cubin, an AMD code object or another ELF file.</p>
      <button class="drop" @click=${() => this.dispatchEvent(new Event('pick'))}>
        <span class="button">Open files…</span><span class="words dim">or drop them anywhere here, or paste them</span>
      </button>
      <form @submit=${this.#submitted}>
        <input class="field" name="address" placeholder="Or the address of a file, on this site" aria-label="Address of a file" autocomplete="off" spellcheck="false">
        <button class="button">Open</button>
      </form>
      <p class="other">Bytes that were handed to a GPU, as text or in a file? <button class="link" @click=${() => this.dispatchEvent(new Event('decode'))}>Decode a dump…</button></p>
      <h3>No file at hand? Try one of these</h3>
      <ul>${EXAMPLES.map(
        (
          example,
        ) => html`<li><button @click=${() => this.dispatchEvent(new CustomEvent('example', { detail: example }))}>
          <b>${example.title}</b><span>${example.text}</span><span class="file">${example.name}</span>
        </button></li>`,
      )}</ul>
      <p class="private">Files are read in this tab and are sent nowhere${this.#policy()}</p>
    </div>`;
  }

  /** What the page's policy adds to that. In the page of others it is theirs. */
  #policy(): string {
    if (!this.isWhole) return '.';
    if (OTHER_SITES.length === 0) return ": the page's own policy forbids it to talk to any other site.";
    return `. The page's own policy lets it fetch files, when you ask for them, from ${OTHER_SITES.join(', ')}.`;
  }

  readonly #submitted = (event: SubmitEvent): void => {
    event.preventDefault();
    const address = new FormData(event.target as HTMLFormElement).get('address');
    if (typeof address === 'string' && address.trim())
      this.dispatchEvent(new CustomEvent('address', { detail: address.trim() }));
  };
}

define('kernel-scope-start', Start);
