import { expect, test } from 'vitest';
import { layout } from './bits.ts';
import type { Field, StructRecord } from './protocol.ts';
import { sheets, svg } from './svg.ts';

const field = (name: string, msb: number, lsb: number, of: Partial<Field> = {}): Field => ({
  name,
  bits: [msb, lsb],
  raw: 0,
  value: 0,
  meaning: null,
  kind: 'unsigned',
  note: '',
  alternative_of: null,
  target: null,
  ...of,
});

const record = (name: string, size: number, fields: Field[]): StructRecord => ({
  name,
  span: { offset: 0x584, size },
  is_stored: true,
  layout: null,
  source: null,
  fields,
});

/** Names of the elements in the order in which they begin; throws where XML is not well-formed. */
function elements(xml: string): string[] {
  const names: string[] = [];
  const open: string[] = [];
  let rest = xml.replace(/^<\?xml [^<>]*\?>\n/, '');
  for (;;) {
    const data = /^(?:[^<>&]|&(?:amp|lt|gt|quot);)*/.exec(rest)?.[0] ?? '';
    rest = rest.slice(data.length);
    if (rest === '') break;
    const tag = /^<(\/?)([a-zA-Z]+)((?: [a-zA-Z:-]+="(?:[^"<>&]|&(?:amp|lt|gt|quot);)*")*)(\/?)>/.exec(rest);
    if (!tag) throw new Error(`neither text nor a tag: ${rest.slice(0, 60)}`);
    const [all, end, name = '', , empty] = tag;
    if (end && open.pop() !== name) throw new Error(`</${name}> ends another`);
    if (!end) names.push(name);
    if (!end && !empty) open.push(name);
    rest = rest.slice(all.length);
  }
  if (open.length > 0) throw new Error(`<${open}> has no end`);
  return names;
}

/** x and width of the boxes of each row. */
const boxes = (xml: string) =>
  [...xml.matchAll(/<rect x="([\d.]+)" y="0.5" width="([\d.]+)"/g)].map(([, x, width]) => [Number(x), Number(width)]);

test('a picture has a box a field, of as many pixels a bit, the highest on the left', () => {
  const fields = [field('format', 7, 0), field('attribute', 15, 8), field('size', 31, 16), field('address', 95, 32)];
  const it = record('EIATTR', 12, fields);
  const xml = svg(it, layout(fields, [0, 1, 2, 3], 12), 32);
  // 24 pixels a bit behind 62 for the offsets.
  expect(boxes(xml)).toEqual([
    [62.5, 16 * 24],
    [62.5 + 16 * 24, 8 * 24],
    [62.5 + 24 * 24, 8 * 24],
    [62.5, 32 * 24],
  ]);
  expect(elements(xml).slice(0, 3)).toEqual(['svg', 'title', 'desc']);
  expect(xml).toContain('<title>EIATTR</title>');
  expect(xml).toContain('size (bits 31–16): 0');
  expect(xml).toContain('>+4–11</text>');
  expect(boxes(svg(it, layout(fields, [0, 1, 2, 3], 12, 64), 64))[0]).toEqual([62.5, 32 * 18]);
});

test('reserved and unclaimed bits are hatched, and fields of one bit have a line below', () => {
  const fields = [
    field('ENABLE_IEEE_MODE', 23, 23, { kind: 'flag', value: true }),
    field('rest', 31, 24, { kind: 'reserved' }),
  ];
  const xml = svg(record('word', 4, fields), layout(fields, [0, 1], 4), 32);
  expect(xml).toContain('fill="url(#reserved)"');
  expect(xml).toContain('fill="url(#unclaimed)"');
  expect(xml).toMatch(/>23<\/text><text [^>]*>1<\/text><text [^>]*>ENABLE_IEEE_MODE</);
});

test('what comes from a file is text in it, whatever it is', () => {
  const hostile = '</text><script>alert("1")</script>&\u0000\u202e\ud800';
  const fields = [field(hostile, 31, 0, { kind: 'text', value: hostile, meaning: hostile, note: hostile })];
  const it = { ...record(hostile, 4, fields), source: hostile };
  const words = layout(fields, [0], 4);
  for (const xml of [svg(it, words, 32), ...sheets(it, words, 32)]) {
    expect(new Set(elements(xml))).not.toContain('script');
    expect(xml).not.toMatch(/[\ud800-\udfff]/u);
    expect(xml).not.toContain('\u202e');
  }
});

test('for a printer every row is a picture of its own, as wide as the whole without its margins', () => {
  const fields = Array.from({ length: 100 }, (_, i) => field(`offset ${i}`, i * 32 + 31, i * 32));
  const words = layout(
    fields,
    fields.map((_, i) => i),
    400,
  );
  const all = sheets(record('offsets', 400, fields), words, 32);
  // A head, a hundred rows, a foot.
  expect(all).toHaveLength(102);
  for (const xml of all) expect(xml).toContain(`width="${62 + 32 * 24 + 1}"`);
});
