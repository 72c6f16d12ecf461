// <kernel-scope-carve>: looks through the whole file for GPU code that no header tells of, where it is asked to. What is in it stands below.

import { css, html } from 'lit';
import { isAbort, message } from '../client.ts';
import type { Progress } from '../protocol.ts';
import type { Session } from '../session.ts';
import { count, size } from '../text.ts';
import { define, Part } from './part.ts';

/** How far looking has come in a file: kept with it, whatever is shown meanwhile. */
interface Looking {
  progress: Progress | null;
  stop: AbortController | null;
  /** What came of it. */
  said: string;
  /** It came to the file's end. */
  isWhole: boolean;
}

/** Milliseconds between two drawings of how far it is. */
const PACE = 100;

function lookingIn(session: Session): Looking {
  const known = session.kept.get('carve') as Looking | undefined;
  if (known) return known;
  const looking: Looking = { progress: null, stop: null, said: '', isWhole: false };
  session.kept.set('carve', looking);
  return looking;
}

/** Looks through what is left of the file. What was found until it is stopped is found. */
async function look(session: Session, drawn: () => void): Promise<void> {
  const looking = lookingIn(session);
  const before = session.countOf('members');
  const stop = new AbortController();
  looking.stop = stop;
  let at = 0;
  const progress = (progress: Progress) => {
    looking.progress = progress;
    if (performance.now() - at < PACE) return;
    at = performance.now();
    drawn();
  };
  drawn();
  let why: string | null = null;
  try {
    await session.call('carve', [true], { progress, signal: stop.signal });
  } catch (error) {
    why = isAbort(error) ? 'Stopped' : `It could not be looked through to its end (${message(error)})`;
  }
  looking.stop = null;
  try {
    const told = await session.call('carve', [false]);
    const of = told.summary.tables.find(({ key }) => key === 'members');
    const found = Number(of?.count ?? 0) - before;
    const what = found === 1 ? 'one member was found' : `${count(found)} members were found`;
    looking.isWhole = why === null;
    if (why === null) {
      const said = `The whole file was looked through: ${found > 0 ? what : 'there is no GPU code'} that no header tells of.`;
      looking.said = before > 0 ? `${said} What is packed was not looked into.` : said;
    } else {
      const none = `none was found in the first ${size(looking.progress?.done ?? 0)}`;
      looking.said = `${why}: ${found > 0 ? `${what} that no header tells of` : none}.`;
    }
    await session.renew(told);
  } catch (error) {
    session.onNotice(message(error));
  }
  drawn();
}

export class Carve extends Part {
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template: auto auto minmax(0, 1fr) / minmax(0, 1fr); block-size: 100%; min-block-size: 0; }
      :host([flush]) { display: block; block-size: auto; }
      .strip { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; padding: 8px 20px; }
      :host([flush]) .strip { padding-inline: 0; }
      progress { flex: 0 1 14em; min-inline-size: 5em; block-size: 6px; accent-color: var(--accent); }
      @container (max-width: 700px) { .strip { padding-inline: 12px; } }
      @media print { .strip { display: none; } :host { display: block; block-size: auto; } }
    `,
  ];

  override render() {
    const { session } = this;
    if (!session) return '';
    const { progress, stop, said, isWhole } = lookingIn(session);
    const drawn = () => this.requestUpdate();
    if (stop) {
      const { done, total } = progress ?? { done: 0, total: session.size };
      return html`<div class="strip" role="group" aria-label="Looking for GPU code">
        <progress max="100" .value=${(done / Math.max(1, total)) * 100} aria-label="Bytes that were looked through"></progress>
        <span class="dim">${size(done)} of ${size(total)}</span>
        <button class="button" @click=${() => stop.abort()}>Stop</button>
      </div><slot></slot>`;
    }
    return html`<div class="strip">
      ${
        isWhole
          ? ''
          : html`<button class="button" @click=${() => look(session, drawn)}>Look through the whole file for GPU code</button>`
      }
      <span class="dim" role="status">${said}</span>
    </div><slot></slot>`;
  }
}

define('kernel-scope-carve', Carve);
