// <kernel-scope-ribbon>: the whole file in a strip, to scale, tinted by what each part is. Click or drag goes there.

import { css, html, nothing, type PropertyValues } from 'lit';
import { leafAt, offsetOf, type Scale, type Strip, scale, strips, xOf } from '../ribbon.ts';
import type { Change } from '../session.ts';
import { styled } from '../styled.ts';
import { bytes, hex, name } from '../text.ts';
import { define, Part } from './part.ts';
import { widthObserver } from './width.ts';

export class Ribbon extends Part {
  static override properties = { ...super.properties, width: { state: true }, hover: { state: true }, label: {} };
  static override styles = [
    super.styles,
    css`
      :host { display: block; padding: 8px 16px 4px; }
      .strip { position: relative; block-size: var(--strip, 16px); cursor: pointer; touch-action: none; border-radius: 2px; }
      .swatch { position: absolute; inset-block: 0; border-radius: 2px; }
      .selected { position: absolute; inset-block: -3px; background: color-mix(in srgb, var(--ink) 16%, transparent);
        border-inline: 1px solid var(--ink); pointer-events: none; min-inline-size: 2px; }
      .cursor { position: absolute; inset-block: -4px; inline-size: 2px; background: var(--ink); pointer-events: none;
        outline: 1px solid var(--paper); }
      .label { color: var(--dim); font-size: 12px; block-size: 22px; padding-block-start: 4px; white-space: nowrap; overflow: hidden;
        text-overflow: ellipsis; }
      .label b { color: var(--ink); font-weight: 600; font-size: 12px; }
      @container (max-width: 700px) { :host { padding-inline: 12px; } }
    `,
  ];

  declare width: number;
  declare hover: { offset: number; label: string } | null;
  declare label: string;
  #scale: Scale | null = null;
  #strips: Strip[] = [];
  /** The byte under the pointer that nobody has been asked about yet. */
  #wanted: number | null = null;
  #isAsking = false;
  #isOver = false;
  readonly #observer = widthObserver(this);

  constructor() {
    super();
    this.width = 0;
    this.hover = null;
    this.label = 'Map of the file';
  }

  protected override changed(change: Change | null): void {
    // Members that are found later are parts of the map.
    if (change === null || change === 'summary') this.#scale = null;
    if (change === null) this.hover = null;
    if (change !== 'view') this.requestUpdate();
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('width')) this.#scale = null;
    if (this.#scale || !this.session || this.width === 0) return;
    this.#scale = scale(this.session.leaves, this.width);
    this.#strips = strips(this.session.leaves, this.#scale);
  }

  protected override updated(): void {
    const strip = this.renderRoot.querySelector('.strip');
    if (strip) this.#observer?.observe(strip);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer?.disconnect();
  }

  override render() {
    const { session } = this;
    if (!session) return nothing;
    const { selection, size } = session;
    return html`
      <div class="strip" role="slider" tabindex="0" aria-label=${this.label} aria-valuemin="0"
        aria-valuemax=${Math.max(0, size - 1)} aria-valuenow=${selection.offset} aria-valuetext=${this.#words()}
        @pointerdown=${this.#down} @pointermove=${this.#move} @pointerleave=${this.#leave} @keydown=${this.#key}>
        ${this.#scale ? this.#drawn(this.#scale) : nothing}
      </div>
      <div class="label" aria-hidden="true">${this.#label()}</div>
    `;
  }

  #drawn(to: Scale) {
    const { session } = this;
    if (!session) return nothing;
    const { leaves, roles, selection } = session;
    const isMarked = selection.size > 0;
    const from = xOf(selection.offset, leaves, to);
    const until = xOf(selection.offset + selection.size, leaves, to);
    return html`
      ${this.#strips.map(({ x, width, role }) => {
        // A pixel between parts, as long as there is room for it.
        const gap = width > 3 ? 1 : 0;
        return html`<i class="swatch role-${roles[role]}" ${styled({ left: `${x}px`, width: `${width - gap}px` })}></i>`;
      })}
      ${
        isMarked && until - from > 3
          ? html`<i class="selected" ${styled({ left: `${from}px`, width: `${until - from}px` })}></i>`
          : isMarked
            ? html`<i class="cursor" ${styled({ left: `${Math.max(0, from - 1)}px` })}></i>`
            : nothing
      }
    `;
  }

  #label() {
    if (this.hover) return html`<b class="num">${hex(this.hover.offset)}</b> ${this.hover.label}`;
    return html`<b class="num">${hex(this.session?.selection.offset ?? 0)}</b> ${this.#path()}`;
  }

  #path(): string {
    const parts = this.session?.location.parts ?? [];
    const [part] = parts;
    return part ? `${name(part.name, 60)} · ${part.role} · ${bytes(part.span.size)}` : '';
  }

  #words(): string {
    const { selection } = this.session ?? {};
    return `${hex(selection?.offset ?? 0)} ${this.#path()}`;
  }

  #offset(event: PointerEvent): number {
    const { session } = this;
    const box = this.renderRoot.querySelector('.strip')?.getBoundingClientRect();
    if (!session || !box || !this.#scale) return 0;
    return offsetOf(event.clientX - box.left, session.leaves, this.#scale);
  }

  readonly #down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    this.session?.select(this.#offset(event), 1);
  };

  readonly #move = (event: PointerEvent): void => {
    const offset = this.#offset(event);
    if (event.buttons & 1) this.session?.select(offset, 1);
    this.#isOver = true;
    void this.#ask(offset);
  };

  readonly #leave = (): void => {
    this.#isOver = false;
    this.#wanted = null;
    this.hover = null;
  };

  /** Says what is at `offset`. One question is on its way at a time; the last one that came up meanwhile is asked next. */
  async #ask(offset: number): Promise<void> {
    this.#wanted = offset;
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { session } = this;
    while (session && this.#wanted !== null) {
      const at: number = this.#wanted;
      this.#wanted = null;
      try {
        const [part] = (await session.call('locate', [at])).parts;
        const label = part ? `${name(part.name, 60)} · ${part.role} · ${bytes(part.span.size)}` : '';
        if (this.#isOver && session === this.session) this.hover = { offset: at, label };
      } catch {
        // A label that does not come is no loss.
      }
    }
    this.#isAsking = false;
  }

  readonly #key = (event: KeyboardEvent): void => {
    const { session } = this;
    if (!session) return;
    const { leaves, selection, size } = session;
    const leaf = leafAt(leaves, selection.offset);
    const start = leaves.offset[leaf] ?? 0;
    const to: Record<string, number | undefined> = {
      ArrowRight: leaves.offset[leaf + 1],
      // First to the start of the part, then to the one before.
      ArrowLeft: selection.offset > start ? start : leaves.offset[leaf - 1],
      ArrowDown: leaves.offset[leaf + 1],
      ArrowUp: selection.offset > start ? start : leaves.offset[leaf - 1],
      Home: 0,
      End: Math.max(0, size - 1),
    };
    const offset = to[event.key];
    if (offset === undefined) return;
    event.preventDefault();
    session.select(offset, 1);
  };
}

define('kernel-scope-ribbon', Ribbon);
