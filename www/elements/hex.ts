// <kernel-scope-hex>: the bytes of the file. Only visible rows are in the page, a line of text each; tints and the selection
// are backgrounds behind the text.

import { css, html, nothing } from 'lit';
import { isAbort, message } from '../client.ts';
import { asciiText, behind, behindAscii, byteAt, clip, columns, hexText, ROW, tints } from '../hex.ts';
import { Pages } from '../pages.ts';
import type { Change } from '../session.ts';
import { styled } from '../styled.ts';
import { bytes, hex, name, parseOffset } from '../text.ts';
import { Virtual, virtualStyles } from '../virtual.ts';
import { define, Part } from './part.ts';

const PAGE = 16 << 10;
/** Below this width in pixels, rows have 8 bytes. */
const NARROW = 585;

/** Where in a row the tint of its bytes is. */
const LINE = css`calc(50% + 9px)`;
const MARK = 'linear-gradient(var(--mark) 0 0)';
const WASH = 'linear-gradient(var(--wash) 0 0)';
const LINES: Record<string, string> = {
  padding: 'repeating-linear-gradient(90deg, var(--role-padding) 0 3px, transparent 3px 6px)',
  unclaimed: 'repeating-linear-gradient(90deg, var(--role-unclaimed) 0 3px, transparent 3px 6px)',
};

/** Bytes that are copied at once, at most. */
const COPY_LIMIT = 65_536;

export class Hex extends Part {
  static override properties = { ...super.properties, width: { state: true } };
  static override styles = [
    super.styles,
    virtualStyles,
    css`
      .error { color: var(--error); min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      :host { display: grid; grid-template-rows: auto minmax(0, 1fr); min-block-size: 0; min-inline-size: 0; }
      .head { display: flex; gap: 4px 12px; align-items: baseline; padding: 6px 14px 5px; font-size: 12px; color: var(--dim); white-space: nowrap;
        overflow: hidden; }
      .head b { font: 600 12.5px var(--mono); color: var(--ink); overflow: hidden; text-overflow: ellipsis; min-inline-size: 4em; }
      form { margin-inline-start: auto; }
      form input { inline-size: 9em; font: 12px var(--mono); padding-block: 1px; }
      form input[aria-invalid="true"] { border-color: var(--error); }
      .scroller { contain: strict; cursor: text; user-select: none; -webkit-user-select: none; }
      .scroller:focus-visible { outline-offset: -2px; }
      /* Lines of plain text: of all ways to lay out a row the cheapest. */
      .row { block-size: ${ROW}px; padding-inline: 14px; font: 12.5px/${ROW}px var(--mono); white-space: pre; }
      .at, .ascii { color: var(--dim); }
      /* Room for backgrounds as high as the row. */
      .bytes, .ascii { padding-block: 5px; }
      .bytes[class*='role-'] { background: linear-gradient(var(--tint) 0 0) 0 ${LINE} / 100% 2px no-repeat; }
      .bytes.role-padding, .bytes.role-unclaimed { background-image: repeating-linear-gradient(90deg, var(--tint) 0 3px, transparent 3px 6px); }
      @media (forced-colors: active) { .row span { forced-color-adjust: none; } }
    `,
  ];

  declare width: number;
  /** Where a selection by mouse or keys began, and where it is now. */
  #anchor = 0;
  #cursor = 0;
  #isWrong = false;
  #error = '';
  /** What is to be said of the last copy. */
  #said = '';
  readonly #pages = new Pages<Uint8Array>(
    (page, signal) => this.#fetch(page, signal),
    (error) => {
      if (error && !isAbort(error)) this.#error = message(error);
      this.requestUpdate();
    },
    64,
  );
  readonly #virtual = new Virtual(this, () => Math.ceil((this.session?.size ?? 0) / this.#bytes), ROW);
  readonly #observer =
    typeof ResizeObserver === 'undefined'
      ? null
      : new ResizeObserver(([entry]) => {
          this.width = Math.floor(entry?.contentRect.width ?? 0);
        });

  constructor() {
    super();
    this.width = 1000;
  }

  /** Bytes a row. */
  get #bytes(): number {
    return this.width < NARROW ? 8 : 16;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#observer?.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer?.disconnect();
  }

  protected override changed(change: Change | null): void {
    const { session } = this;
    if (change === null || change === 'reopened') {
      this.#pages.clear();
      this.#error = '';
    }
    if (change === null) {
      this.#anchor = this.#cursor = 0;
      this.#virtual.scrollTo(0);
    }
    if (change === 'reveal' && session) {
      const { offset, size } = session.selection;
      this.#anchor = this.#cursor = offset;
      const last = offset + Math.max(0, size - 1);
      this.#virtual.reveal(Math.floor(offset / this.#bytes), Math.floor(last / this.#bytes));
    }
    if (change !== 'view' && change !== 'summary') {
      this.#said = '';
      this.requestUpdate();
    }
  }

  async #fetch(page: number, signal: AbortSignal): Promise<Uint8Array> {
    if (!this.session) throw new Error('no file is open');
    return this.session.call('bytes', [page * PAGE, PAGE], { signal });
  }

  override render() {
    const { session } = this;
    if (!session) return nothing;
    const { first, count, shift } = this.#virtual.visible;
    const row = Math.floor(session.selection.offset / this.#bytes);
    const isInView = row >= first && row < first + count;
    const body = [];
    for (let i = first; i < first + count; i++) body.push(this.#row(i));
    return html`
      <div class="head">
        ${this.#where()}
        <form @submit=${this.#goto}>
          <input class="field" name="goto" placeholder="Go to 0x…" aria-label="Go to offset" aria-invalid=${this.#isWrong} autocomplete="off" spellcheck="false">
        </form>
      </div>
      <div class="scroller" role="grid" tabindex="0" aria-label="Bytes" aria-rowcount=${this.#virtual.list.rows} aria-colcount="3"
        aria-activedescendant=${isInView ? `row${row}` : nothing}
        @pointerdown=${this.#down} @pointermove=${this.#move} @click=${this.#tapped} @keydown=${this.#key}>
        <div class="window" role="presentation"><div role="rowgroup" ${styled({ transform: `translateY(${-shift}px)` })}>${body}</div></div>
        <div class="spacer"></div>
      </div>
      <p class="unseen" role="status">${this.#spoken()}</p>
    `;
  }

  #where() {
    const { session } = this;
    if (this.#error) return html`<span class="error" role="alert" title=${this.#error}>${this.#error}</span>`;
    if (!session) return nothing;
    const { selection, location } = session;
    const [part] = location.parts;
    if (!part) return html`<span>no bytes</span>`;
    const image = location.image_offset;
    const within = selection.offset - Number(part.span.offset);
    return html`
      <b class="file" title=${name(part.name, 400)}>${name(part.name, 60)}</b>
      <span>file ${hex(selection.offset)} · +${hex(Math.max(0, within))}${image === null || image === undefined ? '' : ` · image ${hex(image)}`}</span>
      <span>${this.#said || (selection.size > 1 ? `${bytes(selection.size)} selected` : nothing)}</span>
    `;
  }

  #spoken(): string {
    const { session } = this;
    if (!session) return '';
    const { offset, size } = session.selection;
    const [part] = session.location.parts;
    const value = this.#pages.get(Math.floor(offset / PAGE))?.[offset % PAGE];
    if (this.#said) return this.#said;
    return `${hex(offset)}${size === 1 && value !== undefined ? `, byte ${hex(value, 2)}` : `, ${bytes(size)}`}, ${part ? name(part.name, 60) : ''} ${session.record ? name(session.record.name, 60) : ''}`;
  }

  #row(row: number) {
    const session = this.session;
    if (!session) return nothing;
    const start = row * this.#bytes;
    const count = Math.min(this.#bytes, session.size - start);
    const page = Math.floor(start / PAGE);
    const data = this.#pages.get(page)?.subarray(start % PAGE, (start % PAGE) + count);
    const digits = Math.max(6, (session.size - 1).toString(16).length);
    const { selection, record, leaves, roles } = session;
    const selected = clip(selection.offset, selection.size, start, count);
    const holds = record && clip(Number(record.span.offset), Number(record.span.size), start, count);
    const runs = tints(leaves, start, count);
    // Most rows are of one part and not selected: a class is cheaper than a style of its own.
    const only =
      runs.length === 1 && count === this.#bytes && !selected && !holds ? roles[runs[0]?.role ?? 0] : undefined;
    const lines = only
      ? []
      : runs.map((run) => {
          const role = roles[run.role] ?? '';
          return behind(run, LINES[role] ?? `linear-gradient(var(--role-${role}) 0 0)`, LINE.cssText, '2px');
        });
    const layers = [...lines, ...(selected ? [behind(selected, MARK)] : []), ...(holds ? [behind(holds, WASH)] : [])];
    const ascii = [...(selected ? [behindAscii(selected, MARK)] : []), ...(holds ? [behindAscii(holds, WASH)] : [])];
    const text = hexText(data, count, this.#pages.hasFailed(page) ? '??' : undefined);
    return html`<div class="row" role="row" id="row${row}" aria-rowindex=${row + 1}><span class="at" role="rowheader">${start.toString(16).padStart(digits, '0')}</span>  <span class="bytes ${only ? `role-${only}` : ''}" role="gridcell" ${styled({ background: layers.join(', ') })}>${text.padEnd(columns(this.#bytes))}</span>  <span class="ascii" role="gridcell" ${styled({ background: ascii.join(', ') })}>${asciiText(data, count)}</span></div>`;
  }

  /** The byte under the pointer. */
  #at(event: PointerEvent): number {
    const rows = this.renderRoot.querySelector('[role="rowgroup"]');
    const line = rows?.firstElementChild;
    const [, digits, ascii] = line?.children ?? [];
    if (!rows || !digits || !ascii || !this.session) return 0;
    const row = this.#virtual.visible.first + Math.floor((event.clientY - rows.getBoundingClientRect().top) / ROW);
    const box = digits.getBoundingClientRect();
    const character = box.width / columns(this.#bytes);
    const right = ascii.getBoundingClientRect().left;
    const i =
      event.clientX >= right - character
        ? Math.min(this.#bytes - 1, Math.max(0, Math.floor((event.clientX - right) / character)))
        : byteAt((event.clientX - box.left) / character, this.#bytes);
    return Math.min(Math.max(0, row * this.#bytes + i), this.session.size - 1);
  }

  readonly #down = (event: PointerEvent): void => {
    // A press on the scrollbar is no press on a byte.
    const scroller = event.currentTarget as HTMLElement;
    if (event.button !== 0 || event.offsetX >= scroller.clientWidth) return;
    // A finger scrolls; what it selects by is a tap, which comes as a click.
    if (event.pointerType === 'touch') return;
    scroller.setPointerCapture(event.pointerId);
    this.#go(this.#at(event), event.shiftKey);
  };

  readonly #tapped = (event: PointerEvent): void => {
    if (event.pointerType === 'touch') this.#go(this.#at(event), event.shiftKey);
  };

  readonly #move = (event: PointerEvent): void => {
    if (!(event.buttons & 1) || event.pointerType === 'touch') return;
    const to = this.#at(event);
    if (to === this.#cursor) return;
    this.#go(to, true);
    this.#virtual.reveal(Math.floor(to / this.#bytes));
  };

  readonly #key = (event: KeyboardEvent): void => {
    const { session } = this;
    if (!session) return;
    const at = this.#cursor;
    const row = this.#bytes;
    const isFar = event.ctrlKey || event.metaKey;
    const last = session.size - 1;
    const moves: Record<string, number> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      ArrowDown: at + row,
      ArrowUp: at - row,
      PageDown: at + row * this.#virtual.page,
      PageUp: at - row * this.#virtual.page,
      Home: isFar ? 0 : at - (at % row),
      End: isFar ? last : at - (at % row) + row - 1,
    };
    const to = moves[event.key];
    if (event.key === 'c' && isFar) {
      void this.#copy();
    } else if (event.key === 'g' && !isFar && !event.altKey) {
      this.renderRoot.querySelector('input')?.focus();
    } else if (to !== undefined && last >= 0) {
      this.#go(Math.min(Math.max(0, to), last), event.shiftKey);
      this.#virtual.reveal(Math.floor(this.#cursor / row));
    } else {
      return;
    }
    event.preventDefault();
  };

  /** Copies the bytes that are selected, two digits each. */
  async #copy(): Promise<void> {
    const { session } = this;
    if (!session) return;
    const { offset, size } = session.selection;
    try {
      if (size > COPY_LIMIT) throw new Error(`more than ${bytes(COPY_LIMIT)} are selected`);
      const selected = await session.call('bytes', [offset, size]);
      await navigator.clipboard.writeText(Array.from(selected, (byte) => byte.toString(16).padStart(2, '0')).join(' '));
      this.#said = `${bytes(size)} copied`;
    } catch (error) {
      this.#said = `not copied: ${message(error)}`;
    }
    this.requestUpdate();
  }

  #go(to: number, isExtending: boolean): void {
    this.#cursor = to;
    if (!isExtending) this.#anchor = to;
    const from = Math.min(this.#anchor, to);
    this.session?.select(from, Math.abs(this.#anchor - to) + 1, true);
  }

  readonly #goto = (event: SubmitEvent): void => {
    event.preventDefault();
    const input = this.renderRoot.querySelector('input') as HTMLInputElement;
    const offset = parseOffset(input.value);
    this.#isWrong = offset === null || offset >= (this.session?.size ?? 0);
    if (offset !== null && !this.#isWrong) {
      this.session?.select(offset, 1);
      input.value = '';
      this.renderRoot.querySelector<HTMLElement>('.scroller')?.focus();
    }
    this.requestUpdate();
  };
}

define('kernel-scope-hex', Hex);
