// <kernel-scope-palette>: one field that finds whatever the file has: a panel, a kernel, a section, a symbol, an offset, bytes.

import { css, html, LitElement, nothing } from 'lit';
import { isAbort, message } from '../client.ts';
import { panels } from '../panels.ts';
import type { Span, Suggestion } from '../protocol.ts';
import type { Session } from '../session.ts';
import { base } from '../style.ts';
import { hex, name } from '../text.ts';
import { define } from './part.ts';

/** Something that can be gone to, or done. */
interface Choice {
  title: string;
  /** What kind of thing it is. */
  kind: string;
  hint: string;
  run: () => void;
}

/** Names that are offered, at most. */
const MOST = 30;
const BYTES = /^(0x)?([0-9a-f?]{2}[\s,]*){2,}$/i;

/** Says `decode` where a dump is to be decoded. */
export class Palette extends LitElement {
  static override properties = {
    session: { attribute: false },
    choices: { state: true },
    active: { state: true },
    said: { state: true },
  };
  static override styles = [
    base,
    css`
      dialog { margin: 9vh auto auto; border: 1px solid var(--line); border-radius: 12px; background: var(--pane); color: var(--ink); padding: 0;
        inline-size: min(44rem, calc(100vw - 24px)); font: 13px/1.45 var(--sans); box-shadow: 0 12px 48px rgb(0 0 0 / .3); overflow: hidden; }
      dialog::backdrop { background: rgb(0 0 0 / .35); }
      input { inline-size: 100%; border: 0; border-block-end: 1px solid var(--line); background: none; padding: 14px 18px; font: 15px var(--sans); }
      input:focus-visible { outline: 0; box-shadow: inset 0 -2px var(--accent); }
      input::placeholder { color: var(--dim); opacity: 1; }
      ul { max-block-size: min(56vh, 480px); overflow: auto; padding-block: 6px; }
      li { display: grid; grid-template-columns: 5.5em minmax(0, 1fr) auto; gap: 12px; padding: 5px 18px; cursor: pointer; align-items: baseline; }
      li[aria-selected="true"] { background: var(--wash); box-shadow: inset 3px 0 var(--accent); }
      .kind { color: var(--dim); font-size: 12px; }
      .title { font: 12.5px var(--mono); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
      .hint { color: var(--dim); font: 12px var(--mono); }
      p { padding: 8px 18px 12px; color: var(--dim); }
      p button { margin-inline-start: 8px; }
      @media (forced-colors: active) { li[aria-selected="true"] { outline: 2px solid Highlight; outline-offset: -2px; } }
    `,
  ];

  declare session: Session | null;
  declare choices: Choice[];
  declare active: number;
  declare said: string;
  #asking: AbortController | undefined;

  constructor() {
    super();
    this.session = null;
    this.choices = [];
    this.active = 0;
    this.said = '';
  }

  get #dialog(): HTMLDialogElement {
    return this.renderRoot.querySelector('dialog') as HTMLDialogElement;
  }

  get #input(): HTMLInputElement {
    return this.renderRoot.querySelector('input') as HTMLInputElement;
  }

  show(): void {
    if (this.#dialog.open || !this.session) return;
    this.#dialog.showModal();
    this.#input.select();
    void this.#ask();
  }

  override render() {
    const { choices, active } = this;
    return html`<dialog aria-label="Find" @close=${() => this.#asking?.abort()} @click=${(event: Event) => event.target === this.#dialog && this.#dialog.close()}>
      <input role="combobox" aria-label="Find in the file" aria-expanded="true" aria-controls="choices" aria-autocomplete="list"
        aria-activedescendant=${choices.length > 0 ? `choice${active}` : nothing} placeholder="A kernel, section, symbol; 0x40, .text+0x20, image:0x180; bytes 48 8b ??"
        autocomplete="off" spellcheck="false" @input=${() => this.#ask()} @keydown=${this.#key}>
      <ul role="listbox" id="choices" aria-label="What there is">${choices.map(
        ({ title, kind, hint, run }, i) => html`<li role="option" id="choice${i}" aria-selected=${i === active}
          @pointermove=${() => (this.active = i)} @click=${() => this.#run(run)}>
          <span class="kind">${kind}</span><span class="title">${title}</span><span class="hint">${hint}</span>
        </li>`,
      )}</ul>
      <p role="status">${this.said || (choices.length === 0 ? 'Nothing of that name.' : nothing)}</p>
    </dialog>`;
  }

  protected override updated(): void {
    this.renderRoot.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }

  async #ask(): Promise<void> {
    this.#asking?.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const { session } = this;
    const text = this.#input.value.trim();
    if (!session) return;
    this.said = '';
    const found = this.#panels(session, text);
    this.choices = found;
    this.active = 0;
    if (text === '') return;
    const bytes = this.#bytes(session, text);
    try {
      const [target, names] = await Promise.all([
        session.call('resolve', [text], { signal }).catch(() => null),
        session.call('suggest', [text, MOST], { signal }),
      ]);
      const offset = target && Number(target.span.offset);
      const go: Choice[] =
        target && offset !== null
          ? [
              {
                title: name(target.name, 100),
                kind: 'go to',
                hint: hex(offset),
                run: () => session.select(offset, Math.max(1, Number(target.span.size))),
              },
            ]
          : [];
      this.choices = [...go, ...found, ...names.map((one) => this.#name(session, one)), ...bytes];
    } catch (error) {
      if (signal.aborted) return;
      this.choices = [...found, ...bytes];
      if (!isAbort(error)) this.said = message(error);
    }
  }

  #panels(session: Session, text: string): Choice[] {
    const words = text.toLowerCase();
    const all = panels(session).map(({ key, title, count, leads = key }) => ({
      title,
      kind: 'panel',
      hint: count === null ? '' : String(count),
      run: () => {
        session.view = leads;
      },
    }));
    const decode = {
      title: 'Decode a dump…',
      kind: 'do',
      hint: 'P',
      run: () => this.dispatchEvent(new Event('decode')),
    };
    return [...all, decode].filter(({ title }) => title.toLowerCase().includes(words));
  }

  #name(session: Session, { kind, name: of, view, span }: Suggestion): Choice {
    return {
      title: name(of, 120),
      kind,
      hint: span ? hex(span.offset) : '',
      run: () => {
        session.view = view;
        if (span) session.select(Number(span.offset), Math.max(1, Number(span.size)));
      },
    };
  }

  #bytes(session: Session, text: string): Choice[] {
    const find = (isHex: boolean) => () => this.#search(session, text, isHex);
    const asText = { title: `“${name(text, 80)}”`, kind: 'text', hint: 'next in the bytes', run: find(false) };
    const asHex = { title: text, kind: 'bytes', hint: 'next in the bytes', run: find(true) };
    return BYTES.test(text) ? [asHex, asText] : [asText];
  }

  /** The next match behind the selection; after the end from the start on. */
  async #search(session: Session, text: string, isHex: boolean): Promise<void> {
    const start = session.selection.offset + 1;
    await session.attempt('The bytes cannot be searched', async () => {
      const ask = (from: number): Promise<Span | null> => session.call('search', [text, isHex, from, false]);
      const span = (await ask(start)) ?? (await ask(0));
      if (span) session.select(Number(span.offset), Number(span.size));
      else session.onNotice(`The file has no ${isHex ? 'bytes' : 'text'} ${name(text, 80)}.`, 'info');
    });
  }

  #run(run: () => void): void {
    this.#dialog.close();
    run();
  }

  readonly #key = (event: KeyboardEvent): void => {
    const many = this.choices.length;
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    const by = moves[event.key];
    const choice = this.choices[this.active];
    if (event.key === 'Enter' && choice) this.#run(choice.run);
    else if (by !== undefined && many > 0) {
      // Single steps go round; pages stop at the ends.
      const to = this.active + by;
      this.active = Math.abs(by) === 1 ? (to + many) % many : Math.min(Math.max(0, to), many - 1);
    } else return;
    event.preventDefault();
  };
}

define('kernel-scope-palette', Palette);
