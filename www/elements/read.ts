// <kernel-scope-read>: what a dump is read as, and what else it can be read as.

import { css, html, type PropertyValues } from 'lit';
import './form.ts';
import { define, Part } from './part.ts';

/** Milliseconds of rest after which a dump is read as what has been typed. */
const REST = 250;

export class Read extends Part {
  static override styles = [
    super.styles,
    css`
      :host { display: block; }
      p { max-inline-size: 74ch; }
    `,
  ];

  /** What has been typed, until the dump has been read so. */
  #typed: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #file = -1;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    const { file = -1, source } = this.session ?? {};
    if (file !== this.#file || source?.decode === this.#typed) this.#typed = null;
    this.#file = file;
  }

  override render() {
    const { session } = this;
    const { decoded = null } = session?.summary ?? {};
    const as = session?.source.decode;
    if (!decoded) {
      return html`<p>Is it a dump: a launch descriptor, a pushbuffer, GPFIFO entries or an AQL packet, as bytes or as text?
        <button class="link" @click=${() => session?.onDecode('')}>Decode as a dump…</button></p>`;
    }
    return html`
      <kernel-scope-form .inputs=${decoded.inputs} .problems=${decoded.problems} .text=${this.#typed ?? as ?? ''} @type=${this.#type}></kernel-scope-form>
      ${as === undefined ? '' : html`<p><button class="link" @click=${() => session?.onDecode(null)}>Open it as any other file</button></p>`}
    `;
  }

  readonly #type = ({ detail }: CustomEvent<string>): void => {
    this.#typed = detail;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.session?.onDecode(detail), REST);
  };
}

define('kernel-scope-read', Read);
