// <kernel-scope-form>: a form whose fields the core describes, with what is wrong below each. It knows no field by name. Says `type` with
// the whole text whenever something is typed, chosen or taken away.

import { css, html, LitElement, nothing } from 'lit';
import { grouped, plainValue, readInputs, type Typed, typeInput, verdict } from '../inputs.ts';
import type { LaunchInput, Problem } from '../protocol.ts';
import { base } from '../style.ts';
import { name } from '../text.ts';
import { define } from './part.ts';

const EXAMPLES: Record<LaunchInput['kind'], string> = {
  number: 'number',
  dimensions: 'X,Y,Z',
  choice: '',
  address: '0x…',
  text: '',
};

/** Headings below which the fields are seen at first; below others, where something is typed or wrong, or where there are not many. */
const OPEN = 2;
const FEW = 12;

export class Form extends LitElement {
  static override properties = {
    inputs: { attribute: false },
    problems: { attribute: false },
    text: { attribute: false },
  };
  static override styles = [
    base,
    css`
      :host { display: block; }
      details { margin: 0 0 10px; }
      summary { font: 600 13px var(--sans); margin-block-end: 4px; cursor: pointer; }
      summary small { font: 12px var(--mono); color: var(--dim); margin-inline-start: 4px; }
      .fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 130px), 1fr)); gap: 8px 14px; align-items: start; }
      label { display: block; font-size: 12px; color: var(--dim); margin-block-end: 1px; overflow-wrap: anywhere; }
      .given label { color: var(--ink); font-weight: 600; }
      .of { display: flex; gap: 4px; align-items: center; }
      .of > .field { inline-size: 100%; font: 12.5px var(--mono); }
      select.field { font-family: var(--sans); }
      .field:disabled { opacity: .65; border-style: dashed; }
      .field[aria-invalid="true"] { border-color: var(--error); }
      .clear { color: var(--dim); inline-size: 24px; block-size: 24px; flex: none; text-align: center; border-radius: 6px; }
      .clear:hover { background: var(--hover); color: var(--ink); }
      .long { grid-column: span 2; }
      /* What a field is for is there in full once somebody is at it. */
      .help { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
      div:focus-within > .help { display: block; }
      .help, .problem { font-size: 11.5px; line-height: 1.35; margin-block-start: 2px; overflow-wrap: anywhere; color: var(--dim); }
      .problem { color: var(--ink); padding-inline-start: 7px; border-inline-start: 2px solid var(--dim); }
      .problem.warning { border-color: var(--warning); }
      .problem.error { color: var(--error); border-color: var(--error); }
      @container (max-width: 700px) { .of > .field { min-block-size: 34px; } .clear { inline-size: 34px; block-size: 34px; } }
      @media print { .clear { display: none; } .help { display: block; } .field { border: 0; padding: 0; } }
    `,
  ];

  declare inputs: readonly LaunchInput[];
  declare problems: readonly Problem[];
  /** What has been typed: `grid=4096;block=256`. It counts for what the fields show, whatever of it the answer knows already. */
  declare text: string;
  /** Headings below which the fields were to be seen at some time. */
  readonly #opened = new Set<string>();

  constructor() {
    super();
    this.inputs = [];
    this.problems = [];
    this.text = '';
  }

  override render() {
    const { inputs, problems } = this;
    const typed = readInputs(this.text);
    const known = new Set(inputs.map(({ key }) => key));
    const others = problems.filter(({ input }) => !known.has(input));
    return html`
      <p class="unseen" role="status">${verdict(problems, inputs)}</p>
      ${others.map((problem) => this.#problem(problem, problem.input))}
      ${grouped(inputs).map(
        ([group, of], at) => html`<details ?open=${this.#isOpen(group, at, of, typed)}>
          <summary>${group} <small>${of.length}</small></summary>
          <div class="fields">${of.map((input) => this.#input(input, typed.get(input.key)))}</div>
        </details>`,
      )}
    `;
  }

  /** What is taken away folds nothing: somebody may be about to type something else. */
  #isOpen(group: string, at: number, of: readonly LaunchInput[], typed: Typed): boolean {
    const isAbout = ({ key }: LaunchInput) => typed.has(key) || this.problems.some(({ input }) => input === key);
    if (at < OPEN || this.inputs.length <= FEW || of.some(isAbout)) this.#opened.add(group);
    return this.#opened.has(group);
  }

  #input(input: LaunchInput, typed: string | undefined) {
    const { key, label, note, unavailable } = input;
    const of = this.problems.filter((problem) => problem.input === key);
    const help = unavailable ?? note;
    const described = [...of.map((_, i) => `${key}-${i}`), ...(help ? [`${key}-help`] : [])].join(' ');
    const isGiven = typed !== undefined;
    const isLong = input.kind === 'choice' || input.kind === 'text';
    return html`<div class="${isGiven ? 'given' : ''} ${isLong ? 'long' : ''}">
      <label for=${key}>${name(label, 80)}</label>
      <div class="of">
        ${this.#field(
          input,
          typed,
          described,
          of.some(({ severity }) => severity === 'error'),
        )}
        ${
          isGiven
            ? html`<button class="clear" type="button" title="Take away what was typed" aria-label="Take away ${name(label, 80)}" @click=${() => this.#clear(key)}>×</button>`
            : nothing
        }
      </div>
      ${of.map((problem, i) => this.#problem(problem, '', `${key}-${i}`))}
      ${help ? html`<div class="help" id="${key}-help" title=${help}>${name(help, 400)}</div>` : nothing}
    </div>`;
  }

  #field(
    { key, kind, value, choices, unavailable }: LaunchInput,
    typed: string | undefined,
    described: string,
    isWrong: boolean,
  ) {
    if (kind === 'choice') {
      const chosen = typed ?? value;
      const isKnown = choices.some((choice) => choice.key === chosen);
      return html`<select class="field" id=${key} aria-describedby=${described || nothing} aria-invalid=${isWrong} ?disabled=${unavailable !== null} @change=${this.#typed}>
        ${isKnown ? nothing : html`<option value=${chosen} selected>${name(chosen, 60) || '—'}</option>`}
        ${choices.map(
          (choice) =>
            html`<option value=${choice.key} .selected=${choice.key === chosen} ?disabled=${choice.unavailable !== null}
              title=${choice.unavailable ?? nothing}>${name(choice.unavailable ? `${choice.label} (${choice.unavailable})` : choice.label, 120)}</option>`,
        )}
      </select>`;
    }
    return html`<input class="field" id=${key} aria-describedby=${described || nothing} aria-invalid=${isWrong} ?disabled=${unavailable !== null}
      placeholder=${name(value, 60) || EXAMPLES[kind]} autocomplete="off" autocapitalize="off" spellcheck="false" .value=${typed ?? ''} @input=${this.#typed}>`;
  }

  #problem({ severity, message }: Problem, of: string, id?: string) {
    return html`<div class="problem ${severity}" id=${id ?? nothing}>${of ? html`<b class="file">${name(of, 60)}</b>: ` : nothing}${name(message, 400)}</div>`;
  }

  readonly #typed = (event: Event): void => {
    const field = event.target as HTMLInputElement | HTMLSelectElement;
    const plain = plainValue(field.value);
    if (field.value !== plain) field.value = plain;
    this.#type(field.id, plain);
  };

  /** The field keeps the focus that the button has while it goes away. */
  #clear(key: string): void {
    this.#type(key, '');
    this.renderRoot.querySelector<HTMLElement>(`#${CSS.escape(key)}`)?.focus();
  }

  #type(key: string, value: string): void {
    this.text = typeInput(this.text, key, value);
    this.dispatchEvent(new CustomEvent('type', { detail: this.text }));
  }
}

define('kernel-scope-form', Form);
