// <kernel-scope-occupancy>: how many blocks or workgroups of a launch a unit of the GPU holds at once, what limits that, and what would
// change it.

import { css, html, nothing, type PropertyValues } from 'lit';
import { isAbort, message } from '../client.ts';
import { typeInput } from '../inputs.ts';
import { figures as figuresOf } from '../occupancy.ts';
import type { OccupancyAnswer } from '../protocol.ts';
import type { Change } from '../session.ts';
import { figures } from '../style.ts';
import { count, name } from '../text.ts';
import './chart.ts';
import './form.ts';
import { define, Part } from './part.ts';

export class Occupancy extends Part {
  static override properties = { ...super.properties, rest: { attribute: false } };
  static override styles = [
    super.styles,
    figures,
    css`
      :host { display: block; padding: 12px 20px 20px; }
      .facts { grid-template-columns: repeat(5, minmax(0, 1fr)); margin-block: 14px 0; }
      .facts dd { overflow-wrap: anywhere; }
      h3 { font: 600 13px var(--sans); margin: 20px 0 6px; }
      .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(260px, 100%), 1fr)); gap: 16px 28px; }
      kernel-scope-chart { max-inline-size: 480px; }
      .wide { overflow-x: auto; }
      table { border-collapse: collapse; min-inline-size: min(100%, 600px); font: 12.5px var(--mono); }
      th { text-align: start; font: 600 12px var(--sans); color: var(--dim); padding: 3px 14px 3px 0; border-block-end: 1px solid var(--line);
        white-space: nowrap; }
      td { padding: 3.5px 14px 3.5px 0; border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); vertical-align: top; }
      .right { text-align: end; }
      .limit td { background: var(--wash); font-weight: 600; }
      summary { cursor: pointer; font: 600 13px var(--sans); margin-block: 20px 6px; }
      .failed { color: var(--error); }
      @container (max-width: 700px) {
        :host { padding-inline: 12px; }
        .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
        .facts div:nth-child(odd) { border-inline-start: 0; }
        .facts div:nth-child(n + 3) { border-block-start: 1px solid var(--line); }
      }
    `,
  ];

  /** The index of the kernel; nothing where there is one. */
  declare rest: string;
  /** The last answer: it stays while the next is on its way. */
  #answer: OccupancyAnswer | null = null;
  #isKnown = true;
  #failed = '';
  #asking: AbortController | undefined;

  constructor() {
    super();
    this.rest = '';
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#asking?.abort();
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('session') || properties.has('rest')) {
      this.#answer = null;
      void this.#ask();
    }
  }

  protected override changed(change: Change | null): void {
    if (change === 'typed' || change === 'reopened') void this.#ask();
  }

  get #kernel(): number {
    return Number.parseInt(this.rest, 10) || 0;
  }

  async #ask(): Promise<void> {
    const { session } = this;
    this.#asking?.abort();
    if (!session) return;
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    try {
      const answer = await session.call('occupancy', [this.#kernel, session.typed], { signal });
      if (signal.aborted) return;
      this.#isKnown = answer !== null;
      this.#answer = answer;
      this.#failed = '';
    } catch (error) {
      if (isAbort(error)) return;
      this.#failed = message(error);
    }
    this.requestUpdate();
  }

  override render() {
    const { session } = this;
    const answer = this.#answer;
    if (!session) return nothing;
    return html`
      ${this.#failed ? html`<p class="failed" role="alert">${this.#failed}</p>` : nothing}
      ${this.#isKnown ? nothing : html`<p>Nothing is known of what a GPU for this kernel holds at once.</p>`}
      ${answer ? this.#shown(answer, session.typed) : nothing}
    `;
  }

  #shown(answer: OccupancyAnswer, typed: string) {
    const { inputs, problems, charts, facts, limits, group, waves, most_waves: most, wave } = answer;
    return html`
      <kernel-scope-form .inputs=${inputs} .problems=${problems} .text=${typed} @type=${({ detail }: CustomEvent<string>) => this.#type(detail)}></kernel-scope-form>
      <dl class="facts" role="group" aria-label="Occupancy">${figuresOf(answer).map(
        ({ title, value, note }) => html`<div><dt>${title}</dt><dd><b>${value}</b><small>${note}</small></dd></div>`,
      )}</dl>
      <h3>What limits</h3>
      <div class="wide"><table aria-label="What limits">
        <thead><tr><th scope="col">Resource</th><th scope="col" class="right">Enough for ${group}s</th><th scope="col">How that is counted</th></tr></thead>
        <tbody>${limits.map(
          (limit) => html`<tr class=${limit.is_limit ? 'limit' : ''}>
            <td>${limit.name}${limit.is_limit ? html`<span class="unseen"> (this limits)</span>` : nothing}</td>
            <td class="right">${limit.groups === null ? 'any number' : count(limit.groups)}</td><td>${limit.note}</td></tr>`,
        )}</tbody>
      </table></div>
      <h3>If it were otherwise</h3>
      <div class="charts">${charts.map(
        (chart) => html`<kernel-scope-chart .chart=${chart} .most=${most} .waves=${waves ?? 0} .wave=${wave}
          @choose=${({ detail }: CustomEvent<number>) => this.#type(typeInput(typed, chart.input, String(detail)))}></kernel-scope-chart>`,
      )}</div>
      <details>
        <summary>The numbers that went into it, and who says so</summary>
        <div class="wide"><table aria-label="Numbers">
          <thead><tr><th scope="col">What</th><th scope="col" class="right">Value</th><th scope="col">Source</th></tr></thead>
          <tbody>${facts.map((fact) => html`<tr><td>${name(fact.name)}</td><td class="right">${name(fact.value)}</td><td>${name(fact.source, 400)}</td></tr>`)}</tbody>
        </table></div>
      </details>
    `;
  }

  #type(text: string): void {
    if (this.session) this.session.typed = text;
  }
}

define('kernel-scope-occupancy', Occupancy);
