// <kernel-scope-nav>: the list of panels, with how much each has.

import { css, html, nothing } from 'lit';
import { panels, parseView } from '../panels.ts';
import type { Int } from '../protocol.ts';
import type { Change } from '../session.ts';
import { count, name } from '../text.ts';
import { define, Part } from './part.ts';

/** Kernels that are listed by name. */
const KERNELS = 50;

export class Nav extends Part {
  static override styles = [
    super.styles,
    css`
      :host { display: block; overflow: auto; padding-block: 6px; border-inline-end: 1px solid var(--line); }
      button { display: flex; align-items: baseline; gap: 9px; inline-size: 100%; padding: 3.5px 16px; }
      button:hover { background: var(--hover); }
      button:focus-visible { outline-offset: -2px; }
      button[aria-current] { background: color-mix(in srgb, var(--accent) 13%, transparent); box-shadow: inset 3px 0 var(--accent);
        font-weight: 600; }
      svg { inline-size: 13px; block-size: 13px; flex: none; align-self: center; fill: none; stroke: currentColor; stroke-width: 1.2;
        opacity: .6; }
      .count { margin-inline-start: auto; font: 12px var(--mono); color: var(--dim); }
      .kernel { padding: 3px 16px 3px 38px; font: 12.5px var(--mono); }
      .kernel span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      .kernel[aria-current] { font-weight: 400; }
      @container (max-width: 700px) {
        :host { display: flex; overflow-x: auto; border-inline-end: 0; border-block-end: 1px solid var(--line); padding: 0 6px;
          scrollbar-width: none; }
        button { inline-size: auto; padding: 9px 8px; gap: 5px; white-space: nowrap; }
        button[aria-current] { box-shadow: inset 0 -3px var(--accent); background: none; }
        svg, .kernel { display: none; }
      }
    `,
  ];

  #kernels: string[] = [];
  #asking: AbortController | undefined;

  protected override changed(change: Change | null): void {
    if (change === null) this.#kernels = [];
    if (change === null || change === 'reopened') void this.#ask();
    if (change !== 'selection' && change !== 'location' && change !== 'reveal') this.requestUpdate();
  }

  async #ask(): Promise<void> {
    const { session } = this;
    this.#asking?.abort();
    if (!session?.summary.tables.some((table) => table.key === 'kernels')) return;
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    try {
      const columns = await session.call('columns', ['kernels'], { signal });
      const { rows } = await session.call('rows', ['kernels', 0, KERNELS], { signal });
      const at = columns.findIndex((column) => column.key === 'name');
      this.#kernels = rows.map((row) => String(row[at] ?? ''));
      this.requestUpdate();
    } catch {
      // The list is a convenience: the table of kernels says what is wrong.
    }
  }

  override render() {
    const { session } = this;
    if (!session) return nothing;
    const { key } = parseView(session.view);
    return html`${panels(session).map(
      (panel) => html`
        ${this.#entry(panel.key, panel.title, panel.icon, panel.count, key === panel.key)}
        ${panel.key === 'kernels' && key === 'kernels' ? this.#kernels.map((kernel, i) => this.#kernel(kernel, i)) : nothing}
      `,
    )}`;
  }

  #entry(key: string, title: string, icon: string, many: Int | null, isOpen: boolean) {
    return html`<button aria-current=${isOpen ? 'page' : nothing} @click=${() => this.#show(key)}>
      <svg viewBox="0 0 16 16" aria-hidden="true"><path d=${icon}></path></svg>${title}
      ${many === null ? nothing : html`<span class="count">${count(many)}</span>`}
    </button>`;
  }

  #kernel(kernel: string, index: number) {
    const view = `kernels/${index}`;
    const isOpen = this.session?.view === view;
    return html`<button class="kernel" aria-current=${isOpen ? 'page' : nothing} title=${name(kernel, 1000)} @click=${() => this.#show(view)}>
      <span>${name(kernel)}</span>
    </button>`;
  }

  #show(view: string): void {
    if (this.session) this.session.view = view;
  }
}

define('kernel-scope-nav', Nav);
