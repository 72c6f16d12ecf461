// Finding bytes in what is read in windows, as the core finds them in a file (src/search.rs). Pure, but for the reading.

import type { Range, Search } from './bytes.ts';

/** Bytes to find, with the bits that count. */
export interface Pattern {
  bytes: Uint8Array;
  masks: Uint8Array;
}

/** Bytes that are read at once. */
const WINDOW = 1 << 20;

/** Whether what was written is meant as hexadecimal: whole bytes of digits and `?`, with at least one digit. */
export function looksHex(text: string): boolean {
  return /^\s*(?:[0-9a-f?]{2}\s*)+$/i.test(text) && /[0-9a-f]/i.test(text);
}

/** What was written as bytes: `48 8b ?? f?`, or a text in UTF-8. */
export function parsePattern(text: string, isHex: boolean): Pattern {
  if (!isHex) {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length === 0) throw new Error('there is nothing to find');
    return { bytes, masks: new Uint8Array(bytes.length).fill(0xff) };
  }
  const digits = text.replaceAll(/\s/g, '').toLowerCase();
  const wrong = /[^0-9a-f?]/.exec(digits)?.[0];
  if (wrong) throw new Error(`'${wrong}' is not a hexadecimal digit or ?`);
  if (digits.length === 0) throw new Error('there is nothing to find');
  if (digits.length % 2 !== 0) throw new Error('the last byte has only one digit');
  const value = (of: string) => Uint8Array.from(of.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return {
    bytes: value(digits.replaceAll('?', '0')),
    masks: value(digits.replaceAll(/[^?]/g, 'f').replaceAll('?', '0')),
  };
}

/** Where the pattern is in `window` at or behind `from` (or, backwards, at or before); -1 where it is not. */
export function findIn(window: Uint8Array, { bytes, masks }: Pattern, from: number, isBackwards: boolean): number {
  const step = isBackwards ? -1 : 1;
  const last = window.length - bytes.length;
  const [first = 0] = bytes;
  const [mask = 0] = masks;
  for (let at = isBackwards ? Math.min(from, last) : from; at >= 0 && at <= last; at += step) {
    if (((window[at] ?? 0) & mask) !== first) continue;
    let i = 1;
    while (i < bytes.length && ((window[at + i] ?? 0) & (masks[i] ?? 0)) === bytes[i]) i += 1;
    if (i === bytes.length) return at;
  }
  return -1;
}

/** The first match that begins at `start` or behind it in `size` bytes, or, backwards, the last that begins before it. */
export async function scan(
  read: (offset: number, size: number, signal: AbortSignal) => Promise<Uint8Array>,
  size: number,
  pattern: Pattern,
  start: number,
  isBackwards: boolean,
  { signal, progress }: Search,
): Promise<Range | null> {
  const { length } = pattern.bytes;
  // Matches begin at `WINDOW` places of a window; their last bytes may lie behind these.
  const total = isBackwards ? Math.min(start, size) : size - start;
  for (let done = 0; done < total; done += WINDOW) {
    const from = isBackwards ? Math.max(0, total - done - WINDOW) : start + done;
    const to = isBackwards ? total - done : Math.min(size, from + WINDOW);
    const window = await read(from, Math.min(size, to - 1 + length) - from, signal);
    signal.throwIfAborted();
    const found = findIn(window, pattern, isBackwards ? to - 1 - from : 0, isBackwards);
    if (found >= 0) return { offset: from + found, size: length };
    progress({ done: Math.min(total, done + WINDOW), total });
  }
  return null;
}
