// A record as a picture that stands alone: the same rows as on the page, in light colours, for documents and printers. Pure.

import { type Box, inRow, type Word } from './bits.ts';
import { bitsInRow, bitsText, isThin, isTold, meaningText, thinText, valueText } from './field.ts';
import type { Field, StructRecord } from './protocol.ts';
import { bytes, hex, name } from './text.ts';

const SANS = 'system-ui, sans-serif';
const MONO = 'ui-monospace, monospace';
const INK = '#1c1b19';
const DIM = '#66635c';
const LINE = '#b9b4a8';
/** Pixels: around the picture, left of the rows, of a row, of a line below it. */
const MARGIN = 16;
const GUTTER = 62;
const ROW = 44;
const TOLD = 17;
const MONO_WIDTH = 7.6;

/** A part of a picture that is not cut in two. */
interface Strip {
  height: number;
  body: string;
}

/** The whole picture. */
export function svg(record: StructRecord, words: readonly Word[], bits: number): string {
  const all = strips(record, words, bits);
  let y = MARGIN;
  let body = '';
  for (const strip of all) {
    body += `<g transform="translate(${MARGIN} ${y})">${strip.body}</g>\n`;
    y += strip.height;
  }
  const title = name(record.name, 80);
  const described = record.fields.map((field) => `${name(field.name, 80)} (${bitsText(field)}): ${valueText(field)}`);
  const about = `<title>${escaped(title)}</title>\n<desc>${escaped(described.join('; '))}</desc>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${wrapped(bits, y + MARGIN, MARGIN, body, about)}`;
}

/** The picture in parts, each one of its own, between which a printer may turn the page. */
export function sheets(record: StructRecord, words: readonly Word[], bits: number): string[] {
  return strips(record, words, bits).map(({ height, body }) => wrapped(bits, height, 0, body));
}

function wrapped(bits: number, height: number, margin: number, body: string, about = ''): string {
  const width = GUTTER + bits * step(bits) + 1 + 2 * margin;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="${SANS}" font-size="11.5" fill="${INK}">\n${about}` +
    `<defs><pattern id="reserved" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V6" stroke="${LINE}"/></pattern>` +
    `<pattern id="unclaimed" width="7" height="7" patternUnits="userSpaceOnUse"><circle cx="2" cy="2" r="0.8" fill="${DIM}"/></pattern></defs>\n` +
    `<rect width="${width}" height="${height}" fill="#ffffff"/>\n${body}</svg>\n`
  );
}

/** Pixels of a bit. */
function step(bits: number): number {
  return bits === 64 ? 18 : 24;
}

function strips(record: StructRecord, words: readonly Word[], bits: number): Strip[] {
  const place = `${bytes(record.span.size)}${record.is_stored ? ` at ${hex(record.span.offset)}` : ''}`;
  const title = name(record.name, 80);
  const scale = Array.from({ length: bits }, (_, i) =>
    text(GUTTER + (i + 0.5) * step(bits), 36, String(bits - 1 - i), `font-size="9" fill="${DIM}" text-anchor="middle"`),
  );
  const head =
    text(0, 14, title, `font-family="${MONO}" font-size="14" font-weight="600"`) +
    text(title.length * 8.6 + 14, 14, place, `fill="${DIM}"`);
  const marks = [
    ...(record.fields.some(({ kind }) => kind === 'reserved') ? ['reserved'] : []),
    ...(words.some(({ boxes }) => boxes.some(({ field }) => field < 0)) ? ['unclaimed'] : []),
  ];
  const legend = marks.map(
    (mark, i) =>
      `<rect x="${GUTTER + 290 + i * 100}" y="6" width="18" height="11" fill="url(#${mark})" stroke="${LINE}"/>` +
      text(GUTTER + 314 + i * 100, 16, mark, `fill="${DIM}"`),
  );
  const order = text(GUTTER, 16, 'little-endian: bit 0 is the lowest of the first byte', `fill="${DIM}"`);
  const layout = fit(`layout: ${name(record.source ?? '')}`, bits * step(bits));
  const source = record.source ? text(GUTTER, 34, layout, `fill="${DIM}"`) : '';
  return [
    { height: 40, body: head + scale.join('') },
    ...words.map((word) => row(word, record.fields, bits)),
    { height: source ? 42 : 24, body: order + legend.join('') + source },
  ];
}

function row(word: Word, fields: readonly Field[], bits: number): Strip {
  const last = word.at + (bits / 8) * (word.folded + 1) - 1;
  const at = `+${word.at}${word.folded > 0 ? `–${last}` : ''}`;
  const told: Field[] = [];
  let body = text(0, ROW / 2 + 4, at, `font-family="${MONO}" fill="${DIM}"`);
  for (const box of word.boxes) {
    const field = fields[box.field];
    const [high, low] = inRow(word, box, bits);
    const x = GUTTER + (bits - 1 - high) * step(bits);
    const width = (high - low + 1) * step(bits);
    const fill = field ? (field.kind === 'reserved' ? 'url(#reserved)' : '#f4f8fb') : 'url(#unclaimed)';
    body += `<rect x="${x + 0.5}" y="0.5" width="${width}" height="${ROW}" fill="${fill}" stroke="${LINE}"/>`;
    if (!field) continue;
    body += inBox(field, box, x, width);
    if (isThin(field, width - 16) && box.isEnd && isTold(field)) told.push(field);
  }
  const room = bits * step(bits);
  const columns = Math.min(told.length, Math.floor(room / 380));
  told.forEach((field, i) => {
    const x = GUTTER + (i % columns) * (room / columns);
    const y = ROW + 15 + Math.floor(i / columns) * TOLD;
    const value = valueText(field, 24);
    const meaning = field.kind === 'flag' ? '' : ` ${meaningText(field, 60)}`;
    const what = fit(`${name(field.name, 60)}${meaning}`, room / columns - 60 - value.length * MONO_WIDTH);
    body +=
      text(x + 36, y, bitsInRow(field, bits), `font-size="10" fill="${DIM}" text-anchor="end"`) +
      text(x + 44, y, value, `font-family="${MONO}" font-weight="600"`) +
      text(x + 52 + value.length * MONO_WIDTH, y, what);
  });
  const lines = columns > 0 ? Math.ceil(told.length / columns) : 0;
  return { height: ROW + 4 + lines * TOLD + (lines > 0 ? 6 : 0), body };
}

function inBox(field: Field, box: Box, x: number, width: number): string {
  const room = width - 16;
  if (isThin(field, room)) {
    return text(x + width / 2, 34, thinText(field), `font-family="${MONO}" font-weight="600" text-anchor="middle"`);
  }
  if (!box.isEnd) return text(x + 8, 16, `${fit(name(field.name, 60), room - 14)} …`, `fill="${DIM}"`);
  const value = fit(valueText(field), room, MONO_WIDTH);
  const rest = room - value.length * MONO_WIDTH - 8;
  return (
    text(x + 8, 16, fit(name(field.name, 60), room), `fill="${DIM}"`) +
    text(x + 8, 34, value, `font-family="${MONO}" font-size="12.5" font-weight="600"`) +
    (rest > 30
      ? text(x + 16 + value.length * MONO_WIDTH, 34, fit(meaningText(field), rest), `font-size="11" fill="${DIM}"`)
      : '')
  );
}

/** As much of a text as has room. Nothing measures it here: capitals count for more, and other characters for what they mostly are. */
export function fit(what: string, room: number, each?: number): string {
  let used = 0;
  let end = 0;
  for (const c of what) {
    used += each ?? (/[A-Z\d_]/.test(c) ? 8 : c < '\u0250' ? 6.3 : 12);
    if (used > room) return `${what.slice(0, Math.max(0, end - 1))}…`;
    end += c.length;
  }
  return what;
}

export function text(x: number, y: number, what: string, how = ''): string {
  return `<text x="${Math.round(x * 10) / 10}" y="${y}"${how && ' '}${how}>${escaped(what)}</text>`;
}

/** As XML has it: what would be markup is written out, what no XML may hold is replaced. */
export function escaped(what: string): string {
  return what
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
