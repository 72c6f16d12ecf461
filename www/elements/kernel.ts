// <kernel-scope-kernel>: a kernel: its six numbers, then its parameters and attributes. Rows select the bytes that say so.

import { css, html, nothing } from 'lit';
import { bytesOf, type Cells, facts, type List, lead, lists } from '../kernel.ts';
import type { KernelDetail, StructRecord, Window } from '../protocol.ts';
import type { Change } from '../session.ts';
import { figures } from '../style.ts';
import { count, name } from '../text.ts';
import { define, Part } from './part.ts';
import './wide.ts';

/** Rows of a list that are shown. */
export const ROWS = 400;

export class Kernel extends Part {
  static override properties = {
    ...super.properties,
    kernel: { attribute: false },
    index: { attribute: false },
    rows: { attribute: false },
    kernarg: { attribute: false },
    brief: { attribute: false },
  };
  static override styles = [
    super.styles,
    figures,
    css`
      :host { display: block; }
      h2 { font: 600 18px/1.3 var(--mono); letter-spacing: -.01em; }
      .lead { color: var(--dim); margin: 2px 0 12px; max-inline-size: 78ch; }
      h3 { font: 600 13px var(--sans); margin: 20px 0 4px; }
      table { border-collapse: collapse; min-inline-size: min(100%, 600px); font: 12.5px var(--mono); }
      th { text-align: start; font: 600 12px var(--sans); color: var(--dim); padding: 3px 14px; border-block-end: 1px solid var(--line);
        white-space: nowrap; }
      td { padding: 3.5px 14px; border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); vertical-align: top;
        unicode-bidi: isolate; overflow-wrap: anywhere; }
      .right { text-align: end; white-space: nowrap; }
      .word { color: var(--dim); }
      tr.placed { cursor: default; }
      tr.placed:hover td { background: var(--hover); }
      tr.on td { background: var(--wash); }
      tr.on td:first-child { box-shadow: inset 3px 0 var(--accent); }
      td button { text-align: inherit; }
      @container (max-width: 700px) {
        th, td { padding-inline: 6px; }
        th.word, td.word { display: none; }
        td:first-child { overflow-wrap: normal; white-space: nowrap; }
      }
    `,
  ];

  declare kernel: KernelDetail | null;
  /** Its index in the table of kernels. */
  declare index: number;
  /** The first of its attributes, if it is a cubin's. */
  declare rows: Window | null;
  /** What a dispatch passes to it, if it is a code object's. */
  declare kernarg: StructRecord | null;
  /** Only the numbers. */
  declare brief: boolean;

  constructor() {
    super();
    this.kernel = null;
    this.index = 0;
    this.rows = null;
    this.kernarg = null;
    this.brief = false;
  }

  protected override changed(change: Change | null): void {
    if (change === 'selection' || change === 'location') this.requestUpdate();
  }

  override render() {
    const { kernel, session } = this;
    if (!kernel) return nothing;
    const place = bytesOf(kernel);
    const isCubin = kernel.family === 'cubin';
    const what = isCubin ? 'code' : 'descriptor';
    return html`
      <h2 class="file">${name(kernel.name)}</h2>
      <p class="lead">${lead(kernel)}
        ${place ? html`<button class="link" @click=${() => session?.select(place.offset, place.size)}>Go to its ${what}</button>` : nothing}
        · <button class="link" @click=${() => this.#show('kernels', '/code')}>Its ${isCubin ? 'instructions' : 'code'}</button>
        · <button class="link" @click=${() => this.#show('launch')}>Launch</button>
        · <button class="link" @click=${() => this.#show('occupancy')}>Occupancy</button>
        ${this.brief ? html`· <button class="link" @click=${() => this.#show('kernels')}>${isCubin ? 'Parameters and attributes' : 'Arguments and registers'}</button>` : nothing}
      </p>
      <dl class="facts">${facts(kernel).map(
        ({ title, value, note }) => html`<div><dt>${title}</dt><dd><b>${value}</b><small>${note}</small></dd></div>`,
      )}</dl>
      ${this.brief ? nothing : lists(kernel, this.rows, this.kernarg).map((list) => this.#list(list))}
    `;
  }

  #list({ title, columns, rows, total = rows.length }: List) {
    const tone = (i: number) => `${columns[i]?.isRight ? 'right' : ''} ${columns[i]?.isWord ? 'word' : ''}`;
    return html`
      <h3>${title}</h3>
      <kernel-scope-wide label=${title}><table aria-label=${title}>
        <thead><tr>${columns.map((column, i) => html`<th scope="col" class=${tone(i)}>${column.title}</th>`)}</tr></thead>
        <tbody>${rows.slice(0, ROWS).map((row) => this.#row(row, tone))}</tbody>
      </table></kernel-scope-wide>
      ${total > ROWS ? html`<p class="dim">and ${count(total - ROWS)} more</p>` : nothing}
    `;
  }

  #row({ cells, place, field, link }: Cells, tone: (i: number) => string) {
    const { selection, record } = this.session ?? {};
    const chosen = selection?.field === null ? undefined : record?.fields[selection?.field ?? -1];
    const isThere = place !== null && selection?.offset === place.offset && selection.size === place.size;
    const isOn = isThere && (!field || (chosen !== undefined && field(chosen)));
    const go = () => {
      if (!place) return;
      if (field) void this.session?.selectWhere(place.offset, place.size, field);
      else this.session?.select(place.offset, place.size);
    };
    return html`<tr class="${place ? 'placed' : ''} ${isOn ? 'on' : ''}" @click=${go}>${cells.map((cell, i) => {
      const text = name(cell, 400);
      const follow = link?.at === i ? this.#link(link.view, text) : text;
      return html`<td class=${tone(i)}>${place && i === 0 ? html`<button title="Go to the bytes that say so">${text}</button>` : follow}</td>`;
    })}</tr>`;
  }

  #link(view: string, text: string) {
    const go = (event: Event) => {
      event.stopPropagation(); // the row's own place stays unselected
      if (this.session) this.session.view = view;
    };
    return html`<button class="link" @click=${go}>${text}</button>`;
  }

  #show(panel: string, view = ''): void {
    if (this.session) this.session.view = `${panel}/${this.index}${view}`;
  }
}

define('kernel-scope-kernel', Kernel);
