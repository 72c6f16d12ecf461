import { expect, test } from 'vitest';
import { gaps } from './gaps.ts';

test('gaps and overlaps are counted, and all bytes', () => {
  const leaves = {
    offset: Float64Array.of(0, 4, 6, 10, 12),
    size: Float64Array.of(4, 2, 4, 2, 8),
    role: Uint8Array.of(0, 1, 0, 2, 1),
    shared: Uint8Array.of(0, 0, 1, 0, 0),
  };
  expect(gaps(leaves, ['code', 'padding', 'unclaimed'])).toEqual({ padding: 2, unclaimed: 1, overlaps: 1, bytes: 20 });
});
