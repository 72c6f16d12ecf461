import { expect, test } from 'vitest';
import { isDump } from './dump.ts';

test('what people paste of a dump is told from what they do not mean to', () => {
  expect(isDump('const uint32_t qmd[64] = {\n  0x00000000, 0x00000000, 0x0000007f, 0x3c000000 };')).toBe(true);
  expect(isDump('word 0: 0x00000000\nword 1: 0x00000000\nword 2: 0x7f\nword 3: 0x1')).toBe(true);
  expect(isDump('00000000: 00 00\n00000010: 00 00\n00000020: 00 00\n00000030: 00 00\n')).toBe(true);
  expect(isDump('The kernel at 0x1000 does not start. Why?')).toBe(false);
  expect(isDump('')).toBe(false);
});
