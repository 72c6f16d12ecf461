// <kernel-scope>: the application. Attributes: `src`, a file to open on the page's own origin; `view`, the panel to show
// (`summary`, `kernels`, `kernels/0`, `sections`, …); `whole-window`, files may be dropped anywhere in the window.

import { css, html, LitElement, nothing, type PropertyValues } from 'lit';
import { client, isAbort, message } from '../client.ts';
import type { Example } from '../examples.ts';
import { Session } from '../session.ts';
import { fromFile, fromTransfer, fromUrl, hasFiles, type Source } from '../source.ts';
import { base, isolation } from '../style.ts';
import { styled } from '../styled.ts';
import { name } from '../text.ts';
import './dock.ts';
import './identity.ts';
import './nav.ts';
import './panel.ts';
import { define } from './part.ts';
import './ribbon.ts';
import './start.ts';

export class KernelScope extends LitElement {
  static override properties = {
    src: {},
    view: {},
    wholeWindow: { type: Boolean, attribute: 'whole-window' },
    session: { state: true },
    notices: { state: true },
    isDragged: { state: true },
    opening: { state: true },
    dockHeight: { state: true },
  };
  static override styles = [
    base,
    isolation,
    css`
      :host { display: block; block-size: 640px; color-scheme: light dark; }
      :host([hidden]) { display: none; }
      .layout { display: grid; grid-template: auto auto minmax(0, 1fr) var(--dock) / 216px minmax(0, 1fr); block-size: 100%; position: relative;
        overflow: hidden; }
      .layout.empty { grid-template: auto auto minmax(0, 1fr) / minmax(0, 1fr); }
      kernel-scope-identity, kernel-scope-ribbon, kernel-scope-start, kernel-scope-dock, .notices { grid-column: 1 / -1; }
      kernel-scope-start { grid-row: 3; }
      .notices { position: absolute; inset-block-start: 52px; inset-inline: 0; z-index: 5; display: grid; gap: 6px; justify-items: center; pointer-events: none; }
      .notice { pointer-events: auto; display: flex; gap: 14px; background: var(--ink); color: var(--paper); border-radius: 8px; padding: 7px 14px;
        max-inline-size: min(76ch, calc(100cqi - 32px)); overflow-wrap: anywhere; box-shadow: 0 3px 14px rgb(0 0 0 / .2); }
      .notice button { font-weight: 600; text-decoration: underline; white-space: nowrap; }
      .opening { align-self: center; justify-self: center; grid-row: 3; color: var(--dim); }
      .over { position: absolute; inset: 0; z-index: 6; display: grid; place-content: center; pointer-events: none; font-size: 20px; font-weight: 600;
        background: color-mix(in srgb, var(--paper) 82%, transparent); border: 3px dashed var(--accent); border-radius: 12px; }
      @container (max-width: 700px) {
        .layout { grid-template: auto auto auto minmax(0, 1fr) 46px / minmax(0, 1fr); }
        kernel-scope-dock { position: absolute; inset-inline: 0; inset-block-end: 0; z-index: 3; max-block-size: 70%; }
        kernel-scope-dock[open] { block-size: 70%; }
      }
      /* On paper: what the file is, the panel that is open, and the record, one below the other and in light colours. */
      @media print {
        :host { block-size: auto !important; color-scheme: only light !important; }
        .layout, .layout.empty { display: block; overflow: visible; block-size: auto; }
        kernel-scope-ribbon, kernel-scope-nav, .notices { display: none; }
        kernel-scope-dock, kernel-scope-dock[open] { position: static; block-size: auto; max-block-size: none; }
      }
    `,
  ];

  declare src: string | null;
  declare view: string | null;
  declare wholeWindow: boolean;
  declare session: Session | null;
  declare notices: string[];
  declare isDragged: boolean;
  declare opening: string;
  /** Pixels; null before anyone has moved it. */
  declare dockHeight: number | null;
  #asking: AbortController | undefined;
  #left: EventTarget | null = null;

  constructor() {
    super();
    this.src = null;
    this.view = null;
    this.wholeWindow = false;
    this.session = null;
    this.notices = [];
    this.isDragged = false;
    this.opening = '';
    this.dockHeight = null;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    client().start();
    this.#left = this.wholeWindow || this.hasAttribute('whole-window') ? window : this;
    this.#left.addEventListener('dragover', this.#dragged);
    this.#left.addEventListener('dragleave', this.#undragged);
    this.#left.addEventListener('drop', this.#dropped);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#left?.removeEventListener('dragover', this.#dragged);
    this.#left?.removeEventListener('dragleave', this.#undragged);
    this.#left?.removeEventListener('drop', this.#dropped);
  }

  protected override willUpdate(properties: PropertyValues): void {
    if (properties.has('src') && this.src) void this.openUrl(this.src);
    if (properties.has('view') && this.view && this.session) this.session.view = this.view;
  }

  /** Opens a file of the person's own. */
  openFile(file: File): Promise<void> {
    return this.#open(file.name, async () => fromFile(file));
  }

  /** Opens the file at `url`, on the page's own origin. */
  openUrl(url: string, as?: string): Promise<void> {
    return this.#open(as ?? url, async (signal) => {
      const source = await fromUrl(url, signal);
      return as ? { ...source, name: as } : source;
    });
  }

  /** Opens what `source` brings. What is shown stays until that has succeeded. */
  async #open(title: string, source: (signal: AbortSignal) => Promise<Source>): Promise<void> {
    this.#asking?.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const timer = setTimeout(() => {
      this.opening = title;
    }, 200);
    try {
      const session = await Session.open(client(), await source(signal), { signal });
      if (signal.aborted) return session.close();
      this.session?.close();
      session.onNotice = (text) => this.#notice(text);
      session.view = this.view ?? 'summary';
      this.session = session;
      this.notices = [];
      void session.check();
      this.dispatchEvent(new CustomEvent('opened', { detail: { name: session.name } }));
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      this.#failed = title;
      this.#notice(message(error));
    } finally {
      clearTimeout(timer);
      if (this.#asking.signal === signal) this.opening = '';
    }
  }

  /** What could not be opened last. */
  #failed = '';

  #notice(text: string): void {
    if (!this.notices.includes(text)) this.notices = [...this.notices, text].slice(-3);
  }

  override render() {
    const { session } = this;
    const dock = this.dockHeight === null ? 'clamp(200px, 42%, 420px)' : `${this.dockHeight}px`;
    return html`<div class="scope"><div class="layout ${session ? '' : 'empty'}" ${styled({ '--dock': dock })}>
      <kernel-scope-identity role="region" aria-label="The file" .session=${session} @pick=${this.#pick}></kernel-scope-identity>
      ${session ? this.#file(session) : this.#start()}
      <div class="notices">${this.notices.map(
        (text) =>
          html`<div class="notice" role="alert"><span>${name(text, 500)}</span><button @click=${() => this.#dismiss(text)}>Dismiss</button></div>`,
      )}</div>
      ${this.isDragged ? html`<div class="over" aria-hidden="true">Drop to open</div>` : nothing}
      <input type="file" hidden aria-label="File to open" @change=${this.#picked}>
    </div></div>`;
  }

  /** A page has one main part; in the page of others it is not ours. */
  get #main(): string {
    return this.wholeWindow ? 'main' : 'region';
  }

  #start() {
    if (this.opening) return html`<p class="opening" role="status">opening ${name(this.opening, 80)}…</p>`;
    // Who embeds the element chose the file: other files to try are not theirs.
    if (this.src && this.#failed) {
      return html`<p class="opening">${name(this.#failed, 200)} could not be opened. <button @click=${this.#pick}>Open a file…</button></p>`;
    }
    return html`<kernel-scope-start role=${this.#main} aria-label="Open a file" @pick=${this.#pick}
      @example=${({ detail }: CustomEvent<Example>) => this.openUrl(detail.url, detail.name)}></kernel-scope-start>`;
  }

  #file(session: Session) {
    return html`
      <kernel-scope-ribbon role="region" aria-label="Map of the file" .session=${session}></kernel-scope-ribbon>
      <kernel-scope-nav role="navigation" aria-label="What the file has" .session=${session}></kernel-scope-nav>
      <kernel-scope-panel role=${this.#main} aria-label="What is open" .session=${session}></kernel-scope-panel>
      <kernel-scope-dock role="region" aria-label="Bytes and fields" .session=${session} .height=${this.dockHeight} @height=${this.#resized}></kernel-scope-dock>
    `;
  }

  #dismiss(text: string): void {
    this.notices = this.notices.filter((one) => one !== text);
  }

  readonly #pick = (): void => {
    this.renderRoot.querySelector('input')?.click();
  };

  readonly #picked = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    if (file) void this.openFile(file);
    input.value = '';
  };

  readonly #dragged = (event: Event): void => {
    const { dataTransfer } = event as DragEvent;
    if (!hasFiles(dataTransfer)) return;
    event.preventDefault();
    if (dataTransfer) dataTransfer.dropEffect = 'copy';
    this.isDragged = true;
  };

  readonly #undragged = (event: Event): void => {
    // Leaving for an element inside is not leaving.
    const to = (event as DragEvent).relatedTarget;
    if (!(to instanceof Node && (this.#left === window || this.contains(to)))) this.isDragged = false;
  };

  readonly #dropped = (event: Event): void => {
    const { dataTransfer } = event as DragEvent;
    if (!hasFiles(dataTransfer)) return;
    event.preventDefault();
    this.isDragged = false;
    const [source, ...others] = fromTransfer(dataTransfer);
    if (!source) return;
    void this.#open(source.name, async () => source).then(() => {
      if (others.length > 0)
        this.#notice(`One file at a time: ${name(source.name, 80)} was chosen of ${others.length + 1}.`);
    });
  };

  /** The dock is to have another height; the rest keeps some of it. */
  readonly #resized = ({ detail }: CustomEvent<number>): void => {
    const most = Math.max(120, this.getBoundingClientRect().height - 200);
    this.dockHeight = Math.min(Math.max(120, detail), most);
  };
}

define('kernel-scope', KernelScope);
