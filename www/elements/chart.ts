// <kernel-scope-chart>: how many waves a unit holds against one of the inputs, in steps, with the point where the launch is. Pointing at
// it, or the arrow keys, read another point; a click or Enter chooses it.

import { css, html, LitElement, svg } from 'lit';
import { end, type Frame, nearest, plot, pointAt, xOf, yOf } from '../chart.ts';
import type { OccupancyAnswer } from '../protocol.ts';
import { base } from '../style.ts';
import { count, share } from '../text.ts';
import { define } from './part.ts';

const FRAME: Frame = { width: 320, height: 150, left: 28, top: 8, right: 304, bottom: 128 };
/** Points that PageUp and PageDown go past. */
const PAGE = 8;

/** Says `choose` with the value of the point that was chosen. */
export class ChartView extends LitElement {
  static override properties = {
    chart: { attribute: false },
    most: { attribute: false },
    waves: { attribute: false },
    wave: { attribute: false },
    at: { state: true },
  };
  static override styles = [
    base,
    css`
      :host { display: block; min-inline-size: 0; }
      h4 { font: 600 12px var(--sans); margin: 0 0 4px; }
      .plot { display: block; cursor: crosshair; touch-action: pan-y; border-radius: 4px; }
      svg { display: block; inline-size: 100%; overflow: visible; }
      text { fill: var(--dim); font: 10px var(--mono); text-anchor: middle; }
      .up text { text-anchor: end; dominant-baseline: middle; }
      .grid { stroke: var(--line); }
      .line { fill: none; stroke: var(--accent); stroke-width: 1.6; stroke-linejoin: round; }
      .present { stroke: var(--ink); stroke-dasharray: 2 3; }
      .here { fill: var(--ink); stroke: var(--paper); stroke-width: 1.5; }
      .read { stroke: var(--accent); }
      .point { fill: var(--accent); stroke: var(--paper); stroke-width: 1.5; }
      p { font: 12px var(--mono); color: var(--dim); min-block-size: 1.5em; }
      p.reading { color: var(--ink); }
      @media (forced-colors: active) {
        .line, .read, .present { stroke: CanvasText; }
        .here, .point, text { fill: CanvasText; }
        .grid { stroke: GrayText; }
      }
    `,
  ];

  declare chart: OccupancyAnswer['charts'][number] | null;
  /** Waves that a unit holds at most, and those that it holds of the launch. */
  declare most: number;
  declare waves: number;
  /** What a wave is called. */
  declare wave: string;
  /** The point that is read, where that is another one than the launch's. */
  declare at: number | null;

  constructor() {
    super();
    this.chart = null;
    this.most = 0;
    this.waves = 0;
    this.wave = 'warp';
    this.at = null;
  }

  protected override willUpdate(): void {
    if (this.at !== null && this.at >= (this.chart?.points.length ?? 0)) this.at = null;
  }

  override render() {
    const { chart, at } = this;
    if (!chart) return html``;
    const point = at === null ? undefined : chart.points[at];
    const [value, waves] = point ?? [chart.present, this.waves];
    const said = this.#said(value, waves);
    return html`
      <h4>${this.wave}s by ${chart.label}</h4>
      <div class="plot" role="slider" tabindex="0" aria-label="${this.wave}s by ${chart.label}" aria-valuemin="0" aria-valuemax=${end(chart.points)}
        aria-valuenow=${value} aria-valuetext=${said} @pointermove=${this.#move} @pointerdown=${this.#move} @pointerleave=${this.#leave} @blur=${this.#leave}
        @click=${this.#click} @keydown=${this.#key}>${this.#picture(chart, point)}</div>
      <p class=${point ? 'reading' : ''} aria-hidden="true">${said}</p>
    `;
  }

  #said(value: number, waves: number): string {
    return `${count(value)}: ${waves} of ${this.most} ${this.wave}s, ${share(waves, this.most)}`;
  }

  #picture({ points, label, present }: OccupancyAnswer['charts'][number], point: readonly number[] | undefined) {
    const { width, height, left, right, top, bottom } = FRAME;
    const { line, across, up } = plot(points, this.most, FRAME, /\bbytes?\b/.test(label));
    const place = (value: number, waves: number) => [xOf(value, points, FRAME), yOf(waves, this.most, FRAME)];
    const [x, y] = place(present, this.waves);
    const [readX, readY] = place(point?.[0] ?? 0, point?.[1] ?? 0);
    return html`<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">
      ${up.map(({ at, text }) => svg`<g class="up"><path class="grid" d="M${left} ${at}H${right}"/><text x=${left - 5} y=${at}>${text}</text></g>`)}
      ${across.map(({ at, text }) => svg`<path class="grid" d="M${at} ${bottom}v4"/><text x=${at} y=${bottom + 15}>${text}</text>`)}
      <path class="line" d=${line}/>
      <path class="present" d="M${x} ${top}V${bottom}"/>
      <circle class="here" cx=${x} cy=${y} r="4.500"/>
      ${point ? svg`<path class="read" d="M${readX} ${top}V${bottom}"/><circle class="point" cx=${readX} cy=${readY} r="3.500"/>` : ''}
    </svg>`;
  }

  #pointed(event: MouseEvent): number {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return pointAt(((event.clientX - left) / Math.max(1, width)) * FRAME.width, this.chart?.points ?? [], FRAME);
  }

  readonly #move = (event: PointerEvent): void => {
    this.at = this.#pointed(event);
  };

  readonly #leave = (): void => {
    this.at = null;
  };

  readonly #click = (event: MouseEvent): void => this.#choose(this.#pointed(event));

  #choose(at: number | null): void {
    const point = at === null ? undefined : this.chart?.points[at];
    if (point) this.dispatchEvent(new CustomEvent('choose', { detail: point[0] }));
  }

  readonly #key = (event: KeyboardEvent): void => {
    const { chart } = this;
    if (!chart) return;
    const last = chart.points.length - 1;
    const from = this.at ?? nearest(chart.present, chart.points);
    const moves: Record<string, number | null> = {
      ArrowRight: from + 1,
      ArrowUp: from + 1,
      ArrowLeft: from - 1,
      ArrowDown: from - 1,
      PageUp: from + PAGE,
      PageDown: from - PAGE,
      Home: 0,
      End: last,
      Escape: null,
    };
    const to = moves[event.key];
    if (event.key === 'Enter' || event.key === ' ') this.#choose(this.at);
    else if (to === undefined) return;
    else this.at = to === null ? null : Math.max(0, Math.min(to, last));
    event.preventDefault();
  };
}

define('kernel-scope-chart', ChartView);
