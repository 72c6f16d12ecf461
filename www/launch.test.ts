import { expect, test } from 'vitest';
import { chosenOf, jsonOf, originText, slotParts, wordsText } from './launch.ts';
import type { Made, Origin } from './protocol.ts';

const origin = (what: Origin['what'], source: string, is_open = false): Origin => ({
  what,
  source,
  place: null,
  is_open,
});

function made(key: string): Made {
  return {
    key,
    title: 'QMD 03.00',
    record: {
      name: 'QMD',
      layout: 'qmd',
      source: '',
      span: { offset: 0, size: 8 },
      is_stored: false,
      fields: [
        {
          name: 'CTA_RASTER_WIDTH',
          bits: [31, 0],
          kind: 'unsigned',
          raw: 4096,
          value: 4096,
          meaning: null,
          note: '',
          target: null,
          alternative_of: null,
        },
      ],
    },
    bytes: '0010000000000000',
    origins: [origin('launch', 'grid')],
    slots: [],
  };
}

test('where a value comes from', () => {
  expect(originText(origin('file', 'EIATTR_REGCOUNT'))).toBe('from the file: EIATTR_REGCOUNT');
  expect(originText(origin('slot', 'program', true))).toBe('open: only run time knows it: program');
  expect(originText(origin('unset', ''))).toBe('not set');
});

test('the structure that is shown first is the one that launches', () => {
  const all = [made('qmd_null'), made('qmd'), made('bank0')];
  expect(chosenOf(all, '')?.key).toBe('qmd');
  expect(chosenOf(all, 'bank0')?.key).toBe('bank0');
  expect(chosenOf(all, 'gone')?.key).toBe('qmd');
  expect(chosenOf([], '')).toBe(null);
});

test('words that have changed', () => {
  expect(wordsText([12])).toBe('word 12');
  expect(wordsText([12, 18])).toBe('words 12 and 18');
  expect(wordsText([1, 2, 3, 4], 3)).toBe('words 1, 2 and 2 more');
});

test('slots are written in parts, some of them shifted', () => {
  const slot = {
    input: 'program',
    name: 'program address',
    value: null,
    parts: [
      { field: 'PROGRAM_ADDRESS_LOWER', bits: [1567, 1536] as [number, number], shift: 8 },
      { field: 'FLAG', bits: [7, 7] as [number, number], shift: 0 },
    ],
  };
  expect(slotParts(slot)).toEqual([
    { field: 'PROGRAM_ADDRESS_LOWER', bits: '1567:1536', shift: '>> 8' },
    { field: 'FLAG', bits: '7', shift: '' },
  ]);
});

test('JSON has the words and where each value comes from', () => {
  const json = JSON.parse(jsonOf(made('qmd')));
  expect(json.words).toEqual(['0x00001000', '0x00000000']);
  expect(json.fields[0]).toMatchObject({ name: 'CTA_RASTER_WIDTH', value: 4096, origin: { what: 'launch' } });
});
