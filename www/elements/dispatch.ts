// <kernel-scope-dispatch>: what a dispatch of a code object's kernel reads: the kernarg segment, which no file has, as a record, and the
// descriptor as text for an assembler.

import { css, html, nothing, type PropertyValues } from 'lit';
import { isAbort, message } from '../client.ts';
import { copyText, save } from '../out.ts';
import type { Directives, KernelDetail, StructRecord } from '../protocol.ts';
import { name } from '../text.ts';
import type { Unwritten } from './diagram.ts';
import './diagram.ts';
import { define, Part } from './part.ts';

export class Dispatch extends Part {
  static override properties = {
    ...super.properties,
    kernel: { attribute: false },
    index: { attribute: false },
    kernarg: { attribute: false },
  };
  static override styles = [
    super.styles,
    css`
      :host { display: block; }
      h3 { font: 600 13px var(--sans); margin: 20px 0 6px; }
      kernel-scope-diagram { border: 1px solid var(--line); border-radius: 8px; background: var(--pane); overflow: hidden; max-block-size: min(70vh, 520px); }
      .line { display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: baseline; margin-block-end: 4px; color: var(--dim); }
      pre { margin: 6px 0 0; padding: 8px 12px; max-block-size: min(60vh, 420px); overflow: auto; font: 12.5px/1.5 var(--mono); background: var(--pane);
        border: 1px solid var(--line); border-radius: 8px; }
      .failed { color: var(--error); }
      li { overflow-wrap: anywhere; }
    `,
  ];

  declare kernel: KernelDetail | null;
  /** Its index in the table of kernels. */
  declare index: number;
  declare kernarg: StructRecord | null;
  #unwritten: Unwritten | null = null;
  #directives: Directives | null = null;
  #isOpen = false;
  #said = '';
  #error = '';
  #asking: AbortController | undefined;

  constructor() {
    super();
    this.kernel = null;
    this.index = 0;
    this.kernarg = null;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#asking?.abort();
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('kernel')) {
      this.#asking?.abort();
      this.#directives = null;
      this.#isOpen = false;
      this.#said = '';
      this.#error = '';
    }
    const { session, index, kernarg: record } = this;
    if (properties.has('kernarg') || properties.has('session')) {
      const print: Unwritten['print'] = (form) =>
        session ? session.call('printKernarg', [index, form]) : Promise.resolve('');
      this.#unwritten = record && Number(record.span.size) > 0 ? { record, print } : null;
    }
  }

  override render() {
    const { kernel } = this;
    if (!kernel || kernel.family === 'cubin') return nothing;
    const hasDescriptor = Number(kernel.descriptor_span.size) > 0;
    return html`
      ${
        this.#unwritten
          ? html`<h3>Kernarg segment</h3>
              <div class="line"><button class="link" @click=${this.#launch}>With the values of a launch</button></div>
              <kernel-scope-diagram .session=${this.session} .unwritten=${this.#unwritten}></kernel-scope-diagram>`
          : nothing
      }
      ${hasDescriptor ? this.#descriptor() : nothing}
    `;
  }

  #descriptor() {
    const { text, missing } = this.#directives ?? {};
    return html`
      <h3>Descriptor for an assembler</h3>
      <div class="line">
        <button class="link" aria-expanded=${this.#isOpen} @click=${this.#toggle}>${this.#isOpen ? 'Hide' : 'Show'} the .amdhsa_kernel block</button>
        <button class="link" @click=${this.#copy}>Copy as .amdhsa_kernel</button>
        <button class="link" @click=${this.#save}>save .s…</button>
        <span role="status">${this.#said}</span>
      </div>
      ${this.#error ? html`<p class="failed" role="alert">${this.#error}</p>` : nothing}
      ${
        this.#isOpen && text !== undefined
          ? html`
              ${missing && missing.length > 0 ? html`<ul class="dim">${missing.map(({ field, raw, why }) => html`<li><span class="file">${name(field)} ${raw}</span>: ${why}</li>`)}</ul>` : nothing}
              <pre class="file" tabindex="0" role="region" aria-label="The .amdhsa_kernel block">${text.split('\n').map((line, i) => `${i > 0 ? '\n' : ''}${name(line, 2000)}`)}</pre>`
          : nothing
      }
    `;
  }

  /** The text, which is asked for when it is first wanted. */
  async #text(): Promise<string> {
    const { session, index } = this;
    if (this.#directives) return this.#directives.text;
    this.#asking?.abort();
    this.#asking = new AbortController();
    const found = await session?.call('directives', [index], { signal: this.#asking.signal });
    if (!found) throw new Error('this kernel has no descriptor');
    this.#directives = found;
    return found.text;
  }

  readonly #launch = (): void => {
    if (this.session) this.session.view = `launch/${this.index}/kernarg`;
  };

  readonly #toggle = async (): Promise<void> => {
    this.#isOpen = !this.#isOpen;
    this.#error = '';
    this.requestUpdate();
    try {
      if (this.#isOpen) await this.#text();
    } catch (error) {
      if (isAbort(error)) return;
      this.#error = message(error);
    }
    this.requestUpdate();
  };

  readonly #copy = async (): Promise<void> => {
    this.#said = await copyText(this.#text(), '.amdhsa_kernel');
    this.requestUpdate();
  };

  readonly #save = async (): Promise<void> => {
    try {
      save(new Blob([await this.#text()], { type: 'text/plain' }), `${this.kernel?.name}.s`);
      this.#said = '';
    } catch (error) {
      if (isAbort(error)) return;
      this.#said = `not saved: ${message(error)}`;
    }
    this.requestUpdate();
  };
}

define('kernel-scope-dispatch', Dispatch);
