// What is typed into a form that the core describes: keys with their values, as one line of text. Pure.
//
// `grid=4096;block=256` is what the core reads, what the terminal prints, and (with `:` for the first `=` of each) what an
// address has.

import type { LaunchInput, Problem } from './protocol.ts';

export type Typed = ReadonlyMap<string, string>;

/** Reads `key=value;key=value`. A key that comes twice has its last value. Spaces stay: somebody may still be typing. */
export function readInputs(text: string): Map<string, string> {
  const typed = new Map<string, string>();
  for (const part of text.split(';')) {
    const at = part.indexOf('=');
    const key = (at < 0 ? part : part.slice(0, at)).trim();
    if (key !== '') typed.set(key, at < 0 ? '' : part.slice(at + 1));
  }
  return typed;
}

export function writeInputs(typed: Typed): string {
  return [...typed].map(([key, value]) => `${key}=${value}`).join(';');
}

/** `text` with `value` typed for `key`; nothing is as if the key had never been typed. */
export function typeInput(text: string, key: string, value: string): string {
  const typed = readInputs(text);
  const plain = plainValue(value);
  if (plain === '') typed.delete(key);
  else typed.set(key, plain);
  return writeInputs(typed);
}

/** A value without what would end it. */
export function plainValue(value: string): string {
  return value.replaceAll(/[;\r\n]+/g, ' ');
}

/** Inputs under their headings, both in the order in which they come. */
export function grouped(inputs: readonly LaunchInput[]): [string, LaunchInput[]][] {
  const groups = new Map<string, LaunchInput[]>();
  for (const input of inputs) {
    const group = groups.get(input.group);
    if (group) group.push(input);
    else groups.set(input.group, [input]);
  }
  return [...groups];
}

/** What is to be said about a form as a whole: `2 errors: grid, block. 1 note.` Nothing where there is nothing. */
export function verdict(problems: readonly Problem[], inputs: readonly LaunchInput[]): string {
  const labels = new Map(inputs.map(({ key, label }) => [key, label]));
  const said = (['error', 'warning', 'note'] as const).flatMap((severity) => {
    const all = problems.filter((problem) => problem.severity === severity);
    if (all.length === 0) return [];
    const which = [...new Set(all.map(({ input }) => labels.get(input) ?? input))].join(', ');
    return [`${all.length} ${severity}${all.length === 1 ? '' : 's'}: ${which}.`];
  });
  return said.join(' ');
}

/** As an address has it: the first `=` of each is a `:`, which nobody has to encode. */
export function toAddress(text: string): string {
  return [...readInputs(text)].map(([key, value]) => (value === '' ? key : `${key}:${value.trim()}`)).join(';');
}

export function fromAddress(words: string): string {
  const parts = words.split(';').map((part) => {
    const at = part.search(/[:=]/);
    return at < 0 ? part : `${part.slice(0, at)}=${part.slice(at + 1)}`;
  });
  return parts.join(';');
}
