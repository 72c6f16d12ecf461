// <kernel-scope-size>: why a file is so big: rectangles as large as what they stand for, and the same as a table. What is chosen in one
// is marked in the other.

import { css, html, nothing, type PropertyValues } from 'lit';
import { isAbort, message } from '../client.ts';
import { save } from '../out.ts';
import type { Cell, Column } from '../protocol.ts';
import type { Change, Session } from '../session.ts';
import { holder, type Measure, type SizeNode, type SizeRow, type SizeView } from '../sizes.ts';
import { styled } from '../styled.ts';
import { bytes, name, share } from '../text.ts';
import { type Box, neighbour, squarify } from '../treemap.ts';
import { type Picture, treemapSvg } from '../treemap-svg.ts';
import { define, Part } from './part.ts';
import './survey.ts';
import './table.ts';
import type { Leads, Table } from './table.ts';
import { observeSelf, roomObserver } from './width.ts';

/** Rectangles, at most. */
const MOST = 320;
/** Pixels: the line above what is in a rectangle, and what it needs to have one; around it. */
const TITLE = 17;
const DEEP = 46;
const WIDE = 40;
const GAP = 1;
const MARGIN = 16;
/** A rectangle has a name where there is room for one. */
const NAMED = { width: 34, height: 15 };
/** How high the map is: half of the room, so that the table has the other; where all is scrolled, so many pixels. */
const HEIGHT = { least: 150, most: 440, narrow: 300 };
const NARROW = 660;

/** What the element shows, kept while something else is shown. */
interface Kept {
  measure: Measure;
  /** The row whose rectangle is the whole. */
  top: number;
  /** The row that is chosen. */
  at: number;
}

interface Drawn extends Picture {
  node: SizeNode;
}

export class Size extends Part {
  static override properties = { ...super.properties, columns: { attribute: false }, room: { state: true } };
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template: auto minmax(200px, 1fr) / minmax(0, 1fr); block-size: 100%; min-block-size: 0; }
      .above { padding: 10px ${MARGIN}px 4px; min-inline-size: 0; }
      .line { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; margin-block-end: 6px; }
      ol { display: flex; flex-wrap: wrap; min-inline-size: 0; }
      li:not(:first-child)::before { content: '›'; color: var(--dim); margin-inline: 6px; }
      .by { display: flex; gap: 12px; margin-inline-start: auto; color: var(--dim); }
      .by [aria-pressed="true"] { color: var(--ink); font-weight: 600; }
      .map { position: relative; overflow: hidden; border-radius: 3px; background: var(--pane); }
      .map button { position: absolute; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; font: 11px/15px var(--sans); padding: 0 3px; text-align: start;
        vertical-align: top; display: block; border: 1px solid color-mix(in srgb, var(--ink) 22%, transparent); border-radius: 2px; unicode-bidi: isolate;
        background: color-mix(in srgb, var(--tint, var(--dim)) 26%, var(--paper)); color: var(--ink); line-height: 15px; }
      .map button > span { position: absolute; inset: 0 3px auto; overflow: hidden; text-overflow: ellipsis; }
      .map .role-padding, .map .role-unclaimed { background: repeating-linear-gradient(135deg, color-mix(in srgb, var(--tint) 45%, var(--paper)) 0 3px, var(--paper) 3px 6px); }
      .map button.outer { background: var(--pane); font-weight: 600; }
      .map .again { background-image: repeating-linear-gradient(45deg, color-mix(in srgb, var(--warning) 40%, transparent) 0 2px, transparent 2px 7px); }
      .map button:hover { border-color: var(--ink); }
      .map button[aria-pressed="true"] { box-shadow: inset 0 0 0 2px var(--accent); border-color: var(--accent); }
      .map button:focus-visible { outline-offset: -2px; z-index: 1; }
      .said { min-block-size: 1.6em; font-size: 12.5px; margin-block-start: 4px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
      .error { color: var(--error); }
      @container (max-width: 700px) {
        :host { grid-template-rows: auto minmax(320px, auto); block-size: auto; min-block-size: 100%; }
        .said { white-space: normal; }
        kernel-scope-table { block-size: 420px; }
        .by button { min-block-size: 32px; }
      }
      @media (forced-colors: active) {
        .map button { forced-color-adjust: none; background: Canvas; color: CanvasText; border-color: CanvasText; }
        .map button[aria-pressed="true"] { outline: 3px solid Highlight; outline-offset: -3px; }
      }
      @media print {
        :host { block-size: auto; display: block; }
        .map { print-color-adjust: exact; break-inside: avoid; }
        .by { display: none; }
      }
    `,
  ];

  declare columns: Column[];
  declare room: { width: number; height: number };
  #view: SizeView | null = null;
  #drawn: Drawn[] = [];
  /** The rectangle that the keyboard is on, and the one that is pointed at. */
  #focus = 0;
  #pointed: SizeNode | null = null;
  #asking: AbortController | undefined;
  #failed = '';
  constructor() {
    super();
    this.columns = [];
    this.room = { width: 0, height: 0 };
    observeSelf(
      this,
      roomObserver((width, height) => {
        if (width !== this.room.width || height !== this.room.height) this.room = { width, height };
      }),
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#asking?.abort();
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('session')) {
      this.#view = null;
      void this.#ask();
    }
  }

  protected override changed(change: Change | null): void {
    super.changed(change);
    if (change === 'surveyed' || change === 'reopened') void this.#ask();
  }

  get #kept(): Kept {
    const kept = (this.session?.kept.get('size') as Kept | undefined) ?? { measure: 'stored', top: 0, at: -1 };
    this.session?.kept.set('size', kept);
    return kept;
  }

  async #ask(): Promise<void> {
    const { session } = this;
    if (!session) return;
    this.#asking?.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const { top, measure } = this.#kept;
    try {
      this.#view = await session.call('sizes', [top, measure, MOST], { signal });
      this.#failed = '';
    } catch (error) {
      if (isAbort(error)) return;
      this.#failed = message(error);
    }
    this.requestUpdate();
  }

  override render() {
    const { session } = this;
    if (!session) return nothing;
    const { measure, at } = this.#kept;
    const view = this.#view;
    const isNarrow = this.room.width < NARROW;
    const width = Math.max(0, this.room.width - 2 * MARGIN);
    const half = Math.min(HEIGHT.most, Math.max(HEIGHT.least, Math.floor(this.room.height / 2)));
    const height = isNarrow ? HEIGHT.narrow : half;
    this.#drawn = view ? drawn(view.node, { x: 0, y: 0, width, height }) : [];
    this.#focus = Math.min(this.#focus, Math.max(0, this.#drawn.length - 1));
    const marked = holder(
      this.#drawn.map(({ node }) => node),
      at,
    );
    const by = (key: Measure, title: string) =>
      html`<button aria-pressed=${measure === key} @click=${() => this.#measure(key)}>${title}</button>`;
    return html`
      <div class="above">
        <kernel-scope-survey flush .session=${session}></kernel-scope-survey>
        <div class="line">
          <nav aria-label="What is shown"><ol>${view?.above.map((row) => html`<li><button class="link" @click=${() => this.#zoom(row.row)}>${titleOf(row)}</button></li>`)}
            <li aria-current="true">${view ? titleOf(view.node) : ''}</li></ol></nav>
          <div class="by" role="group" aria-label="Measured by">${by('stored', 'stored')}${by('unpacked', 'unpacked')}
            <button class="link" @click=${this.#save}>Save as SVG…</button></div>
        </div>
        <div class="map" role="group" aria-label="Sizes as rectangles; the table below has the same" ${styled({ 'block-size': `${height}px` })}
          @keydown=${this.#key} @pointerleave=${() => this.#point(null)}>${this.#drawn.map((one, i) => this.#box(one, i, i === marked))}</div>
        <p class="said" aria-hidden="true">${this.#said(session)}</p>
        ${this.#failed ? html`<p class="error" role="alert">${this.#failed}</p>` : nothing}
      </div>
      <kernel-scope-table .session=${session} .table=${'size'} .columns=${this.columns} .label=${'Sizes'} .leads=${leadsOf(session, this.columns)}
        @at=${this.#marked}></kernel-scope-table>
    `;
  }

  #box({ node, box, isOuter }: Drawn, i: number, isMarked: boolean) {
    const isNamed = box.width >= NAMED.width && box.height >= NAMED.height;
    const style = {
      left: `${box.x}px`,
      top: `${box.y}px`,
      width: `${box.width}px`,
      height: `${box.height}px`,
    };
    return html`<button class="${node.role ? `role-${node.role}` : ''} ${isOuter ? 'outer' : ''} ${node.sameAs ? 'again' : ''}" ${styled(style)}
      tabindex=${i === this.#focus ? 0 : -1} aria-pressed=${isMarked} aria-label=${this.#words(node)} data-at=${i}
      @click=${() => this.#choose(i)} @pointerenter=${() => this.#point(node)} @focus=${() => this.#point(node)}
      >${isNamed ? html`<span>${titleOf(node)}</span>` : nothing}</button>`;
  }

  /** What is to be said of a rectangle. */
  #words(node: SizeNode): string {
    const { stored, unpacked, isShare, sameAs } = node;
    const size = this.session?.size ?? 0;
    return [
      titleOf(node, 200),
      `${bytes(stored)} stored, ${share(stored, size)}${isShare ? ' (its share of what is packed together)' : ''}`,
      ...(unpacked !== null && unpacked !== stored ? [`${bytes(unpacked)} unpacked`] : []),
      ...(sameAs ? [`same bytes as ${name(sameAs, 120)}`] : []),
    ].join(' · ');
  }

  #said(session: Session) {
    if (this.#pointed) return this.#words(this.#pointed);
    return this.#view ? this.#words(this.#view.node) : session.name;
  }

  #point(node: SizeNode | null): void {
    if (this.#pointed === node) return;
    this.#pointed = node;
    this.requestUpdate();
  }

  #measure(measure: Measure): void {
    this.#kept.measure = measure;
    void this.#ask();
  }

  /** Makes a row's rectangle the whole. */
  #zoom(row: number): void {
    this.#kept.top = row;
    this.#focus = 0;
    this.#pointed = null;
    void this.#ask();
  }

  /** Chooses a rectangle: it is marked in the table, and where it has others in it, it becomes the whole. */
  #choose(i: number): void {
    const node = this.#drawn[i]?.node;
    this.#focus = i;
    if (!node || node.row < 0) return;
    this.#kept.at = node.row;
    void this.renderRoot.querySelector<Table>('kernel-scope-table')?.reveal(node.row);
    if (node.next > node.row + 1) this.#zoom(node.row);
    else this.requestUpdate();
  }

  /** A row of the table was gone to. */
  readonly #marked = ({ detail }: CustomEvent<number>): void => {
    this.#kept.at = detail;
    this.requestUpdate();
  };

  readonly #key = (event: KeyboardEvent): void => {
    const up = this.#view?.above.at(-1);
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Escape' || event.key === 'Backspace') {
      if (!up) return;
      this.#zoom(up.row);
    } else if (event.key.startsWith('Arrow')) {
      // What is in a rectangle is beside it, too: only those with nothing in them, and their outer ones' names.
      const to = neighbour(
        this.#drawn.map(({ box, isOuter }) => (isOuter ? { ...box, height: TITLE } : box)),
        this.#focus,
        event.key,
      );
      if (to === null) return;
      this.#focus = to;
      this.requestUpdate();
      void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(`[data-at="${to}"]`)?.focus());
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  readonly #save = (): void => {
    const view = this.#view;
    if (!view) return;
    const picture = drawn(view.node, { x: 0, y: 0, width: 1000, height: 560 });
    const title = `${this.session?.name ?? ''}: ${[...view.above, view.node].map((row) => titleOf(row)).join(' › ')}, ${
      this.#kept.measure
    }`;
    const text = treemapSvg(picture, title, this.#words(view.node), { width: 1000, height: 560 });
    save(new Blob([text], { type: 'image/svg+xml' }), `${this.session?.name}.size.svg`);
  };
}

/** Rectangles of what is in a row, those that others are in before these. */
function drawn(of: SizeNode, box: Box): Drawn[] {
  const inner = of.within;
  return squarify(
    inner.map(({ value }) => value),
    box,
  ).flatMap((one, i): Drawn[] => {
    const node = inner[i];
    const room = {
      x: one.x + GAP,
      y: one.y + GAP,
      width: Math.max(0, one.width - GAP),
      height: Math.max(0, one.height - GAP),
    };
    if (!node || room.width < 2 || room.height < 2) return [];
    const isOuter = node.within.length > 0 && room.height >= DEEP && room.width >= WIDE;
    const self = { node, box: room, isOuter, title: titleOf(node), role: node.role };
    if (!isOuter) return [self];
    const within = { x: room.x + 2, y: room.y + TITLE, width: room.width - 4, height: room.height - TITLE - 2 };
    return [self, ...drawn(node, within)];
  });
}

/** What a row is called. */
function titleOf({ name: called, what, row }: SizeRow, limit = 60): string {
  const isArch = what === 'machine code' || what === 'PTX' || what === 'IR';
  return `${name(called, limit)}${isArch && row >= 0 ? ` ${what}` : ''}`;
}

const leads = new WeakMap<readonly Column[], Leads>();

/** Where cells of the table lead: members open in tabs of their own. */
function leadsOf(session: Session, columns: readonly Column[]): Leads {
  let of = leads.get(columns);
  if (!of) {
    const isMember = columns.findIndex(({ key }) => key === 'is_member');
    const lead = (column: string) => ({
      title: 'Open it in a tab of its own (Enter)',
      isLink: (cell: Cell | undefined, cells: readonly Cell[]) => cells[isMember] === true && typeof cell === 'string',
      go: (_: Cell | undefined, index: number) => session.openCell('size', index, column),
    });
    of = { name: lead('name'), same_as: lead('same_as') };
    leads.set(columns, of);
  }
  return of;
}

define('kernel-scope-size', Size);
