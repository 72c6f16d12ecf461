// <kernel-scope-map>: every part of the file, to scale and as a table. What nothing claims and what is claimed twice stands out.

import { css, html, nothing } from 'lit';
import { gaps } from '../gaps.ts';
import type { Column } from '../protocol.ts';
import { composition } from '../roles.ts';
import { bytes, count, share } from '../text.ts';
import { define, Part } from './part.ts';
import './ribbon.ts';
import './table.ts';
import type { Table } from './table.ts';

export class MapView extends Part {
  static override properties = { ...super.properties, columns: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template: auto minmax(180px, 1fr) / minmax(0, 1fr); block-size: 100%; min-block-size: 0; }
      .above { padding: 12px 20px 2px; }
      .sum { margin-block-end: 8px; }
      .sum b { font-weight: 600; }
      kernel-scope-ribbon { --strip: 34px; padding: 0; }
      .roles { display: flex; flex-wrap: wrap; gap: 2px 4px; margin-inline: -7px; }
      .roles button { display: flex; align-items: center; gap: 7px; padding: 3px 7px; border-radius: 5px; white-space: nowrap; min-block-size: 24px; }
      .roles button:hover { background: var(--hover); }
      .roles [aria-pressed="true"] { background: var(--wash); box-shadow: inset 0 0 0 1px var(--line); font-weight: 600; }
      .roles .swatch { inline-size: 12px; block-size: 12px; border-radius: 2px; }
      .roles .twice { background: repeating-linear-gradient(45deg, var(--warning) 0 2px, transparent 2px 5px); }
      .roles .num { color: var(--dim); font-size: 12px; }
      @container (max-width: 700px) {
        .above { padding-inline: 12px; }
        .roles { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; }
      }
    `,
  ];

  declare columns: Column[];

  constructor() {
    super();
    this.columns = [];
  }

  override render() {
    const { session } = this;
    if (!session) return nothing;
    const { leaves, roles, size } = session;
    const found = gaps(leaves, roles);
    const filter = this.#table?.filter ?? '';
    const entry = (term: string, swatch: string, title: string, detail: string) =>
      html`<button aria-pressed=${filter === term} @click=${() => this.#filter(term)}>
        <i class="swatch ${swatch}"></i>${title} <span class="num">${detail}</span></button>`;
    return html`
      <div class="above">
        <p class="sum">${this.#sentence(found)}</p>
        <kernel-scope-ribbon .session=${session} .label=${'Map of the file, larger'}></kernel-scope-ribbon>
        <div class="roles" role="group" aria-label="Only parts of one kind">
          ${composition(leaves, roles).map((part) => entry(`role:${part.role}`, `role-${part.role}`, part.role, share(part.bytes, size)))}
          ${found.overlaps > 0 ? entry('shared:yes', 'twice', 'claimed twice', count(found.overlaps)) : nothing}
        </div>
      </div>
      <kernel-scope-table .session=${session} .table=${'map'} .columns=${this.columns} .label=${'Map'}
        @filtered=${() => this.requestUpdate()}></kernel-scope-table>
    `;
  }

  #sentence({ padding, unclaimed, overlaps, bytes: all }: ReturnType<typeof gaps>) {
    const parts = [
      [padding, 'of padding', 'role:padding'],
      [unclaimed, 'unclaimed', 'role:unclaimed'],
    ] as const;
    const link = (many: number, what: string, term: string) =>
      html`<button class="link" @click=${() => this.#filter(term)}>${count(many)} ${what}</button>`;
    const some = parts.filter(([many]) => many > 0);
    const gapCount = padding + unclaimed;
    const holes =
      gapCount === 0
        ? 'No gaps'
        : html`<b>${count(gapCount)} ${gapCount === 1 ? 'gap' : 'gaps'}</b>: ${some.map(([many, what, term], i) => html`${i > 0 ? ' and ' : ''}${link(many, what, term)}`)}`;
    const twice =
      overlaps === 0 ? 'no overlaps' : link(overlaps, overlaps === 1 ? 'overlap' : 'overlaps', 'shared:yes');
    return html`${holes}; ${twice}. Everything adds up to <b>${bytes(all)}</b>.`;
  }

  get #table(): Table | null {
    return this.renderRoot?.querySelector<Table>('kernel-scope-table') ?? null;
  }

  /** Only such parts; all again if it was so already. */
  #filter(term: string): void {
    const table = this.#table;
    if (table) table.filter = table.filter === term ? '' : term;
  }
}

define('kernel-scope-map', MapView);
