// <kernel-scope-tabs>: the files that are open, side by side. Says `show` and `close` with the session.

import { css, html, LitElement, nothing } from 'lit';
import type { Session } from '../session.ts';
import { base } from '../style.ts';
import { name } from '../text.ts';
import { define } from './part.ts';

export class Tabs extends LitElement {
  static override properties = { sessions: { attribute: false }, active: { attribute: false } };
  static override styles = [
    base,
    css`
      :host { display: block; background: var(--paper); border-block-end: 1px solid var(--line); min-inline-size: 0; }
      .list { display: flex; overflow-x: auto; scrollbar-width: thin; padding-inline: 8px; }
      .tab { display: flex; align-items: center; border-inline-end: 1px solid var(--line); min-inline-size: 7em; max-inline-size: 22em; }
      .tab:hover { background: var(--hover); }
      .tab.on { background: var(--pane); box-shadow: inset 0 2px var(--accent); }
      .file { padding: 6px 4px 6px 12px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 12px; flex: 1; }
      .file[aria-selected="true"] { font-weight: 600; }
      .file:focus-visible { outline-offset: -2px; }
      .close { color: var(--dim); inline-size: 26px; block-size: 26px; text-align: center; border-radius: 6px; flex: none; }
      .close:hover { color: var(--ink); background: var(--line); }
      @media print { :host { display: none; } }
    `,
  ];

  declare sessions: readonly Session[];
  declare active: Session | null;

  constructor() {
    super();
    this.sessions = [];
    this.active = null;
  }

  protected override updated(): void {
    this.renderRoot.querySelector('.on')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  override render() {
    if (this.sessions.length === 0) return nothing;
    // What closes a file stands beside its tab, and is no tab: the list of tabs owns these alone.
    const ids = this.sessions.map(({ file }) => `tab-${file}`).join(' ');
    return html`<div role="tablist" aria-label="Files that are open" aria-owns=${ids}></div>
      <div class="list" @keydown=${this.#key}>${this.sessions.map((session) => this.#tab(session))}</div>`;
  }

  #tab(session: Session) {
    const isOn = session === this.active;
    const title = name(session.name, 80);
    return html`<div class="tab ${isOn ? 'on' : ''}" @auxclick=${(event: MouseEvent) => event.button === 1 && this.#say('close', session)}>
      <button class="file" role="tab" id="tab-${session.file}" aria-selected=${isOn} tabindex=${isOn ? 0 : -1} title=${name(session.name, 1000)}
        @click=${() => this.#say('show', session)}>${title}</button>
      <button class="close" tabindex="-1" aria-label="Close ${title}" title="Close" @click=${() => this.#say('close', session)}>×</button>
    </div>`;
  }

  #say(what: 'show' | 'close', session: Session): void {
    this.dispatchEvent(new CustomEvent(what, { detail: session }));
  }

  readonly #key = async (event: KeyboardEvent): Promise<void> => {
    const { sessions, active } = this;
    if (!active) return;
    const at = sessions.indexOf(active);
    const moves: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
    const move = moves[event.key];
    if (event.key === 'Delete') this.#say('close', active);
    else if (move === undefined) return;
    else this.#say('show', sessions.at(move % sessions.length) ?? active);
    event.preventDefault();
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
  };
}

define('kernel-scope-tabs', Tabs);
