// <kernel-scope-missing>: kernels that the file has for some of its architectures and not for others, and on a GPU that is chosen
// whether they run there.

import { css, html } from 'lit';
import { CHOSEN, type Gpu, groups } from '../gpus.ts';
import type { Column } from '../protocol.ts';
import { store } from '../stored.ts';
import { define, Part } from './part.ts';
import './table.ts';

export interface MissingData {
  /** The GPU of the table; none where it is about all of them. */
  gpu: string;
  columns: Column[];
  gpus: Gpu[];
}

export class MissingView extends Part {
  static override properties = { ...super.properties, data: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: flex; flex-direction: column; block-size: 100%; }
      label { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: baseline; padding: 8px 20px; }
      select { max-inline-size: 100%; font-family: var(--mono); font-size: 12.5px; }
      kernel-scope-table { flex: 1; min-block-size: 0; }
      @container (max-width: 700px) { label { padding-inline: 12px; } }
    `,
  ];

  declare data: MissingData | null;

  constructor() {
    super();
    this.data = null;
  }

  override render() {
    const { session, data } = this;
    if (!session || !data) return null;
    return html`
      <kernel-scope-survey .session=${session}></kernel-scope-survey>
      <label>On the GPU
        <select class="field" @change=${this.#choose}>
          <option value="" .selected=${data.gpu === ''}>any: what some architectures have and others lack</option>
          ${groups(data.gpus).map(
            ({ title, gpus }) =>
              html`<optgroup label=${title}>${gpus.map(
                ({ gpu, products }) =>
                  html`<option value=${gpu} .selected=${gpu === data.gpu}>${gpu}${products && ` · ${products}`}</option>`,
              )}</optgroup>`,
          )}
        </select>
      </label>
      <kernel-scope-table .session=${session} .table=${data.gpu ? `missing/${data.gpu}` : 'missing'} .columns=${data.columns}
        .label=${'Missing kernels'}></kernel-scope-table>
    `;
  }

  readonly #choose = (event: Event): void => {
    const { value } = event.target as HTMLSelectElement;
    if (value) store(CHOSEN, value);
    if (this.session) this.session.view = value ? `missing/${value}` : 'missing';
  };
}

define('kernel-scope-missing', MissingView);
