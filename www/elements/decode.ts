// <kernel-scope-decode>: where bytes are pasted that somebody has dumped of a launch, as text or in a file, to be read back.

import { css, html, LitElement, nothing } from 'lit';
import { hasFiles } from '../source.ts';
import { base } from '../style.ts';
import { name, size } from '../text.ts';
import { define } from './part.ts';

/** Characters that are taken from a field. */
const LIMIT = 16 << 20;

/** What is typed, or a file in its place. */
interface Dump {
  text: string;
  file: File | null;
}

/** One dump, or two that are compared, and what they are called. */
export interface Dumps {
  name: string;
  blobs: [Blob, Blob?];
  /** What it is read as, where that is known: `as=qmd`. */
  decode?: string;
}

/** Says `decode` with {@link Dumps}. */
export class Decode extends LitElement {
  static override properties = { dumps: { state: true } };
  static override styles = [
    base,
    css`
      dialog { border: 1px solid var(--line); border-radius: 12px; background: var(--pane); color: var(--ink); padding: 18px 24px 20px;
        inline-size: min(56rem, calc(100vw - 24px)); max-block-size: calc(100dvh - 40px); overflow: auto; font: 13px/1.45 var(--sans);
        box-shadow: 0 12px 48px rgb(0 0 0 / .3); }
      dialog::backdrop { background: rgb(0 0 0 / .35); }
      header, .line { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 14px; }
      header button { margin-inline-start: auto; }
      h2 { font-size: 16px; font-weight: 650; }
      p { color: var(--dim); max-inline-size: 74ch; margin-block: 4px 12px; }
      label { font-weight: 600; }
      textarea { display: block; inline-size: 100%; resize: vertical; font: 12.5px/1.5 var(--mono); color: inherit; min-block-size: 5em;
        max-block-size: 60dvh; margin-block: 4px 2px; }
      .file { padding: 8px 12px; border: 1px solid var(--line); border-radius: 6px; margin-block: 4px 2px; display: flex; gap: 14px; }
      details { margin-block: 12px; }
      summary { cursor: pointer; font-weight: 600; }
      .end { margin-block-start: 14px; align-items: center; }
      .go { background: var(--accent); color: var(--pane); border-color: var(--accent); font-weight: 600; padding: 6px 18px; }
      .go:disabled { opacity: .5; cursor: default; }
      .error { color: var(--error); }
      @container (max-width: 700px) { dialog { padding: 12px; } }
    `,
  ];

  declare dumps: readonly [Dump, Dump];

  constructor() {
    super();
    this.dumps = [NOTHING, NOTHING];
  }

  /** Opens it, with `text` in its field where there is some. */
  async show(text = ''): Promise<void> {
    if (text !== '') this.dumps = [{ text, file: null }, NOTHING];
    await this.updateComplete;
    const dialog = this.#dialog;
    if (!dialog.open) dialog.showModal();
    dialog.querySelector('textarea')?.focus();
  }

  get #dialog(): HTMLDialogElement {
    return this.renderRoot.querySelector('dialog') as HTMLDialogElement;
  }

  override render() {
    const [first] = this.dumps;
    const isLong = this.dumps.some(({ text, file }) => !file && text.length > LIMIT);
    return html`<dialog aria-labelledby="title" @dragover=${this.#dragged} @drop=${(event: DragEvent) => this.#dropped(event, 0)}>
      <form @submit=${this.#submit}>
        <header><h2 id="title">Decode a dump</h2><button class="button" type="button" @click=${() => this.#dialog.close()}>Close</button></header>
        <p>A launch descriptor (QMD), a pushbuffer, GPFIFO entries or an AQL packet, as somebody has dumped it: hexadecimal digits with or without
          offsets, a C array, a list such as <span class="num">word 12: 0x00001000</span>, what a shim prints; or the bytes themselves in a file.</p>
        ${this.#dump(0, 'Dump', 12)}
        <details ?open=${!isEmpty(this.dumps[1])}>
          <summary>Compare with another launch descriptor</summary>
          ${this.#dump(1, 'The other dump', 6)}
        </details>
        <div class="line end">
          <button class="button go" ?disabled=${isEmpty(first) || isLong}>Decode</button>
          <span role="status" class=${isLong ? 'error' : 'dim'}>${
            isLong
              ? `This is more than the ${size(LIMIT)} of text that fit here: put it into a file.`
              : `Up to ${size(LIMIT)} of text. It is read in this tab and is sent nowhere.`
          }</span>
        </div>
      </form>
    </dialog>`;
  }

  #dump(at: 0 | 1, label: string, rows: number) {
    const { text, file } = this.dumps[at];
    return html`<div @drop=${(event: DragEvent) => this.#dropped(event, at)}>
      <div class="line"><label for="dump${at}">${label}</label>
        <button class="link" type="button" @click=${this.#pick}>from a file…</button>
        <input type="file" hidden aria-label="File with ${label.toLowerCase()}" @change=${(event: Event) => this.#picked(event, at)}></div>
      ${
        file
          ? html`<div class="file"><span>${name(file.name, 80)}, ${size(file.size)}</span>
              <button class="link" type="button" id="dump${at}" @click=${() => this.#set(at, NOTHING)}>take it away</button></div>`
          : html`<textarea class="field" id="dump${at}" rows=${rows} autocomplete="off" autocapitalize="off" spellcheck="false" wrap="off"
              placeholder=${at === 0 ? 'Paste it here, or drop a file' : nothing} .value=${text} @input=${(event: Event) => this.#set(at, { text: (event.target as HTMLTextAreaElement).value, file: null })}
              @paste=${(event: ClipboardEvent) => this.#take(event, event.clipboardData, at)}></textarea>`
      }
    </div>`;
  }

  #set(at: 0 | 1, dump: Dump): void {
    const [first, second] = this.dumps;
    this.dumps = at === 0 ? [dump, second] : [first, dump];
  }

  readonly #dragged = (event: DragEvent): void => {
    if (!hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    event.stopPropagation();
  };

  #dropped(event: DragEvent, at: 0 | 1): void {
    this.#take(event, event.dataTransfer, at);
  }

  /** Takes the file of a drop or of a paste. */
  #take(event: Event, transfer: DataTransfer | null, at: 0 | 1): void {
    const file = transfer?.files[0];
    if (!file) return;
    event.preventDefault();
    event.stopPropagation();
    this.#set(at, { text: '', file });
  }

  readonly #pick = (event: Event): void => {
    (event.target as Element).parentElement?.querySelector('input')?.click();
  };

  #picked(event: Event, at: 0 | 1): void {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    if (file) this.#set(at, { text: '', file });
    input.value = '';
  }

  readonly #submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const [first, second] = this.dumps;
    const blob = ({ text, file }: Dump) => file ?? new Blob([text], { type: 'text/plain' });
    const blobs: Dumps['blobs'] = isEmpty(second) ? [blob(first)] : [blob(first), blob(second)];
    this.#dialog.close();
    // What was typed can be typed on.
    this.dumps = [first.file ? NOTHING : first, second.file ? NOTHING : second];
    this.dispatchEvent(new CustomEvent<Dumps>('decode', { detail: { name: first.file?.name ?? '', blobs } }));
  };
}

const NOTHING: Dump = { text: '', file: null };

function isEmpty({ text, file }: Dump): boolean {
  return !file && text.trim() === '';
}

define('kernel-scope-decode', Decode);
