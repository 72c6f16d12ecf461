// <kernel-scope-occupancy>: how many blocks or workgroups of a launch a unit of the GPU holds at once, what limits that, and what would
// change it.

import { css, html } from 'lit';
import { typeInput } from '../inputs.ts';
import { figures as figuresOf } from '../occupancy.ts';
import type { OccupancyAnswer } from '../protocol.ts';
import type { Session } from '../session.ts';
import { figures } from '../style.ts';
import { count, name } from '../text.ts';
import './chart.ts';
import { define } from './part.ts';
import './wide.ts';
import { Worked } from './worked.ts';

export class Occupancy extends Worked<OccupancyAnswer> {
  static override styles = [
    super.styles,
    figures,
    css`
      .facts { grid-template-columns: repeat(5, minmax(0, 1fr)); }
      .facts dd { overflow-wrap: anywhere; }
      h3 { font: 600 13px var(--sans); margin: 20px 0 6px; }
      .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(230px, 100%), 1fr)); gap: 16px 28px; }
      kernel-scope-chart { max-inline-size: 440px; }
      table { border-collapse: collapse; min-inline-size: min(100%, 560px); font: 12.5px var(--mono); }
      th { text-align: start; font: 600 12px var(--sans); color: var(--dim); padding: 3px 14px 3px 0; border-block-end: 1px solid var(--line);
        white-space: nowrap; }
      td { padding: 3.5px 14px 3.5px 0; border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); vertical-align: top; }
      td:first-child { white-space: nowrap; }
      .right { text-align: end; }
      .limit td { background: var(--wash); font-weight: 600; }
      summary { cursor: pointer; font: 600 13px var(--sans); margin-block: 20px 6px; }
      @container (max-width: 700px) {
        .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
        .facts div:nth-child(odd) { border-inline-start: 0; }
        .facts div:nth-child(even) { border-inline-start: 1px solid var(--line); }
        .facts div:nth-child(n + 3) { border-block-start: 1px solid var(--line); }
      }
    `,
  ];
  protected override readonly panel = 'occupancy';
  protected override readonly label = 'Kernels';
  protected override readonly about = 'how much of it runs at once';
  protected override readonly unknown = 'Nothing is known of what a GPU for this kernel holds at once.';

  protected override work(session: Session, index: number, text: string, signal: AbortSignal) {
    return session.call('occupancy', [index, text], { signal });
  }

  protected override answered(session: Session, _: number, answer: OccupancyAnswer) {
    const { charts, facts, limits, group, waves, most_waves: most, wave } = answer;
    const choose = (key: string, value: number) => {
      session.typed = typeInput(session.typed, key, String(value));
    };
    const said = figuresOf(answer);
    return html`
      <p class="unseen" role="status">${said.map(({ title, value }) => `${title}: ${value}`).join('; ')}</p>
      <dl class="facts">${said.map(
        ({ title, value, note }) => html`<div><dt>${title}</dt><dd><b>${value}</b><small>${note}</small></dd></div>`,
      )}</dl>
      <h3>What limits</h3>
      <kernel-scope-wide label="What limits"><table aria-label="What limits">
        <thead><tr><th scope="col">Resource</th><th scope="col" class="right">${group}s</th><th scope="col">How that is counted</th></tr></thead>
        <tbody>${limits.map(
          ({ name: of, groups, is_limit: isLimit, note }) => html`<tr class=${isLimit ? 'limit' : ''}>
            <td>${of}${isLimit ? html`<span class="unseen"> (this limits)</span>` : ''}</td>
            <td class="right">${groups === null ? 'any number' : count(groups)}</td><td>${name(note, 400)}</td></tr>`,
        )}</tbody>
      </table></kernel-scope-wide>
      <h3>If it were otherwise</h3>
      <div class="charts">${charts.map(
        (chart) => html`<kernel-scope-chart .chart=${chart} .most=${most} .waves=${waves ?? 0} .wave=${wave}
          @choose=${({ detail }: CustomEvent<number>) => choose(chart.input, detail)}></kernel-scope-chart>`,
      )}</div>
      <details>
        <summary>The numbers that went into it, and who says so</summary>
        <kernel-scope-wide label="Numbers"><table aria-label="Numbers">
          <thead><tr><th scope="col">What</th><th scope="col" class="right">Value</th><th scope="col">Source</th></tr></thead>
          <tbody>${facts.map((fact) => html`<tr><td>${name(fact.name)}</td><td class="right">${name(fact.value)}</td><td>${name(fact.source, 400)}</td></tr>`)}</tbody>
        </table></kernel-scope-wide>
      </details>
    `;
  }
}

define('kernel-scope-occupancy', Occupancy);
