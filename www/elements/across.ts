// <kernel-scope-across>: the kernels of all members by their names, with what each needs on each architecture. A cell leads to its kernel in
// its member, a name to the first.

import { css, html, nothing } from 'lit';
import type { Column } from '../protocol.ts';
import type { Session } from '../session.ts';
import { define, Part } from './part.ts';
import './survey.ts';
import type { Lead } from './table.ts';
import './table.ts';

export class Across extends Part {
  static override properties = { ...super.properties, columns: { attribute: false } };
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr); block-size: 100%; }
    `,
  ];

  declare columns: Column[];
  /** Columns that lead somewhere, and for how many columns that was found out. */
  #leads: { of: number; session: Session | null; leads: Record<string, Lead> } = { of: -1, session: null, leads: {} };

  constructor() {
    super();
    this.columns = [];
  }

  #leadsOf(session: Session): Record<string, Lead> {
    const { columns } = this;
    if (this.#leads.of !== columns.length || this.#leads.session !== session) {
      const leads = columns
        .filter(({ key }) => key === 'name' || key.includes('.'))
        .map(({ key }): [string, Lead] => [
          key,
          {
            title: 'Open the kernel in a tab of its own (Enter)',
            isLink: (cell) => cell !== null,
            go: (_, index) => void openFound(session, index, key),
          },
        ]);
      this.#leads = { of: columns.length, session, leads: Object.fromEntries(leads) };
    }
    return this.#leads.leads;
  }

  override render() {
    const { session } = this;
    if (!session) return nothing;
    return html`<kernel-scope-survey .session=${session}></kernel-scope-survey>
      <kernel-scope-table .session=${session} .table=${'across'} .columns=${this.columns} .label=${'Kernels across members'}
        .leads=${this.#leadsOf(session)}></kernel-scope-table>`;
  }
}

/** Opens the member that has the kernel which a cell is about, at the kernel. */
async function openFound(session: Session, row: number, column: string): Promise<void> {
  await session.attempt('The kernel cannot be shown', async () => {
    const found = await session.call('foundKernel', [row, column]);
    if (!found) return;
    const view = found.kernel === null ? 'texts/0' : `kernels/${found.kernel}`;
    const nowhere = { src: null, member: null, decode: null, at: null, select: null, launch: null };
    session.openMember(found.path, { ...nowhere, view });
  });
}

define('kernel-scope-across', Across);
