import { expect, test } from 'vitest';
import { FINDING_FORMS, grouped, mentions, written } from './findings.ts';
import type { Diagnostic } from './protocol.ts';

const finding = (severity: Diagnostic['severity'], kind: Diagnostic['kind'], message: string): Diagnostic => ({
  severity,
  kind,
  message,
  expected: null,
  found: null,
  offset: null,
  context: null,
});
const findings = [
  finding('note', 'limit', '12 more'),
  finding('warning', 'loader', 'two are alike'),
  { ...finding('error', 'format', 'the name of section 3 is `a`'), offset: 0x40, context: 'section 3' },
  { ...finding('error', 'format', 'the name of section 14 is `b c`'), offset: 0x80 },
  finding('error', 'loader', 'not this machine'),
  { ...finding('error', 'format', 'a wrong size'), expected: '24', found: '<25>' },
];

test('the worst first, by whose rule, and those alike together', () => {
  const groups = grouped(findings);
  expect(groups.map(({ severity, kind, count }) => [severity, kind, count])).toEqual([
    ['error', 'format', 3],
    ['error', 'loader', 1],
    ['warning', 'loader', 1],
    ['note', 'limit', 1],
  ]);
  expect(groups[0]?.alike.map(({ findings }) => findings.length)).toEqual([2, 1]);
  expect(grouped([])).toEqual([]);
});

test('words are looked for in all that is said', () => {
  const found = (words: string) => findings.filter((one) => mentions(one, words)).length;
  expect(found('')).toBe(6);
  expect(found('NAME 0x40')).toBe(1);
  expect(found('loader')).toBe(2);
  expect(found('expected 24')).toBe(1);
  expect(found('xyzzy')).toBe(0);
});

test('as text, Markdown and JSON', () => {
  expect(written(findings[2] as Diagnostic)).toBe(
    'error: the name of section 3 is `a` (section 3) at 0x40 [breaks the format]',
  );
  expect(FINDING_FORMS.text(findings).split('\n')).toHaveLength(7);
  const markdown = FINDING_FORMS.Markdown(findings);
  expect(markdown).toContain(
    '## Errors: breaks the format\n\n- the name of section 3 is \\`a\\` (section 3) at `0x40`\n',
  );
  expect(markdown).toContain('- a wrong size: expected 24, found \\<25\\>\n');
  expect(JSON.parse(FINDING_FORMS.JSON(findings))).toEqual(findings);
});
