// What comes of a launch, in words. Pure.

import { bitsText, valueText } from './field.ts';
import type { Made, Origin, Slot } from './protocol.ts';
import { name } from './text.ts';
import { bytesOf, words } from './words.ts';

const WHAT: Record<Origin['what'], string> = {
  file: 'from the file',
  launch: 'from the launch',
  profile: 'as drivers write it',
  slot: 'known at run time, typed here',
  set: 'set by hand',
  unset: 'not set',
};

/** Where the value of a field comes from. */
export function originText({ what, source, is_open }: Origin, limit = 160): string {
  const said = is_open ? 'open: only run time knows it' : WHAT[what];
  return source === '' ? said : `${said}: ${name(source, limit)}`;
}

/** Which of the structures is shown: the one that was asked for, or the first that is no null descriptor. */
export function chosenOf(made: readonly Made[], key: string): Made | null {
  return made.find((one) => one.key === key) ?? made.find((one) => !one.key.endsWith('_null')) ?? made[0] ?? null;
}

/** `word 12`, `words 12 and 18`, `words 4, 5, 6 and 21 more`. */
export function wordsText(indices: readonly number[], most = 8): string {
  if (indices.length === 1) return `word ${indices[0]}`;
  const isCut = indices.length > most;
  const shown = isCut ? indices.slice(0, most - 1) : indices.slice(0, -1);
  return `words ${shown.join(', ')} and ${isCut ? `${indices.length - shown.length} more` : indices.at(-1)}`;
}

/** A place where a slot is written, one a line. */
export function slotParts({ parts }: Slot): { field: string; bits: string; shift: string }[] {
  return parts.map(({ field, bits: [msb, lsb], shift }) => {
    return { field, bits: msb === lsb ? String(lsb) : `${msb}:${lsb}`, shift: shift === 0 ? '' : `>> ${shift}` };
  });
}

/** A structure with its words, its fields and where their values come from. */
export function jsonOf(made: Made): string {
  const fields = made.record.fields.map(({ name, bits, raw, value, meaning }, i) => {
    return { name, bits, raw, value, meaning, origin: made.origins[i] ?? null };
  });
  const { key, title, bytes, slots } = made;
  return JSON.stringify(
    { key, title, bytes, words: words(bytesOf(bytes)).map((word) => `0x${word}`), fields, slots },
    null,
    2,
  );
}

/** What a unit of the bytes holds of a field: its name, its value and where that comes from. */
export function heldText(made: Made, index: number): string {
  const field = made.record.fields[index];
  const origin = made.origins[index];
  if (!field) return '';
  return `${name(field.name, 60)} (${bitsText(field)}) = ${valueText(field, 40)}${origin ? `, ${originText(origin, 80)}` : ''}`;
}
