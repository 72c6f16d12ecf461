// <kernel-scope-pieces>: the pieces of an image, one below the other, with where they are and what of them the file has. Only those that
// are visible are in the page.

import { css, html, nothing } from 'lit';
import type { ImageSpace } from '../image.ts';
import { Pages } from '../pages.ts';
import type { Column, Window } from '../protocol.ts';
import { leafAt } from '../ribbon.ts';
import type { Change } from '../session.ts';
import { styled } from '../styled.ts';
import { bytes, count, hex, name } from '../text.ts';
import { Virtual, virtualStyles } from '../virtual.ts';
import { define, Part } from './part.ts';

const ROW = 40;
const PAGE = 100;

interface Row {
  name: string;
  offset: number;
  size: number;
  /** Bytes that the file has. */
  stored: number;
}

export class Pieces extends Part {
  static override properties = { ...super.properties, space: { attribute: false }, columns: { attribute: false } };
  static override styles = [
    super.styles,
    virtualStyles,
    css`
      :host { display: block; min-block-size: 0; min-inline-size: 0; }
      .scroller:focus-visible { outline-offset: -2px; }
      [role="option"] { block-size: ${ROW}px; padding: 3px 14px 0 20px; display: grid; grid-template-columns: 10px minmax(0, 1fr); gap: 0 8px;
        align-items: center; cursor: pointer; white-space: nowrap; font-size: 12px; line-height: 17px; align-content: start; }
      [role="option"]:hover { background: var(--hover); }
      [aria-selected="true"], [aria-selected="true"]:hover { background: var(--wash); }
      .window { inline-size: 100%; }
      .file { overflow: hidden; text-overflow: ellipsis; font-size: 12.5px; overflow-wrap: normal; }
      .swatch { block-size: 10px; border-radius: 2px; }
      .dim { grid-column: 2; overflow: hidden; text-overflow: ellipsis; }
      .num { font-size: 11.5px; }
    `,
  ];

  declare space: ImageSpace | null;
  declare columns: readonly Column[];
  #total = 0;
  #heard: (() => void) | undefined;
  readonly #pages = new Pages<Row[]>(
    (page, signal) => this.#fetch(page, signal),
    () => this.requestUpdate(),
    20,
  );
  readonly #virtual = new Virtual(this, () => this.#total, ROW);

  constructor() {
    super();
    this.space = null;
    this.columns = [];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#listen();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#heard?.();
  }

  /** What concerns it is heard from the space. */
  protected override changed(_change: Change | null): void {}

  protected override willUpdate(properties: Map<PropertyKey, unknown>): void {
    super.willUpdate(properties);
    if (properties.has('space')) this.#listen();
  }

  #listen(): void {
    const { space } = this;
    this.#heard?.();
    this.#heard = space?.listen((change) => {
      if (change === 'selection' || change === 'location' || change === 'reopened') this.requestUpdate();
    });
    this.#pages.clear();
    this.#total = space?.session.countOf(space.key) ?? 0;
    this.#virtual.top = 0;
  }

  async #fetch(page: number, signal: AbortSignal): Promise<Row[]> {
    const { space } = this;
    if (!space) return [];
    const { rows }: Window = await space.session.call('rows', [space.key, page * PAGE, PAGE], { signal });
    const at = (key: string) => this.columns.findIndex((column) => column.key === key);
    const [named, offset, size, stored] = ['name', 'offset', 'size', 'file_size'].map(at);
    return rows.map((row) => ({
      name: String(row[named ?? 0] ?? ''),
      offset: Number(row[offset ?? 0]),
      size: Number(row[size ?? 0]),
      stored: Number(row[stored ?? 0]),
    }));
  }

  #row(index: number): Row | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  override render() {
    const { space } = this;
    if (!space) return nothing;
    const { first, count: many, shift } = this.#virtual.visible;
    const indices = Array.from({ length: many }, (_, i) => first + i);
    const chosen = indices.find((index) => this.#isChosen(this.#row(index)));
    return html`<div class="scroller" role="listbox" tabindex="0" aria-label="Pieces of the image" aria-activedescendant=${chosen === undefined ? nothing : `piece${chosen}`}
      @keydown=${this.#key}>
      <div class="window" role="presentation"><div role="presentation" ${styled({ transform: `translateY(${-shift}px)` })}>${indices.map((index) => this.#piece(space, index))}</div></div>
      <div class="spacer"></div>
    </div>`;
  }

  #piece(space: ImageSpace, index: number) {
    const row = this.#row(index);
    const role = space.roles[space.leaves.role[leafAt(space.leaves, row?.offset ?? 0)] ?? 0];
    const from = !row
      ? ''
      : row.stored === 0
        ? 'zeros'
        : row.stored < row.size
          ? `${count(row.stored)} from the file`
          : 'from the file';
    return html`<div role="option" id="piece${index}" aria-selected=${this.#isChosen(row)} aria-setsize=${this.#total} aria-posinset=${index + 1}
      title=${row ? `${name(row.name)} · ${hex(row.offset)}–${hex(row.offset + row.size)}` : nothing} @click=${() => this.#choose(index)}>${
        row
          ? html`<i class="swatch role-${role}"></i><span class="file">${name(row.name, 80)}</span>
            <span class="dim"><span class="num">${hex(row.offset)}</span> · ${bytes(row.size)} · ${from}</span>`
          : nothing
      }</div>`;
  }

  #isChosen(row: Row | undefined): boolean {
    const { offset, size } = this.space?.selection ?? { offset: 0, size: 0 };
    return row !== undefined && size > 0 && offset >= row.offset && offset < row.offset + row.size;
  }

  #choose(index: number): void {
    const row = this.#row(index);
    if (row) this.space?.select(row.offset, Math.max(1, row.size));
  }

  readonly #key = (event: KeyboardEvent): void => {
    const { first, count: many } = this.#virtual.visible;
    let at = first - 1;
    for (let index = first; index < first + many; index++) if (this.#isChosen(this.#row(index))) at = index;
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.#total - 1 };
    const to = moves[event.key];
    if (to === undefined || this.#total === 0) return;
    event.preventDefault();
    const index = Math.min(Math.max(0, to), this.#total - 1);
    this.#virtual.reveal(index);
    this.#choose(index);
  };
}

define('kernel-scope-pieces', Pieces);
