import { expect, test } from 'vitest';
import { LANES, laneWords } from './lanes.ts';

test('barriers are told in words', () => {
  expect(laneWords('......')).toBe('');
  expect(laneWords('|.x..R')).toBe('0 pending, 2 waited for, 5 waited for, and set until the operands are read');
});

test('lines of a barrier that stays pending meet from row to row', () => {
  for (const [lane, { line }] of Object.entries(LANES)) {
    expect(line.includes('M5 0V'), lane).toBe('|xWR'.includes(lane));
    expect(line.includes('V25'), lane).toBe('|wrWR'.includes(lane));
  }
});
