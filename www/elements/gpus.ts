// <kernel-scope-gpus>: on which GPUs the file's code runs, and whether it runs on the one that is chosen, and why.

import { css, html, nothing } from 'lit';
import { ANSWERS, chosen, type Gpu, inShort } from '../gpus.ts';
import { store, stored } from '../stored.ts';
import { name } from '../text.ts';
import { define, Part } from './part.ts';

/** What the chosen GPU is remembered under: it is that of whoever looks, whatever file is open. */
const CHOSEN = 'gpu';
const isText = (value: unknown): value is string => typeof value === 'string';

/** GPUs that are named before the rest is counted. */
const NAMED = 12;

export class Gpus extends Part {
  static override properties = { ...super.properties, gpus: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: block; }
      label { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: baseline; margin-block: 6px; }
      select { max-inline-size: 100%; font-family: var(--mono); font-size: 12.5px; }
      .gpus { font: 12.5px var(--mono); overflow-wrap: anywhere; }
      .answer { font-weight: 600; }
      .yes { color: var(--good); }
      .depends { color: var(--warning); }
      .no { color: var(--error); }
    `,
  ];

  declare gpus: Gpu[];

  constructor() {
    super();
    this.gpus = [];
  }

  override render() {
    const { gpus } = this;
    const gpu = chosen(gpus, stored(CHOSEN, '', isText));
    if (!gpu) return nothing;
    const { mark } = ANSWERS[gpu.runs];
    return html`
      ${(['yes', 'depends'] as const).map((runs) => this.#named(runs))}
      ${gpus.every(({ runs }) => runs === 'no') ? html`<p>On no GPU that is known.</p>` : nothing}
      <label>On the GPU
        <select class="field" @change=${this.#choose}>${Object.entries(ANSWERS).map(([runs, { title }]) => {
          const of = gpus.filter((one) => one.runs === runs);
          return of.length === 0
            ? nothing
            : html`<optgroup label=${title}>${of.map(
                (one) =>
                  html`<option value=${one.gpu} .selected=${one === gpu}>${one.gpu}${one.products && ` · ${one.products}`}</option>`,
              )}</optgroup>`;
        })}</select>
      </label>
      <p role="status"><span class="answer ${gpu.runs}"><span aria-hidden="true">${mark}</span> ${gpu.runs}</span>: ${name(gpu.reason, 400)}${
        gpu.products ? html`<span class="dim"> · ${gpu.products}</span>` : nothing
      }</p>
    `;
  }

  #named(runs: Gpu['runs']) {
    const names = inShort(this.gpus, runs);
    if (names.length === 0) return nothing;
    const rest = names.length - NAMED;
    return html`<p><span class="dim">${ANSWERS[runs].title}</span>
      <span class="gpus">${names.slice(0, NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}</span></p>`;
  }

  readonly #choose = (event: Event): void => {
    store(CHOSEN, (event.target as HTMLSelectElement).value);
    this.requestUpdate();
  };
}

define('kernel-scope-gpus', Gpus);
