// <kernel-scope-code>: the code of a kernel: what its scheduling comes to, and its instructions with what each tells the scheduler.

import { css, html, nothing, type PropertyValues, svg, type TemplateResult } from 'lit';
import { isAbort, message } from '../client.ts';
import { LANES } from '../lanes.ts';
import { textOf } from '../origin.ts';
import type { CodeStatistics, Column, StallRun } from '../protocol.ts';
import type { Change } from '../session.ts';
import { figures } from '../style.ts';
import { styled } from '../styled.ts';
import { count, share } from '../text.ts';
import { define, Part } from './part.ts';
import { type Leads, showRow, type Table } from './table.ts';

/** A sign of the timeline, for the legend. */
function sign(lane: string) {
  const { line, sign: mark } = LANES[lane] ?? { line: '' };
  return html`<svg class="sign" viewBox="0 4 10 17" aria-hidden="true">${svg`<path d=${line}></path>`}${
    mark ? svg`<path d=${mark.d} class=${mark.isFilled ? 'filled' : ''}></path>` : nothing
  }</svg>`;
}

export class Code extends Part {
  static override properties = { ...super.properties, kernel: { attribute: false } };
  static override styles = [
    super.styles,
    figures,
    css`
      :host { display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr); min-block-size: 0; overflow: auto; }
      .about { padding: 6px 20px 2px; }
      .facts { grid-template-columns: repeat(6, minmax(0, 1fr)) minmax(0, 1.6fr); }
      .facts div { padding: 5px 12px; }
      .facts dd { font-size: 16px; }
      .facts dd small { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
      .stalls { display: flex; align-items: flex-end; gap: 1px; block-size: 36px; padding-block-start: 4px; }
      .stalls i { flex: 1 1 0; max-inline-size: 14px; background: var(--role-code); border-radius: 1px 1px 0 0; }
      .stalls i.none { background: var(--line); }
      details { margin-block-start: 5px; color: var(--dim); font-size: 12px; }
      summary { cursor: pointer; inline-size: max-content; }
      details p, ol { max-inline-size: 100ch; margin-block: 3px; }
      .sign { inline-size: 10px; block-size: 17px; vertical-align: -4px; stroke: currentColor; fill: none; stroke-width: 1.3; color: var(--ink); }
      .filled { fill: currentColor; }
      .failed { color: var(--error); }
      kernel-scope-table { min-block-size: 200px; }
      @media (forced-colors: active) { .stalls i { background: CanvasText; } }
      @container (max-width: 700px) {
        .about { padding-inline: 12px; }
        .facts { grid-template-columns: repeat(3, minmax(0, 1fr)); }
        .facts .bars { grid-column: 1 / -1; border-inline-start: 0; }
      }
    `,
  ];

  /** Its index in the table of kernels. */
  declare kernel: number;
  #columns: Column[] | null = null;
  #statistics: CodeStatistics | null = null;
  #failed = '';
  #asking: AbortController | undefined;
  #finding: AbortController | undefined;

  constructor() {
    super();
    this.kernel = 0;
  }

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    if (properties.has('session') || properties.has('kernel')) void this.#ask();
  }

  protected override changed(change: Change | null): void {
    if (change === 'reopened') void this.#ask();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#asking?.abort();
    this.#finding?.abort();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated && !this.#statistics) void this.#ask();
  }

  async #ask(): Promise<void> {
    const { session, kernel } = this;
    this.#asking?.abort();
    this.#columns = null;
    this.#statistics = null;
    this.#failed = '';
    if (!session) return;
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    try {
      this.#columns = await session.call('columns', [`code/${kernel}`], { signal });
      this.requestUpdate();
      // Of instructions that are not decoded nothing is counted.
      if (session.summary.format !== 'cubin') return;
      this.#statistics = await session.call('statistics', [kernel], { signal });
    } catch (error) {
      if (isAbort(error)) return;
      this.#failed = message(error);
    }
    this.requestUpdate();
  }

  override render() {
    return html`
      <div class="about">
        ${this.#failed ? html`<p class="failed" role="alert">The code cannot be shown: ${this.#failed}.</p>` : nothing}
        ${
          this.session?.summary.format === 'cubin'
            ? this.#figures(this.#statistics)
            : html`<p class="dim">Words of 32 bits, of which instructions have one or more: where each begins only a decoder
                knows. Symbols and lines stand where they begin.</p>`
        }
      </div>
      ${
        this.#columns
          ? html`<kernel-scope-table .session=${this.session} .table=${`code/${this.kernel}`} .columns=${this.#columns} .label=${'Code'}
              .leads=${this.session?.countOf('texts') ? this.#leads : null}></kernel-scope-table>`
          : nothing
      }
    `;
  }

  /** Lines of PTX lead to the text that the file keeps. */
  readonly #leads: Leads = {
    ptx_line: {
      title: 'Go to this line of the text',
      isLink: (line) => Number(line) > 0,
      go: (line) => void this.#text(Number(line)),
    },
  };

  async #text(line: number): Promise<void> {
    const { session, kernel } = this;
    if (!session) return;
    this.#finding?.abort();
    this.#finding = new AbortController();
    const { signal } = this.#finding;
    await session.attempt('The text cannot be shown', async () => {
      const text = await textOf(session, kernel, { signal });
      if (text === null) return session.onNotice('None of the texts is said to be of this function.', 'info');
      showRow(session, `text/${text}`, line - 1);
      session.view = `texts/${text}`;
    });
  }

  /** What leads to the first instruction of a run of stalls. */
  #run({ index }: StallRun, words: TemplateResult) {
    const go = (): void => this.renderRoot.querySelector<Table>('kernel-scope-table')?.go(index);
    return html`<button class="link" @click=${go}>${words}</button>`;
  }

  /**
   * Six numbers, and how many instructions stall for how long. Before they are counted, their room. Of architectures whose control
   * words say nothing but stalls, three.
   */
  #figures(of: CodeStatistics | null) {
    const used = of?.barriers.filter((one) => one.write + one.read + one.wait > 0) ?? [];
    const waits = used.reduce((sum, one) => sum + one.wait, 0);
    const waiting = of ? of.waiting : 0;
    const reused = of ? of.reused : 0;
    const runs = of?.stall_runs ?? [];
    const run = runs[0];
    const mean = of && of.instructions > 0 ? (Number(of.stall_cycles) / of.instructions).toFixed(1) : '';
    const facts: (readonly [string, string, unknown])[] = [
      ['Instructions', of ? count(of.instructions) : '', of && of.yields !== null ? `${count(of.yields)} yield` : ''],
      ['Stall', of ? count(of.stall_cycles) : '', mean && `cycles, ${mean} each`],
      ...(waiting === null || reused === null
        ? []
        : ([
            ['Waiting', of ? share(waiting, of.instructions) : '', of ? `${count(waiting)} instructions` : ''],
            ['Barriers', of ? String(used.length) : '', of ? `of 6 · ${count(waits)} waits` : ''],
            ['Reuse', of ? count(reused) : '', of ? `${of.most_reused} at once at most` : ''],
          ] as const)),
      [
        'Longest stall',
        run ? count(run.cycles) : of ? '0' : '',
        run ? this.#run(run, html`cycles in ${count(run.instructions)} in a row`) : of && 'cycles',
      ],
    ];
    const stalls = of?.stalls ?? [];
    const most = Math.max(1, ...stalls);
    const told = stalls.flatMap((many, cycles) => (many > 0 ? [`${cycles}: ${count(many)}`] : []));
    const unsaid = (of?.instructions ?? 0) - stalls.reduce((sum, many) => sum + many, 0);
    if (unsaid > 0) told.push(`not said: ${count(unsaid)}`);
    const bars = stalls.map(
      (many) =>
        html`<i class=${many > 0 ? '' : 'none'} ${styled({ 'block-size': many > 0 ? `max(2px, ${(many / most) * 100}%)` : '1px' })}></i>`,
    );
    const label = `Instructions by cycles of stall: ${told.join(', ')}`;
    return html`
      <dl class="facts">
        ${facts.map(([title, value, note]) => html`<div><dt>${title}</dt><dd><b>${value || '\u00a0'}</b><small>${note || '\u00a0'}</small></dd></div>`)}
        <div class="bars"><dt>Instructions by stall, 0 to ${Math.max(15, stalls.length - 1)}</dt><dd><div class="stalls" role="img" aria-label=${label} title=${label}>${bars}</div></dd></div>
      </dl>
      ${
        of && !of.is_verified
          ? html`<p class="dim">Where the fields of this architecture are is reported by public sources only: no vendor's listing was seen to agree.</p>`
          : nothing
      }
      ${
        runs.length > 1
          ? html`<details class="runs">
              <summary>The ${runs.length} longest stalls</summary>
              <ol>${runs.map((one) => html`<li>${this.#run(one, html`${count(one.cycles)} cycles in ${count(one.instructions)} in a row from instruction ${count(one.index)} on`)}</li>`)}</ol>
            </details>`
          : nothing
      }
      <details>
        <summary>What the columns say</summary>
        <p>Barriers, from 0 to 5: ${sign('w')} set until the result is written, ${sign('r')} until the operands are read, ${sign('|')} pending,
          ${sign('x')} waited for. They follow the order of the code, not its branches; the numbers above count every instruction once.</p>
        <p>Yield: Y where the bit is 0, as maxas and CuAssembler print it; other descriptions say yes where it is 1. Stall: cycles to the next
          instruction of the warp. Write and read: the barrier that is set until then. Reuse: the operand slots that are kept for the next instruction.</p>
      </details>
    `;
  }
}

define('kernel-scope-code', Code);
