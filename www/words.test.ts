import { expect, test } from 'vitest';
import type { Field } from './protocol.ts';
import { bytesOf, changed, digitsAt, FORMS, fieldsAt, marked, words } from './words.ts';

const field = (name: string, msb: number, lsb: number, alternative_of: string | null = null): Field => {
  return {
    name,
    bits: [msb, lsb],
    kind: 'unsigned',
    raw: 0,
    value: 0,
    meaning: null,
    note: '',
    target: null,
    alternative_of,
  };
};

test('words have their lowest byte first', () => {
  const bytes = bytesOf('0010000078563412ff');
  expect(words(bytes)).toEqual(['00001000', '12345678', '000000ff']);
  expect(digitsAt(bytes, 4, 1)).toBe('78');
  expect(bytesOf('')).toEqual(new Uint8Array());
});

test('what has changed is said by word', () => {
  expect(changed(bytesOf('0000000000000000'), bytesOf('0000000000000100'))).toEqual([1]);
  expect(changed(bytesOf('00000000'), bytesOf('00000000'))).toEqual([]);
  expect(changed(bytesOf('00000000'), bytesOf('0000000000000000'))).toEqual([]);
});

test('a word knows its fields, from the lowest bit up', () => {
  const fields = [field('c', 40, 17), field('b', 16, 16), field('a', 15, 0), field('other', 15, 8, 'a')];
  expect(fieldsAt(fields, 0, 4)).toEqual([2, 1, 0]);
  expect(fieldsAt(fields, 4, 4)).toEqual([0]);
  expect(fieldsAt(fields, 1, 1)).toEqual([2]);
  expect(fieldsAt(fields, 8, 4)).toEqual([]);
});

test('digits are marked by their four bits', () => {
  // Word 18 of a descriptor of version 3.0: bits 607:592, block x, are its upper half (592 = 18 * 32 + 16).
  const x = (lsb: number) => (lsb <= 607 && lsb + 3 >= 592 ? 'on' : '');
  expect(marked('01000000', 72, x)).toEqual([
    { text: '0100', mark: 'on' },
    { text: '0000', mark: '' },
  ]);
  expect(marked('ff', 0, () => '')).toEqual([{ text: 'ff', mark: '' }]);
});

test('words are written for people, for C, and as lists', () => {
  const bytes = new Uint8Array(36);
  bytes.set([0, 0x10], 32);
  const print = (key: string) => FORMS.find((form) => form.key === key)?.print(bytes, 0);
  const zeros = Array(8).fill('0x00000000');
  expect(print('words')).toBe(`${zeros.join(' ')}\n0x00001000\n`);
  expect(print('list')).toBe(`${zeros.map((zero, i) => `word ${i}: ${zero}`).join('\n')}\nword 8: 0x00001000\n`);
  expect(print('c32')).toBe(`static const uint32_t words[9] = {\n    ${zeros.join(', ')},\n    0x00001000,\n};\n`);
  expect(FORMS.map(({ key }) => key)).toEqual(['words', 'list', 'c32', 'hex', 'dump', 'c', 'rust']);
});
