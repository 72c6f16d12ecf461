import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { digest, parts } from './digest.ts';

test('a small file is looked at whole', async () => {
  const bytes = new Uint8Array(100_000).map((_, i) => i % 251);
  const expected = createHash('sha256').update('100000 ').update(bytes).digest('hex');
  expect(await digest(new Blob([bytes]))).toBe(expected);
  expect(await digest(new Blob([]))).toBe(createHash('sha256').update('0 ').digest('hex'));
});

test('of a large file the ends and what is between are looked at', () => {
  const at = parts(2 ** 31);
  expect(at).toHaveLength(16);
  expect(at[0]).toBe(0);
  expect((at[15] ?? 0) + (64 << 10)).toBe(2 ** 31);
  expect(parts((1 << 20) + 1)).toHaveLength(16);
  expect(parts(1 << 20).at(-1)).toBe((1 << 20) - (64 << 10));
});
