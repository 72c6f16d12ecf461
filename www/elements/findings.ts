// <kernel-scope-findings>: what is wrong with the file, worst first; each finding goes to its bytes. Those alike are folded.

import { css, html, nothing } from 'lit';
import { FINDING_FORMS, grouped, mentions, RULES, SEVERITIES } from '../findings.ts';
import { copyText } from '../out.ts';
import type { Diagnostic } from '../protocol.ts';
import type { Change } from '../session.ts';
import { count, hex, name } from '../text.ts';
import './menu.ts';
import { define, Part } from './part.ts';

/** Findings alike of which all are shown; of more, only the first few. */
const FOLDED = 5;
const FEW = 3;

/** What stays of the list while something else is shown. */
interface Kept {
  words: string;
  /** Those alike that are unfolded. */
  open: Set<string>;
}

export class Findings extends Part {
  static override properties = { ...super.properties, findings: { attribute: false }, most: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: block; padding: 0 20px 20px; }
      :host([bare]) { padding: 0; }
      .tools { display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; padding-block: 8px; position: sticky; inset-block-start: 0; z-index: 1;
        background: var(--paper); }
      .tools input { flex: 0 1 26em; }
      .tools kernel-scope-menu { margin-inline-start: auto; color: var(--dim); }
      .running { display: flex; gap: 10px; align-items: center; padding-block: 4px 8px; }
      .running progress { inline-size: 9em; block-size: 6px; accent-color: var(--accent); }
      h3 { font: 600 12px var(--sans); color: var(--dim); margin: 14px 0 2px; }
      .tools + h3, h3:first-child { margin-block-start: 0; }
      h3 b { color: var(--ink); font-weight: 600; }
      li { display: grid; grid-template-columns: 1.6em minmax(0, 1fr) auto; padding: 6px 8px; margin-inline: -8px; border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); }
      li.goes { cursor: pointer; }
      li.goes:hover { background: var(--hover); }
      li.on { background: var(--wash); box-shadow: inset 3px 0 var(--accent); }
      .mark { font-size: 11px; line-height: 19px; }
      .error .mark { color: var(--error); }
      .warning .mark { color: var(--warning); }
      .note .mark { color: var(--dim); }
      .text { max-inline-size: 90ch; overflow-wrap: anywhere; unicode-bidi: isolate; }
      .detail { color: var(--dim); font-size: 12px; }
      .detail .file { font-size: 12px; color: var(--ink); }
      .at { font: 12.5px var(--mono); margin-inline-start: 16px; align-self: start; min-block-size: 24px; }
      .more { grid-column: 2 / -1; justify-self: start; }
      .none { color: var(--good); font-weight: 600; padding-block: 12px; }
      :host([bare]) .none { padding: 0; }
      .empty { color: var(--dim); padding-block: 8px; }
      @container (max-width: 700px) {
        :host { padding-inline: 12px; }
        .tools input { flex: 1 0 100%; }
        li { padding-inline: 4px; margin-inline: -4px; }
      }
    `,
  ];

  declare findings: Diagnostic[];
  /** How many are listed, in short: without groups and tools. */
  declare most: number;
  #kept: Kept = { words: '', open: new Set() };
  #said = '';
  /** Which of the buttons in the list the Tab key comes to. */
  #stop = 0;
  #stops = 0;

  constructor() {
    super();
    this.findings = [];
    this.most = Number.POSITIVE_INFINITY;
  }

  protected override changed(change: Change | null): void {
    if (change === null && this.session) {
      this.#kept = (this.session.kept.get('findings') as Kept | undefined) ?? { words: '', open: new Set() };
      this.session.kept.set('findings', this.#kept);
      this.#stop = 0;
      this.#said = '';
    }
    if (change === null || change === 'selection' || change === 'summary' || change === 'checking')
      this.requestUpdate();
  }

  override render() {
    const { findings } = this;
    this.#stops = 0;
    if (Number.isFinite(this.most)) return findings.length === 0 ? this.#running() : this.#short();
    const { words } = this.#kept;
    const found = words.trim() === '' ? findings : findings.filter((finding) => mentions(finding, words));
    return html`
      ${findings.length > 0 ? this.#tools(found) : nothing}
      ${this.#running()}
      ${findings.length > 0 && found.length === 0 ? this.#empty() : nothing}
      <div @keydown=${this.#key}>${grouped(found).map(
        ({ severity, title, mark, kind, count: many, alike }) => html`
          <h3><b>${title}</b> · ${RULES[kind]} · ${count(many)}</h3>
          <ul>${alike.map(({ key, findings: all }) => {
            const isOpen = all.length <= FOLDED || this.#kept.open.has(key);
            return html`${(isOpen ? all : all.slice(0, FEW)).map((finding) => this.#finding(finding, severity, mark, false))}
              ${all.length > FOLDED ? this.#fold(key, isOpen, all.length - FEW) : nothing}`;
          })}</ul>`,
      )}</div>
    `;
  }

  /** Whether the checks still run, or what it means that nothing was found. */
  #running() {
    const { session } = this;
    if (session?.summary.verdict.is_complete) {
      return this.findings.length === 0 ? html`<p class="none">No findings: all checks have run.</p>` : nothing;
    }
    const { done, total } = session?.checking ?? { done: 0, total: 0 };
    const percent = total > 0 ? Math.floor((done / total) * 100) : 0;
    const so =
      this.findings.length === 0 ? 'No findings so far; the checks are not finished.' : 'The checks are not finished.';
    return html`<p class="running dim"><progress max="100" .value=${percent} aria-label="Checks"></progress> ${so}</p>`;
  }

  #empty() {
    return html`<p class="empty">No finding says <span class="file">${name(this.#kept.words, 80)}</span>.
      <button class="link" @click=${() => this.#filter('')}>Clear the filter</button></p>`;
  }

  #tools(found: Diagnostic[]) {
    const all = this.findings.length;
    const many = `${count(all)} ${all === 1 ? 'finding' : 'findings'}`;
    const copies = Object.entries(FINDING_FORMS).map(([form, write]) => ({
      title: `${found.length === all ? 'All' : 'These'} as ${form}`,
      run: async () => {
        this.#said = await copyText(write(found), `${count(found.length)} as ${form}`);
        this.requestUpdate();
      },
    }));
    return html`<div class="tools">
      <input class="field" type="search" placeholder="Filter: words" aria-label="Filter findings" spellcheck="false" .value=${this.#kept.words}
        @input=${(event: Event) => this.#filter((event.target as HTMLInputElement).value)}>
      <span class="dim" role="status">${this.#said || (found.length === all ? many : `${count(found.length)} of ${many}`)}</span>
      <kernel-scope-menu label="Copy" hint="Copy findings" .items=${copies}></kernel-scope-menu>
    </div>`;
  }

  /** The worst few, without more. */
  #short() {
    let left = this.most;
    return SEVERITIES.map(({ severity, title, mark }) => {
      const of = this.findings.filter((finding) => finding.severity === severity);
      const listed = of.slice(0, left);
      left -= listed.length;
      if (listed.length === 0) return nothing;
      return html`<h3>${title} · ${count(of.length)}</h3>
        <ul @keydown=${this.#key}>${listed.map((finding) => this.#finding(finding, severity, mark, true))}</ul>`;
    });
  }

  #finding(finding: Diagnostic, severity: string, mark: string, saysRule: boolean) {
    const { message, expected, found, context, offset, kind } = finding;
    const at = offset === null || offset === undefined ? null : Number(offset);
    const isOn = at !== null && this.session?.selection.offset === at && this.session.selection.size > 0;
    const details = [
      saysRule ? html`${RULES[kind]}` : null,
      context ? html`<span class="file">${name(context)}</span>` : null,
      expected && found
        ? html`expected <span class="file">${name(expected)}</span>, found <span class="file">${name(found)}</span>`
        : null,
    ].filter((detail) => detail !== null);
    const go = () => at !== null && this.session?.select(at, 1);
    return html`<li class="${severity} ${isOn ? 'on' : ''} ${at === null ? '' : 'goes'}" @click=${go}>
      <span class="mark" aria-hidden="true">${mark}</span>
      <div>
        <p class="text">${name(message, 600)}</p>
        ${details.length > 0 ? html`<p class="detail">${details.map((detail, i) => html`${i > 0 ? ' · ' : ''}${detail}`)}</p>` : nothing}
      </div>
      ${at === null ? html`<span class="at dim">no place</span>` : html`<button class="at link stop" title="Go to its bytes" tabindex=${this.#tab()}>${hex(at)}</button>`}
    </li>`;
  }

  #fold(key: string, isOpen: boolean, rest: number) {
    const toggle = () => {
      if (isOpen) this.#kept.open.delete(key);
      else this.#kept.open.add(key);
      this.requestUpdate();
    };
    return html`<li><button class="more link stop" aria-expanded=${isOpen} tabindex=${this.#tab()} @click=${toggle}>${
      isOpen ? 'fewer of these' : `and ${count(rest)} more like this`
    }</button></li>`;
  }

  /** The list is one stop of the Tab key. */
  #tab(): 0 | -1 {
    this.#stops += 1;
    return this.#stops - 1 === this.#stop ? 0 : -1;
  }

  #filter(words: string): void {
    this.#kept.words = words;
    this.#stop = 0;
    this.#said = '';
    this.requestUpdate();
  }

  /** Arrows go from finding to finding, and to their bytes. */
  readonly #key = (event: KeyboardEvent): void => {
    const stops = [...this.renderRoot.querySelectorAll<HTMLElement>('.stop')];
    const at = stops.indexOf(event.target as HTMLElement);
    const last = stops.length - 1;
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last };
    const to = moves[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    this.#stop = Math.min(Math.max(0, to), last);
    this.requestUpdate();
    const stop = stops[this.#stop];
    stop?.focus();
    if (stop?.classList.contains('at')) stop.click();
  };
}

define('kernel-scope-findings', Findings);
