// <kernel-scope-panel>: the panel that is open. It asks for what the panel needs and shows the view of it; what is shown stays
// until something better has come.

import { css, html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { isAbort, message } from '../client.ts';
import { Newest } from '../newest.ts';
import { type Panel as Made, panels, parseView } from '../panels.ts';
import type { Change, Session } from '../session.ts';
import { define, Part } from './part.ts';

/** The panel that the view names. */
function open(session: Session): Made | undefined {
  const all = panels(session);
  const { key } = parseView(session.view);
  return all.find((one) => one.key === key) ?? all[0];
}

export class Panel extends Part {
  static override styles = [
    super.styles,
    css`
      :host { display: block; min-block-size: 0; min-inline-size: 0; overflow: hidden; }
      .body { block-size: 100%; overflow: auto; }
      @media print {
        :host { overflow: visible; }
        .body { block-size: auto; overflow: visible; }
      }
      .body:focus-visible { outline-offset: -2px; }
      .failed { padding: 16px 20px; color: var(--error); max-inline-size: 72ch; }
    `,
  ];

  #asking: AbortController | undefined;
  readonly #newest = new Newest();
  #shown: { session: Session; panel: Made; data: unknown } | null = null;
  #failed = '';
  #view = '';

  protected override changed(change: Change | null): void {
    if (change === null || change === 'view' || change === 'reopened') this.#asking?.abort();
    if (change === null || change === 'view' || change === 'summary' || change === 'reopened') void this.#ask();
    // What is being asked for is asked for once more then, so that it has all of it.
    if (change === 'surveyed' && this.session && open(this.session)?.isSurveyed) void this.#ask();
  }

  async #ask(): Promise<void> {
    const { session } = this;
    if (!session) return;
    const panel = open(session);
    if (!panel) return;
    if (this.#view !== session.view) this.renderRoot.querySelector('.body')?.scrollTo(0, 0);
    this.#view = session.view;
    // Another place in the same panel needs nothing new.
    if (this.#shown?.session === session && this.#shown.panel.key === panel.key) this.requestUpdate();
    // What has been asked before is still welcome, as long as it is about the same and no newer answer is there.
    if (!this.#asking || this.#asking.signal.aborted) this.#asking = new AbortController();
    const { signal } = this.#asking;
    const isNewest = this.#newest.ask();
    try {
      const data = await panel.request(session, signal);
      if (signal.aborted || !isNewest()) return;
      this.#shown = { session, panel, data };
      this.#failed = '';
    } catch (error) {
      if (isAbort(error) || signal.aborted || !isNewest()) return;
      this.#failed = `${panel.title} cannot be shown: ${message(error)}`;
    }
    this.requestUpdate();
  }

  #hadFocus = false;

  protected override willUpdate(properties: PropertyValues): void {
    super.willUpdate(properties);
    this.#hadFocus = (this.renderRoot as ShadowRoot).activeElement !== null;
  }

  /** Where the view that had the focus is replaced, the focus stays with what has taken its place. */
  protected override updated(): void {
    const settle = async () => {
      await new Promise((resolve) => setTimeout(resolve));
      if (this.#isLost) this.renderRoot.querySelector<HTMLElement>('.body')?.focus();
    };
    if (this.#hadFocus) void settle();
  }

  get #isLost(): boolean {
    const root = this.getRootNode();
    return (
      root instanceof ShadowRoot &&
      (root.activeElement === null || root.activeElement === this) &&
      (this.renderRoot as ShadowRoot).activeElement === null
    );
  }

  override render(): TemplateResult {
    const shown = this.#shown;
    return html`
      ${this.#failed ? html`<p class="failed" role="alert">${this.#failed}</p>` : nothing}
      ${shown ? html`<h2 class="unseen">${shown.panel.title}</h2>` : nothing}
      <div class="body" tabindex="-1">${shown ? shown.panel.view(shown.session, shown.data as never, parseView(shown.session.view).rest) : nothing}</div>
    `;
  }
}

define('kernel-scope-panel', Panel);
