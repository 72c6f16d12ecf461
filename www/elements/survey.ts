// <kernel-scope-survey>: how far opening the members of a file has come, and the buttons that it can be left off and gone on with by.
// Nothing where there is nothing to open, or all of it is known.

import { css, html, nothing } from 'lit';
import { count, size } from '../text.ts';
import { define, Part } from './part.ts';

export class SurveyStrip extends Part {
  static override styles = [
    super.styles,
    css`
      :host { display: block; }
      .strip { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; padding: 8px 20px; }
      :host([flush]) .strip { padding-inline: 0; }
      progress { flex: 0 1 14em; min-inline-size: 5em; block-size: 6px; accent-color: var(--accent); }
      @container (max-width: 700px) { .strip { padding-inline: 12px; } }
      @media print { :host { display: none; } }
    `,
  ];

  override render() {
    const survey = this.session?.survey;
    if (!survey || survey.total === 0 || survey.finished) return nothing;
    const { said, total, totalBytes, running, isStopped } = survey;
    if (said === '') {
      const members = total === 1 ? 'Open the member' : `Open all ${count(total)} members`;
      return html`<div class="strip">
        <button class="button" @click=${() => survey.start()}>${members} (${size(totalBytes)} unpacked)</button>
        <span class="dim">${survey.purpose}</span>
      </div>`;
    }
    return html`<div class="strip" role="group" aria-label="Opening members">
      <progress max="100" .value=${survey.share * 100} aria-label="Members that are open"></progress>
      <span class="dim">${said}</span>
      ${
        running
          ? html`<button class="button" @click=${() => survey.pause()}>Pause</button>`
          : html`<button class="button" @click=${() => survey.start()}>Continue</button>`
      }
      ${isStopped ? nothing : html`<button class="button" @click=${() => survey.cancel()}>Stop</button>`}
      <span class="unseen" role="status">${running ? '' : said}</span>
    </div>`;
  }
}

define('kernel-scope-survey', SurveyStrip);
