// <kernel-scope-byte>: what there is to say of bytes that no structure has: which parts hold them, and what they are as numbers.

import { css, html, nothing } from 'lit';
import { FileSpace } from '../bytes.ts';
import type { PartInfo, Span } from '../protocol.ts';
import type { Change } from '../session.ts';
import { bytes, hex, name } from '../text.ts';
import './inspector.ts';
import { define, Part } from './part.ts';

export class Byte extends Part {
  static override styles = [
    super.styles,
    css`
      :host { display: block; }
      p { color: var(--dim); margin-block-end: 8px; max-inline-size: 60ch; }
      dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 3px 16px; padding-block-end: 8px; margin-block-end: 8px;
        border-block-end: 1px solid var(--line); }
      dt { color: var(--dim); }
      .swatch { display: inline-block; inline-size: 10px; block-size: 10px; border-radius: 2px; margin-inline-end: 7px; }
    `,
  ];

  #space: FileSpace | null = null;

  protected override changed(change: Change | null): void {
    if (change === null) this.#space = this.session && new FileSpace(this.session);
    if (change === null || change === 'location') this.requestUpdate();
  }

  override render() {
    const { session } = this;
    if (!session) return nothing;
    return html`
      <p>No structure that is known has this byte.</p>
      <dl>${session.location.parts.map((part) => this.#part(part))}</dl>
      <kernel-scope-inspector .space=${this.#space}></kernel-scope-inspector>
    `;
  }

  #part({ name: of, role, span, header }: PartInfo) {
    const go = (to: Span) => this.session?.select(Number(to.offset), Math.max(1, Number(to.size)));
    return html`
      <dt><i class="swatch role-${role}"></i>${role}</dt>
      <dd>
        <button class="link file" @click=${() => go(span)}>${name(of, 80)}</button>
        ${hex(span.offset)}, ${bytes(span.size)}${header ? html` · <button class="link" @click=${() => go(header)}>its header</button>` : nothing}
      </dd>
    `;
  }
}

define('kernel-scope-byte', Byte);
