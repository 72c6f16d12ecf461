// A field of a record in words. Pure.

import type { Field, Location, Span } from './protocol.ts';
import { hex, name } from './text.ts';

const HEX = new Set(['hex', 'address', 'offset', 'flags', 'reserved', 'string']);

/** The decoded value as people write it; nothing where no file has the field's bits. */
export function valueText({ kind, value }: Field, limit = 80): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? '1' : '0';
  // Characters and bytes; an integer past 2^53 is a string of digits as well, but not of these kinds.
  if (kind === 'text') return `"${name(String(value), limit)}"`;
  if (kind === 'bytes') return name(String(value), limit);
  return HEX.has(kind) ? hex(value) : String(value);
}

/** The bits as they are in the file; nothing of what no file has. */
export function rawText({ raw, bits: [msb, lsb] }: Field): string {
  return raw === null ? '' : hex(raw, Math.min(16, Math.ceil((msb - lsb + 1) / 4)));
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

/** Whether a box with `room` pixels for text has too little of it for name and value, which then stand in a line below. */
export function isThin(field: Field, room: number): boolean {
  return room < Math.min(14, field.name.length) * 6.2 || room < Math.min(10, valueText(field).length) * 8.2;
}

/** What a thin box has room for. */
export function thinText(field: Field): string {
  const value = valueText(field);
  return value.length < 3 ? value : '·';
}

/** Whether bits that are reserved are set. */
export function isViolated({ kind, raw }: Field): boolean {
  return kind === 'reserved' && raw !== null && /[1-9]/.test(String(raw));
}

/** What is worth a line below the boxes: reserved bits are only where they are set. */
export function isTold(field: Field): boolean {
  return field.kind !== 'reserved' || isViolated(field);
}

/** The bits of a field in a row of `width`, as the scale above the rows counts them. */
export function bitsInRow({ bits: [msb, lsb] }: Pick<Field, 'bits'>, width: number): string {
  return msb === lsb ? `${lsb % width}` : `${msb % width}–${lsb % width}`;
}

/** What a reference leads to, by what is known of its first byte: the structure that it is of, or the part and how far into it. */
export function targetText({ offset, size }: Span, { parts, records }: Pick<Location, 'parts' | 'records'>): string {
  const record = records.find(({ span, layout }) => layout && span.offset === offset && span.size === size);
  const [part] = parts;
  if (record || !part) return record?.name ?? '';
  const into = Number(offset) - Number(part.span.offset);
  return into === 0 ? part.name : `${part.name}+${hex(into)}`;
}
