// <kernel-scope-texts>: the source that a file keeps, such as PTX: the list of texts, or the lines of one.

import { css, html, nothing } from 'lit';
import { codeOf } from '../origin.ts';
import type { Column } from '../protocol.ts';
import type { Session } from '../session.ts';
import { One } from './one.ts';
import { define } from './part.ts';
import { type Leads, showRow } from './table.ts';

export class Texts extends One {
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template: auto auto minmax(0, 1fr) / minmax(0, 1fr); block-size: 100%; min-block-size: 0; }
      p { padding: 10px 20px 0; }
      .failed { color: var(--error); }
      kernel-scope-table { min-block-size: 0; grid-row: 3; }
    `,
  ];
  protected override readonly table = 'texts';
  protected override readonly label = 'Text';
  #lines: Column[] | null = null;
  #finding: AbortController | undefined;

  protected override async ask(session: Session, index: number, signal: AbortSignal): Promise<void> {
    this.#lines = await session.call('columns', [`text/${index}`], { signal });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#finding?.abort();
  }

  protected override one(index: number) {
    return html`
      ${this.head('texts')}
      ${
        this.#lines && !this.failed
          ? html`<kernel-scope-table .session=${this.session} .table=${`text/${index}`} .columns=${this.#lines} .label=${'Lines'}
              .leads=${this.session?.summary.format === 'cubin' ? this.#leads : null}></kernel-scope-table>`
          : nothing
      }
    `;
  }

  /** Lines lead to the code that comes from them; blank ones, directives and comments have none. */
  readonly #leads: Leads = {
    line: {
      title: 'Go to its code',
      isLink: (_, cells) => /^\s*[\w@{$%]/.test(String(cells[1])),
      go: (_, row) => void this.#code(row),
    },
  };

  async #code(row: number): Promise<void> {
    const { session, open } = this;
    if (!session || open === null) return;
    this.#finding?.abort();
    this.#finding = new AbortController();
    const { signal } = this.#finding;
    await session.attempt('The code cannot be shown', async () => {
      const found = await codeOf(session, open, row, { signal });
      if (found) {
        showRow(session, `code/${found.kernel}`, found.row);
        this.show(`kernels/${found.kernel}/code`);
      } else session.onNotice(`No instruction is said to come from line ${row + 1}.`, 'info');
    });
  }
}

define('kernel-scope-texts', Texts);
