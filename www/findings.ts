// Findings put in order: worst first, by whose rule they break, and those alike together. Pure.

import type { Diagnostic } from './protocol.ts';
import { hex, visible } from './text.ts';

export const SEVERITIES = [
  { severity: 'error', title: 'Errors', mark: '✕' },
  { severity: 'warning', title: 'Warnings', mark: '▲' },
  { severity: 'note', title: 'Notes', mark: '●' },
] as const;

export const RULES: Record<Diagnostic['kind'], string> = {
  format: 'breaks the format',
  loader: 'a loader refuses it',
  limit: 'past a bound',
  unknown_value: 'value that no public source names',
};

/** Findings that say the same of different places. */
export interface Alike {
  key: string;
  findings: Diagnostic[];
}

/** Findings of one severity that break the rules of one side. */
export interface Group {
  severity: Diagnostic['severity'];
  title: string;
  mark: string;
  kind: Diagnostic['kind'];
  count: number;
  alike: Alike[];
}

/** Groups, the worst first; in each, what is alike stands where the first of it stood. */
export function grouped(findings: readonly Diagnostic[]): Group[] {
  const kinds = Object.keys(RULES) as Diagnostic['kind'][];
  return SEVERITIES.flatMap((of) =>
    kinds.flatMap((kind): Group[] => {
      const all = findings.filter((finding) => finding.severity === of.severity && finding.kind === kind);
      const alike = new Map<string, Diagnostic[]>();
      for (const finding of all) {
        const key = `${of.severity}/${kind}/${pattern(finding.message)}`;
        alike.set(key, [...(alike.get(key) ?? []), finding]);
      }
      if (all.length === 0) return [];
      const list = [...alike].map(([key, findings]) => ({ key, findings }));
      return [{ ...of, kind, count: all.length, alike: list }];
    }),
  );
}

/** The message without what differs from place to place: numbers, and names in quotes. */
function pattern(message: string): string {
  return message.replaceAll(/0x[\da-f]+|\d+|`[^`]*`|"[^"]*"/gi, '#');
}

/** Whether all words occur in what is said of the finding. */
export function mentions(finding: Diagnostic, words: string): boolean {
  const said = written(finding).toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}

/** A finding in a line, as the terminal prints it. */
export function written({ severity, kind, message, expected, found, context, offset }: Diagnostic): string {
  const difference = expected !== null && found !== null ? `: expected ${expected}, found ${found}` : '';
  const where = `${context === null ? '' : ` (${context})`}${offset === null ? '' : ` at ${hex(offset)}`}`;
  return visible(`${severity}: ${message}${difference}${where} [${RULES[kind]}]`);
}

export const FINDING_FORMS: Record<'text' | 'Markdown' | 'JSON', (findings: readonly Diagnostic[]) => string> = {
  text: (findings) => findings.map((finding) => `${written(finding)}\n`).join(''),
  Markdown: (findings) =>
    grouped(findings)
      .map(({ title, kind, alike }) => {
        const lines = alike.flatMap(({ findings }) => findings.map((finding) => `- ${marked(finding)}\n`));
        return `## ${title}: ${RULES[kind]}\n\n${lines.join('')}`;
      })
      .join('\n'),
  JSON: (findings) => `${JSON.stringify(findings, null, 2)}\n`,
};

/** What would be markup in Markdown stands for itself. */
function marked({ message, expected, found, context, offset }: Diagnostic): string {
  const plain = (text: string) => visible(text).replaceAll(/[\\`*_~[\]<>|&#]/g, '\\$&');
  const difference = expected !== null && found !== null ? `: expected ${plain(expected)}, found ${plain(found)}` : '';
  const where = context === null ? '' : ` (${plain(context)})`;
  return `${plain(message)}${difference}${where}${offset === null ? '' : ` at \`${hex(offset)}\``}`;
}
