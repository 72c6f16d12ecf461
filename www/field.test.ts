import { expect, test } from 'vitest';
import { bitsText, isEncoded, rawText, valueText } from './field.ts';
import type { Field } from './protocol.ts';

const field = (of: Partial<Field>): Field => ({
  name: 'f',
  bits: [31, 0],
  raw: 0,
  value: 0,
  meaning: null,
  kind: 'unsigned',
  note: '',
  alternative_of: null,
  target: null,
  ...of,
});

test('values are written as their kind asks', () => {
  expect(valueText(field({ kind: 'offset', value: 0x18 }))).toBe('0x18');
  expect(valueText(field({ kind: 'count', value: 24 }))).toBe('24');
  expect(valueText(field({ kind: 'flag', value: true }))).toBe('1');
  expect(valueText(field({ kind: 'signed', value: -2 }))).toBe('-2');
  expect(valueText(field({ kind: 'address', value: '18446744073709551615' }))).toBe('0xffffffffffffffff');
  expect(valueText(field({ kind: 'text', value: 'NVIDIA\u202e' }))).toBe('"NVIDIA\\u{202e}"');
  expect(valueText(field({ kind: 'bytes', value: '7f454c46' }))).toBe('7f454c46');
});

test('the raw bits have as many digits as the field is wide', () => {
  expect(rawText(field({ raw: 3, bits: [79, 64] }))).toBe('0x0003');
  expect(rawText(field({ raw: 1, bits: [17, 17] }))).toBe('0x1');
  expect(bitsText({ bits: [17, 17] })).toBe('bit 17');
  expect(bitsText({ bits: [79, 64] })).toBe('bits 79–64');
});

test('an encoded value is told from the bits', () => {
  expect(isEncoded(field({ kind: 'scaled' }))).toBe(true);
  expect(isEncoded(field({ kind: 'size' }))).toBe(false);
});
