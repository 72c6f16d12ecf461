// <kernel-scope-summary>: the answers first: the kernels, what the file is made of, what is wrong with it.

import { css, html, nothing } from 'lit';
import type { Gpu } from '../gpus.ts';
import type { Cell, Column, Diagnostic, KernelDetail, Window } from '../protocol.ts';
import { composition } from '../roles.ts';
import { styled } from '../styled.ts';
import { cellText, fullText, isRight, isUnknown, unknownText } from '../table.ts';
import { bytes, count, share } from '../text.ts';
import './findings.ts';
import './gpus.ts';
import './kernel.ts';
import { define, Part } from './part.ts';
import './wide.ts';
import { observeSelf, widthObserver } from './width.ts';

/** Pixels below which columns of these tables stand below others. */
const NARROW = 560;
const BELOW: Record<string, Record<string, string>> = {
  archs: { code: 'target', stored_size: 'size', compression: 'size' },
};

/** The first rows of a table. */
export interface Rows {
  columns: Column[];
  window: Window;
}

export interface SummaryData {
  /** The bytes are those of a dump, or may be. */
  mayBeDump: boolean;
  /** No GPU code is told of. */
  isSilent: boolean;
  /** What failed, by a core dump. */
  exceptions: Rows | null;
  /** The only kernel. */
  kernel: KernelDetail | null;
  /** The first of several kernels. */
  kernels: Rows | null;
  /** The architectures of what the file holds, and the first members. */
  archs: Rows | null;
  members: Rows | null;
  /** The kernels of all members that need the most registers. */
  across: Rows | null;
  findings: Diagnostic[];
  /** GPUs, and whether the code runs on them; none where that is not known. */
  gpus: Gpu[];
}

const FINDINGS = 4;
/** Characters of a cell. */
const MOST = 90;

export class SummaryView extends Part {
  static override properties = { ...super.properties, data: { attribute: false }, width: { state: true } };
  static override styles = [
    super.styles,
    css`
      :host { display: block; padding: 12px 20px 20px; }
      h3 { font: 600 13px var(--sans); margin: 20px 0 6px; }
      .columns:first-child h3, .lead:first-child, kernel-scope-survey:first-child + .lead { margin-block-start: 2px; }
      .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(340px, 100%), 1fr)); gap: 0 40px; }
      .roles li { display: grid; grid-template-columns: 12px 6.2em minmax(3em, 1fr) auto 5em; gap: 10px; align-items: center; padding: 2.5px 0; }
      .roles .swatch { inline-size: 12px; block-size: 12px; border-radius: 2px; }
      .bar { block-size: 8px; border-radius: 2px; min-inline-size: 1px; }
      .roles .num { text-align: end; color: var(--dim); font-size: 12px; }
      table { border-collapse: collapse; inline-size: 100%; font: 12.5px var(--mono); }
      th { text-align: start; font: 600 12px var(--sans); color: var(--dim); padding: 3px 10px 3px 0; border-block-end: 1px solid var(--line); white-space: nowrap; }
      td { vertical-align: top; padding: 3.5px 10px 3.5px 0; border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); unicode-bidi: isolate; white-space: nowrap; }
      td:first-child { white-space: normal; overflow-wrap: anywhere; min-inline-size: 10em; }
      .right { text-align: end; }
      .under { color: var(--dim); font-size: 11px; white-space: normal; }
      .more { margin-block-start: 6px; }
      @container (max-width: 700px) {
        :host { padding-inline: 12px; }
        .few td:first-child { min-inline-size: 7em; }
      }
    `,
  ];

  declare data: SummaryData | null;
  declare width: number;

  constructor() {
    super();
    this.data = null;
    this.width = 800;
    observeSelf(this, widthObserver(this));
  }

  override render() {
    const { session, data } = this;
    if (!session || !data) return nothing;
    return html`
      ${data.isSilent ? html`<kernel-scope-carve flush .session=${session}></kernel-scope-carve>` : nothing}
      ${data.mayBeDump ? html`<kernel-scope-read .session=${session}></kernel-scope-read>` : nothing}
      ${this.#rows('exceptions', 'Exceptions', data.exceptions, () => this.#show('exceptions'))}
      ${data.kernel ? html`<kernel-scope-kernel .session=${session} .kernel=${data.kernel} .brief=${true}></kernel-scope-kernel>` : nothing}
      <kernel-scope-survey flush .session=${session}></kernel-scope-survey>
      ${this.#rows('archs', 'Architectures', data.archs)}
      ${data.archs ? this.#gpus(data.gpus, 'lead') : nothing}
      ${this.#rows('members', 'Members', data.members, (index) => session.openCell('members', index))}
      ${this.#rows('across', 'Kernels across members', data.across, () => this.#show('across'))}
      ${this.#rows('kernels', 'Kernels', data.kernels, (index) => this.#show(`kernels/${index}`))}
      <div class="columns">
        <section><h3>What it is made of</h3>${this.#composition()}</section>
        <section>
          <h3>Findings</h3>${this.#findings(data.findings)}
          ${data.archs ? nothing : this.#gpus(data.gpus, '')}
        </section>
      </div>
    `;
  }

  /** The first rows of a table; what they are called leads somewhere. */
  #rows(table: string, title: string, rows: Rows | null, go?: (index: number) => void) {
    if (!rows || rows.window.rows.length === 0) return nothing;
    const { columns, window } = rows;
    const all = Math.max(window.matched, this.session?.countOf(table) ?? 0);
    const told = columns.flatMap((column, index) =>
      column.is_shown && column.unit !== 'hex' ? [{ column, index }] : [],
    );
    const isFew = this.width < NARROW && BELOW[table] !== undefined;
    const below = (isFew && BELOW[table]) || {};
    const shown = told.filter(({ column }) => !below[column.key]);
    const under = (key: string) => told.filter(({ column }) => below[column.key] === key);
    return html`
      <h3 class="lead">${title} · ${count(all)}</h3>
      <kernel-scope-wide label=${title}><table aria-label=${title} class=${isFew ? 'few' : ''}>
        <thead><tr>${shown.map(({ column }) => html`<th scope="col" class=${isRight(column) ? 'right' : ''}>${column.title}</th>`)}</tr></thead>
        <tbody>${window.rows.map(
          (row, i) =>
            html`<tr>${shown.map(({ column, index }, at) => {
              const text = this.#cell(columns, row, index);
              return html`<td class=${isRight(column) ? 'right' : ''} title=${fullText(row[index], column, text) ?? nothing}>
                ${at === 0 && go ? html`<button class="link" @click=${() => go(window.index[i] ?? i)}>${text}</button>` : text}
                ${under(column.key).map(({ column, index }) => html`<div class="under">${this.#under(column, this.#cell(columns, row, index))}</div>`)}</td>`;
            })}</tr>`,
        )}</tbody>
      </table></kernel-scope-wide>
      ${
        all > window.rows.length
          ? html`<p class="more"><button class="link" @click=${() => this.#show(table)}>All ${count(all)} ${title.toLowerCase()}</button></p>`
          : nothing
      }
    `;
  }

  /** A cell that stands below another; what numbers are of is said. */
  #under(column: Column, text: string): string {
    return text && isRight(column) ? `${column.title.toLowerCase()} ${text}` : text;
  }

  #cell(columns: Column[], row: Cell[], index: number): string {
    const column = columns[index] as Column;
    const isOpen = row[index] !== null || !isUnknown(columns, row, column);
    return isOpen
      ? cellText(row[index], column, MOST)
      : unknownText(columns, row, this.session?.survey.isStopped ?? false);
  }

  /** Of what holds others it comes right after what these are for. */
  #gpus(gpus: Gpu[], lead: string) {
    if (gpus.length === 0) return nothing;
    return html`<section><h3 class=${lead}>Runs on</h3>
      ${this.session?.survey.hides ? html`<p class="dim">Not all members are opened yet: they may have more.</p>` : nothing}
      <kernel-scope-gpus .session=${this.session} .gpus=${gpus}></kernel-scope-gpus></section>`;
  }

  #composition() {
    const { session } = this;
    if (!session) return nothing;
    const parts = composition(session.leaves, session.roles);
    const most = Math.max(...parts.map((part) => part.bytes));
    return html`<ul class="roles">${parts.map(
      ({ role, bytes: many, first }) => html`<li>
        <i class="swatch role-${role}"></i>
        <button class="role" title="Go to the first of them" @click=${() => session.select(first.offset, first.size)}>${role}</button>
        <i class="bar swatch role-${role}" ${styled({ width: `${(many / most) * 100}%` })}></i>
        <span class="num">${bytes(many)}</span>
        <span class="num">${share(many, session.size)}</span>
      </li>`,
    )}</ul>`;
  }

  #findings(findings: Diagnostic[]) {
    const rest = findings.length - FINDINGS;
    return html`
      <kernel-scope-findings bare .session=${this.session} .findings=${findings} .most=${FINDINGS}></kernel-scope-findings>
      ${rest > 0 ? html`<p class="more"><button class="link" @click=${() => this.#show('diagnostics')}>All ${count(findings.length)} findings</button></p>` : nothing}
    `;
  }

  #show(view: string): void {
    if (this.session) this.session.view = view;
  }
}

define('kernel-scope-summary', SummaryView);
