// A field of a record in words. Pure.

import type { Field } from './protocol.ts';
import { hex, name } from './text.ts';

const HEX = new Set(['hex', 'address', 'offset', 'flags', 'reserved', 'string']);

/** The decoded value as people write it. */
export function valueText({ kind, value }: Field, limit = 80): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  // Characters and bytes; an integer past 2^53 is a string of digits as well, but not of these kinds.
  if (kind === 'text') return `"${name(String(value), limit)}"`;
  if (kind === 'bytes') return name(String(value), limit);
  return HEX.has(kind) ? hex(value) : String(value);
}

/** The bits as they are in the file. */
export function rawText({ raw, bits: [msb, lsb] }: Field): string {
  return hex(raw, Math.min(16, Math.ceil((msb - lsb + 1) / 4)));
}

/** Whether the decoded value is another number than the bits. */
export function isEncoded({ kind }: Field): boolean {
  return kind === 'scaled' || kind === 'log2' || kind === 'signed';
}

/** What the value means, or what the field is for. */
export function meaningText(field: Field, limit = 200): string {
  return name(field.meaning ?? field.note ?? '', limit);
}

export function bitsText({ bits: [msb, lsb] }: Pick<Field, 'bits'>): string {
  return msb === lsb ? `bit ${lsb}` : `bits ${msb}–${lsb}`;
}
