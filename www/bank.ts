// Constant bank 0 of a kernel: operands that people write, and words about what is there. Pure.

import type { BankPart, BankPlace } from './protocol.ts';
import { hex, parseOffset } from './text.ts';

/** Bytes that a bank can have. */
export const BANK = 0x1_0000;

/** The offset in `0x210`, `528`, `c[0x0][0x210]`, or what is there of it while it is typed; null where there is none. */
export function parseOperand(text: string): number | null {
  const inner = /^\s*c\s*\[\s*(?:0x0*)?0\s*\]\s*\[(.*?)\]?\s*$/i.exec(text)?.[1] ?? text;
  const offset = parseOffset(inner);
  return offset !== null && offset < BANK ? offset : null;
}

const WHAT: Record<BankPart['what'], string> = {
  driver: 'of the driver',
  runtime: 'of the device runtime',
  parameter: 'parameter',
  padding: 'between the parameters',
  beyond: 'in the file behind the parameters',
  unknown: 'nobody says what is there',
};

/** What is there, by name and how far into it. */
export function nameOf({ name, within, part }: BankPlace): string {
  const words = name || (part.what === 'unknown' ? 'unknown' : WHAT[part.what]);
  return within > 0 ? `${words} + ${hex(within)}` : words;
}

/** What that is, and how it is known. */
export function about({ part }: BankPlace): string {
  const { what, certainty, source, note } = part;
  const words = [note, note && what !== 'driver' ? '' : part.name || what === 'unknown' ? WHAT[what] : ''];
  const known = certainty === 'unknown' ? '' : `${certainty}: ${source}`;
  return [...words, known].filter((word) => word !== '').join(' · ');
}

/** The tint of each part, as the tints of a file's parts: a number is an index here. */
export const TINTS = ['header', 'note', 'code', 'padding', 'data', 'padding'] as const;
const ORDER: readonly BankPart['what'][] = ['driver', 'runtime', 'parameter', 'padding', 'beyond', 'unknown'];

/** The parts as a strip draws them; what lies between the parameters and the device runtime's area is drawn shorter. */
export function strip(parts: readonly BankPart[], longest: number) {
  const shown = parts.map(({ size, what }) => (what === 'unknown' ? Math.min(size, longest) : size));
  let at = 0;
  const offset = shown.map((size) => {
    at += size;
    return at - size;
  });
  return {
    offset: Float64Array.from(offset),
    size: Float64Array.from(shown),
    role: Uint8Array.from(parts, ({ what }) => ORDER.indexOf(what)),
    shared: new Uint8Array(parts.length),
  };
}
