// <kernel-scope>: the application.

import { css, html, LitElement } from 'lit';
import type { FromWorker } from '../protocol.ts';
import { title } from '../title.ts';

export class KernelScope extends LitElement {
  static override styles = css`:host { display: block; }`;

  #version = '';

  override connectedCallback(): void {
    super.connectedCallback();
    const worker = new Worker(new URL('../worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      this.#version = data.version;
      this.requestUpdate();
    };
  }

  override render() {
    return html`<h1>${title(this.#version)}</h1>`;
  }
}

customElements.define('kernel-scope', KernelScope);
