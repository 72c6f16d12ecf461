// <kernel-scope-gpus>: on which GPUs the file's code runs, and whether it runs on the one that is chosen, and why.

import { css, html, nothing } from 'lit';
import { ANSWERS, CHOSEN, chosen, type Gpu, groups, inShort, isText } from '../gpus.ts';
import { store, stored } from '../stored.ts';
import { count, name } from '../text.ts';
import { define, Part } from './part.ts';

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
      ul { margin: 6px 0; padding-inline-start: 18px; }
      .answer { font-weight: 600; }
      .yes, .jit { color: var(--good); }
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
    const grouped = groups(gpus);
    const { products, served_by, path, missing_kernels, libraries } = gpu;
    return html`
      ${grouped.filter(({ gpus: [first] }) => first?.runs !== 'no').map((group) => this.#named(group))}
      ${gpus.every(({ runs }) => runs === 'no') ? html`<p>On no GPU that is known.</p>` : nothing}
      <label>On the GPU
        <select class="field" @change=${this.#choose}>${grouped.map(
          ({ title, gpus: of }) =>
            html`<optgroup label=${title}>${of.map(
              (one) =>
                html`<option value=${one.gpu} .selected=${one === gpu}>${one.gpu}${one.products && ` · ${one.products}`}</option>`,
            )}</optgroup>`,
        )}</select>
      </label>
      <p role="status"><span class="answer ${gpu.runs}"><span aria-hidden="true">${mark}</span> ${gpu.runs}</span>: ${name(gpu.reason, 400)}${
        served_by && path
          ? html`, by <button class="link" @click=${() => this.session?.openMember(path)}>${served_by}</button>`
          : nothing
      }${products ? html`<span class="dim"> · ${products}</span>` : nothing}</p>
      ${
        missing_kernels
          ? html`<p><button class="link" @click=${() => this.#show(`missing/${gpu.gpu}`)}>${count(missing_kernels)} ${missing_kernels === 1 ? 'kernel does' : 'kernels do'} not run there</button></p>`
          : nothing
      }
      ${libraries ? html`<ul aria-label="Libraries" class="gpus">${libraries.split('\n').map((line) => html`<li>${name(line, 400)}</li>`)}</ul>` : nothing}
    `;
  }

  #named({ title, gpus }: { title: string; gpus: Gpu[] }) {
    const names = inShort(this.gpus, gpus);
    const rest = names.length - NAMED;
    return html`<p><span class="dim">${title}</span>
      <span class="gpus">${names.slice(0, NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}</span></p>`;
  }

  #show(view: string): void {
    if (this.session) this.session.view = view;
  }

  readonly #choose = (event: Event): void => {
    store(CHOSEN, (event.target as HTMLSelectElement).value);
    this.requestUpdate();
  };
}

define('kernel-scope-gpus', Gpus);
