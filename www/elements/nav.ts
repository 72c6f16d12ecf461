// <kernel-scope-nav>: the tree of what the file has: the panels, and below each what its table has, by name. A name goes to its bytes.

import { css, html, nothing } from 'lit';
import { panels, parseView } from '../panels.ts';
import type { Change, Session } from '../session.ts';
import { type Bytes, holders, NAMES, ownOf, targetOf } from '../table.ts';
import { count, name } from '../text.ts';
import { act, type Node } from '../tree.ts';
import { define, Part } from './part.ts';

/** Names that are listed of a table; the table has the rest. */
const MOST = 200;

/** A row of a table. */
interface Row extends Bytes {
  /** Its name as the file has it. */
  name: string;
}

/** A row whose name is still on its way. */
const UNKNOWN: Row = { name: '', own: null, target: null };

/** A line of the tree: a panel, a row of its table, or what leads to the rows that are not listed. */
interface Item extends Node {
  /** The panel's key, and behind a `/` which row. */
  key: string;
  title: string;
  icon?: string;
  /** Of a panel, the view that it leads to, and whether it is shown. */
  leads?: string;
  isCurrent?: boolean;
  count?: string;
  row?: Row;
  /** Whether it has the selection's first byte. */
  isHere?: boolean;
  /** Which of how many of its level it is, from 1. */
  place: [at: number, of: number];
}

/** What stays of the tree while another file is shown. */
interface Kept {
  open: Set<string>;
  rows: Map<string, Row[]>;
}

export class Nav extends Part {
  static override styles = [
    super.styles,
    css`
      :host { display: block; overflow: auto; padding-block: 6px; border-inline-end: 1px solid var(--line); }
      .item { display: flex; align-items: baseline; gap: 9px; padding: 3.5px 16px 3.5px 4px; cursor: pointer; position: relative; }
      .item:hover { background: var(--hover); }
      .item:focus-visible { outline-offset: -2px; }
      .item[aria-current] { background: color-mix(in srgb, var(--accent) 13%, transparent); box-shadow: inset 3px 0 var(--accent); }
      .panel[aria-current] { font-weight: 600; }
      .item[aria-selected="true"] { background: var(--wash); box-shadow: inset 3px 0 var(--accent); }
      .twisty { inline-size: 22px; margin: -3.5px -10px -3.5px 0; align-self: stretch; display: grid; place-content: center start; padding-inline-start: 8px; color: var(--dim); }
      .twisty::before { content: ''; inline-size: 5px; block-size: 8px; clip-path: polygon(0 0, 100% 50%, 0 100%); background: currentColor;
        forced-color-adjust: none; }
      [aria-expanded="true"] > .twisty::before { rotate: 90deg; }
      .twisty:hover { color: var(--ink); }
      .twisty.no::before { content: none; }
      svg { inline-size: 13px; block-size: 13px; flex: none; align-self: center; fill: none; stroke: currentColor; stroke-width: 1.2; opacity: .6; }
      .count { margin-inline-start: auto; font: 12px var(--mono); color: var(--dim); }
      .row { padding: 2.5px 16px 2.5px 38px; font: 12px/18px var(--mono); }
      .row .name { overflow: hidden; text-overflow: ellipsis; white-space: pre; unicode-bidi: isolate; }
      .rest { font-family: var(--sans); color: var(--accent); }
      @media (forced-colors: active) {
        .item[aria-current] { outline: 2px solid Highlight; outline-offset: -2px; }
        .item[aria-selected="true"] { border-inline-start: 4px solid Highlight; padding-inline-start: 34px; }
      }
      @container (max-width: 700px) {
        :host { overflow-x: auto; border-inline-end: 0; border-block-end: 1px solid var(--line); padding: 0 6px; scrollbar-width: none; }
        .tree { display: flex; }
        .item { padding: 9px 8px; gap: 5px; white-space: nowrap; }
        .panel[aria-current] { box-shadow: inset 0 -3px var(--accent); background: none; }
        svg, .row, .twisty { display: none; }
      }
    `,
  ];

  #kept: Kept = { open: new Set(), rows: new Map() };
  #items: Item[] = [];
  /** The item that the Tab key comes to. */
  #at = '';
  /** Which file and view were shown last. */
  #shown = '';

  protected override changed(change: Change | null): void {
    const { session } = this;
    if (change === null && session) this.#keep(session);
    if (change === 'reopened') this.#kept.rows.clear();
    if (change === null || change === 'reopened') for (const key of this.#kept.open) void this.#load(key);
    if (change !== 'location' && change !== 'reveal' && change !== 'checking' && change !== 'survey')
      this.requestUpdate();
  }

  #keep(session: Session): void {
    const kept = (session.kept.get('tree') as Kept | undefined) ?? { open: new Set(['kernels']), rows: new Map() };
    session.kept.set('tree', kept);
    this.#kept = kept;
    this.#at = parseView(session.view).key;
  }

  /** Asks for the names of a table's rows, once. */
  async #load(table: string): Promise<void> {
    const { session } = this;
    const { rows } = this.#kept;
    if (!session?.summary.tables.some(({ key }) => key === table) || rows.has(table)) return;
    try {
      const [columns, window] = await Promise.all([
        session.call('columns', [table]),
        session.call('list', [table, 0, MOST]),
      ]);
      const at = columns.filter(({ unit }) => unit !== 'share').findIndex(({ key }) => key === NAMES[table]);
      const list = window.rows.map((cells, i): Row => {
        return { name: String(cells[at] ?? ''), own: ownOf(window, i), target: targetOf(window, i) };
      });
      rows.set(table, list);
      this.requestUpdate();
    } catch {
      // The names are a convenience: the table itself says what is wrong.
    }
  }

  #list(session: Session): Item[] {
    const { open, rows } = this.#kept;
    const all = panels(session);
    const current = all.find(({ leads }) => leads === session.view)?.key ?? parseView(session.view).key;
    return all.flatMap(({ key, title, icon, count: many, leads = key }, at): Item[] => {
      const hasRows = NAMES[key] !== undefined && Number(many) > 0;
      const isExpanded = hasRows ? open.has(key) : null;
      const counted = many === null ? {} : { count: count(many) };
      const panel: Item = {
        level: 1,
        key,
        title,
        label: title,
        icon,
        leads,
        isCurrent: key === current,
        isExpanded,
        place: [at + 1, all.length],
        ...counted,
      };
      if (!isExpanded) return [panel];
      // How many there are is known before their names: what stands below does not move when these come.
      const listed = rows.get(key) ?? Array<Row>(Math.min(Number(many), MOST)).fill(UNKNOWN);
      const isPart = listed.length > 0 && Number(many) > listed.length;
      const { offset, size } = session.selection;
      const here = new Set(size > 0 ? holders(listed, offset) : []);
      const below = listed.map((row, i): Item => {
        const label = row === UNKNOWN ? '…' : name(row.name) || `#${i}`;
        return {
          level: 2,
          key: `${key}/${i}`,
          title: name(row.name, 1000) || label,
          label,
          isExpanded: null,
          row,
          isHere: here.has(i),
          place: [i + 1, listed.length + Number(isPart)],
        };
      });
      const rest = `all ${count(many ?? 0)} in the table`;
      const place: Item['place'] = [listed.length + 1, listed.length + 1];
      if (isPart) below.push({ level: 2, key: `${key}/rest`, title: rest, label: rest, isExpanded: null, place });
      return [panel, ...below];
    });
  }

  override render() {
    const { session } = this;
    if (!session) return nothing;
    this.#items = this.#list(session);
    if (!this.#items.some(({ key }) => key === this.#at)) this.#at = parseView(session.view).key;
    return html`<div class="tree" role="tree" aria-label="What the file has" aria-multiselectable="true" @keydown=${this.#key} @click=${this.#clicked}>
      ${this.#items.map((item) => this.#item(item, session))}
    </div>`;
  }

  protected override updated(): void {
    const { session } = this;
    const shown = session ? `${session.file} ${session.view}` : '';
    if (shown === this.#shown) return;
    this.#shown = shown;
    // However the panel came to be shown: in a row of them, it can be out of view.
    const current = this.renderRoot.querySelector('.item[aria-current]');
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  #item(item: Item, session: Session) {
    const { key, title, label, icon, count: many, row, isHere, level, isExpanded, place } = item;
    const isCurrent = item.isCurrent ?? session.view === key;
    return html`<div role="treeitem" class="item ${level === 1 ? 'panel' : row ? 'row' : 'row rest'}" data-key=${key} tabindex=${key === this.#at ? 0 : -1}
      aria-level=${level} aria-posinset=${place[0]} aria-setsize=${place[1]} aria-expanded=${isExpanded ?? nothing} aria-current=${isCurrent ? 'page' : nothing}
      aria-selected=${isHere ?? nothing} title=${level === 2 ? title : nothing}>
      ${level === 1 ? html`<i class="twisty ${isExpanded === null ? 'no' : ''}"></i>` : nothing}
      ${icon ? html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d=${icon}></path></svg>` : nothing}
      <span class="name">${label}</span>
      ${many === undefined ? nothing : html`<span class="count">${many}</span>`}
    </div>`;
  }

  readonly #clicked = (event: MouseEvent): void => {
    const target = event.target as Element;
    const key = target.closest('.item')?.getAttribute('data-key');
    const item = this.#items.find((one) => one.key === key);
    if (!item) return;
    this.#at = item.key;
    if (target.closest('.twisty') && item.isExpanded !== null) this.#expand(item, !item.isExpanded);
    else this.#open(item);
    this.requestUpdate();
  };

  readonly #key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const focused = (event.target as Element).closest('.item')?.getAttribute('data-key');
    const at = this.#items.findIndex(({ key }) => key === focused);
    const item = this.#items[at];
    if (!item) return;
    if (event.key === 'Enter' || event.key === ' ') {
      this.#open(item);
    } else {
      const row = this.#rowKey(event.key);
      const done = row ? act(this.#panelsOnly, this.#panelsOnly.indexOf(item), row) : act(this.#items, at, event.key);
      if (!done) return;
      if ('isExpanded' in done) this.#expand(item, done.isExpanded);
      else void this.#focus((row ? this.#panelsOnly : this.#items)[done.to]);
    }
    event.preventDefault();
    event.stopPropagation();
  };

  /** Where there is little room the tree is a row of the panels, and the arrows go along it. */
  #rowKey(key: string): string | null {
    const tree = this.renderRoot.querySelector('.tree') as HTMLElement;
    if (getComputedStyle(tree).display !== 'flex') return null;
    return { ArrowRight: 'ArrowDown', ArrowLeft: 'ArrowUp' }[key] ?? key;
  }

  get #panelsOnly(): Item[] {
    return this.#items.filter(({ level }) => level === 1);
  }

  async #focus(item: Item | undefined): Promise<void> {
    if (!item) return;
    this.#at = item.key;
    this.requestUpdate();
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>('.item[tabindex="0"]')?.focus();
  }

  #expand({ key }: Item, isExpanded: boolean): void {
    const { open } = this.#kept;
    if (isExpanded) open.add(key);
    else open.delete(key);
    if (isExpanded) void this.#load(key);
    this.requestUpdate();
  }

  /** Shows a panel, or goes to the bytes of a row: a kernel has a view of its own besides. */
  #open({ key, row, level, leads }: Item): void {
    const { session } = this;
    if (!session) return;
    const { key: panel, rest } = parseView(key);
    const bytes = row?.target ?? row?.own;
    if (row && panel === 'members') {
      void session.openCell(panel, Number(rest));
      return;
    }
    if (level === 1 || !row) session.view = leads ?? panel;
    else if (panel === 'kernels') session.view = key;
    if (bytes) session.select(Number(bytes.offset), Number(bytes.size));
  }
}

define('kernel-scope-nav', Nav);
