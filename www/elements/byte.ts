// <kernel-scope-byte>: what there is to say of bytes that no structure has: which parts hold them, and what they are as numbers.

import { css, html, nothing } from 'lit';
import { inspect } from '../inspect.ts';
import type { PartInfo, Span } from '../protocol.ts';
import type { Change } from '../session.ts';
import { bytes, hex, name } from '../text.ts';
import { define, Part } from './part.ts';

export class Byte extends Part {
  static override styles = [
    super.styles,
    css`
      :host { display: block; }
      p { color: var(--dim); margin-block-end: 10px; max-inline-size: 60ch; }
      dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 3px 16px; }
      dt { color: var(--dim); }
      dd { font: 12.5px/19px var(--mono); overflow-wrap: anywhere; }
      dd.words { font-family: var(--sans); }
      .swatch { display: inline-block; inline-size: 10px; block-size: 10px; border-radius: 2px; margin-inline-end: 7px; }
      .rule { grid-column: 1 / -1; border-block-start: 1px solid var(--line); margin-block: 5px; }
    `,
  ];

  #bytes: Uint8Array | null = null;
  #asking: AbortController | undefined;

  protected override changed(change: Change | null): void {
    if (change === null || change === 'location' || change === 'reopened') void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#asking?.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const { session } = this;
    if (!session) return;
    try {
      this.#bytes = await session.call('bytes', [session.selection.offset, 8], { signal });
    } catch {
      // The hex view says what is wrong with bytes that cannot be read.
      if (signal.aborted) return;
      this.#bytes = null;
    }
    this.requestUpdate();
  }

  override render() {
    const { session } = this;
    if (!session) return nothing;
    return html`
      <p>No structure that is known has this byte.</p>
      <dl>
        ${session.location.parts.map((part) => this.#part(part))}
        <div class="rule"></div>
        ${inspect(this.#bytes ?? new Uint8Array()).map(({ name, value }) => html`<dt>${name}</dt><dd>${value}</dd>`)}
      </dl>
    `;
  }

  #part({ name: of, role, span, header }: PartInfo) {
    const go = (to: Span) => this.session?.select(Number(to.offset), Math.max(1, Number(to.size)));
    return html`
      <dt><i class="swatch role-${role}"></i>${role}</dt>
      <dd class="words">
        <button class="link file" @click=${() => go(span)}>${name(of, 80)}</button>
        ${hex(span.offset)}, ${bytes(span.size)}${header ? html` · <button class="link" @click=${() => go(header)}>its header</button>` : nothing}
      </dd>
    `;
  }
}

define('kernel-scope-byte', Byte);
