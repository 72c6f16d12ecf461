// <kernel-scope-findings>: what is wrong with the file, worst first; each finding goes to its bytes.

import { css, html, nothing } from 'lit';
import type { Diagnostic } from '../protocol.ts';
import type { Change } from '../session.ts';
import { count, hex, name } from '../text.ts';
import { define, Part } from './part.ts';

const GROUPS = [
  { severity: 'error', title: 'Errors', mark: '✕' },
  { severity: 'warning', title: 'Warnings', mark: '▲' },
  { severity: 'note', title: 'Notes', mark: '●' },
] as const;

const RULES: Record<string, string> = {
  format: 'breaks the format',
  loader: 'a loader refuses it',
  limit: 'past a bound',
  unknown_value: 'value that no public source names',
};

export class Findings extends Part {
  static override properties = { ...super.properties, findings: { attribute: false }, most: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: block; padding: 12px 20px 20px; }
      :host([bare]) { padding: 0; }
      h3 { font: 600 12px var(--sans); color: var(--dim); margin: 14px 0 2px; }
      h3:first-child { margin-block-start: 0; }
      li { display: grid; grid-template-columns: 1.6em minmax(0, 1fr) auto; padding: 6px 8px; margin-inline: -8px; border-block-end: 1px solid color-mix(in srgb, var(--line) 55%, transparent); }
      .on { background: var(--wash); }
      .mark { font-size: 11px; line-height: 19px; }
      .error .mark { color: var(--error); }
      .warning .mark { color: var(--warning); }
      .note .mark { color: var(--dim); }
      .text { max-inline-size: 90ch; overflow-wrap: anywhere; unicode-bidi: isolate; }
      .detail { color: var(--dim); font-size: 12px; }
      .detail .file { font-size: 12px; color: var(--ink); }
      .at { font: 12.5px var(--mono); padding-inline-start: 16px; }
      .none { color: var(--good); font-weight: 600; }
      @container (max-width: 700px) { :host { padding-inline: 12px; } }
    `,
  ];

  declare findings: Diagnostic[];
  /** How many are listed. */
  declare most: number;

  constructor() {
    super();
    this.findings = [];
    this.most = Number.POSITIVE_INFINITY;
  }

  protected override changed(change: Change | null): void {
    if (change === 'selection' || change === 'summary') this.requestUpdate();
  }

  override render() {
    if (this.findings.length === 0) {
      const isComplete = this.session?.summary.verdict.is_complete;
      return html`<p class=${isComplete ? 'none' : 'dim'}>${isComplete ? 'No findings: all checks have run.' : 'No findings so far; the checks are not finished.'}</p>`;
    }
    let left = this.most;
    return GROUPS.map(({ severity, title, mark }) => {
      const of = this.findings.filter((finding) => finding.severity === severity);
      const listed = of.slice(0, left);
      left -= listed.length;
      if (listed.length === 0) return nothing;
      return html`<h3>${title} · ${count(of.length)}</h3><ul>${listed.map((finding) => this.#finding(finding, severity, mark))}</ul>`;
    });
  }

  #finding(finding: Diagnostic, severity: string, mark: string) {
    const { message, expected, found, context, offset, kind } = finding;
    const at = offset === null || offset === undefined ? null : Number(offset);
    const isOn = at !== null && this.session?.selection.offset === at && this.session.selection.size > 0;
    return html`<li class="${severity} ${isOn ? 'on' : ''}">
      <span class="mark" aria-hidden="true">${mark}</span>
      <div>
        <p class="text">${name(message, 600)}</p>
        <p class="detail">
          ${RULES[kind] ?? kind}
          ${context ? html` · <span class="file">${name(context)}</span>` : nothing}
          ${expected && found ? html` · expected <span class="file">${name(expected)}</span>, found <span class="file">${name(found)}</span>` : nothing}
        </p>
      </div>
      ${at === null ? html`<span class="at dim">no place</span>` : html`<button class="at link" title="Go to its bytes" @click=${() => this.session?.select(at, 1)}>${hex(at)}</button>`}
    </li>`;
  }
}

define('kernel-scope-findings', Findings);
