import { expect, test } from 'vitest';
import { figures } from './occupancy.ts';
import type { OccupancyAnswer } from './protocol.ts';

// 16 registers, 256 threads, no shared memory on sm_89: an SM has 48 warps, a block 8 of them, so 6 blocks. They are 768 blocks on 128
// SMs, and 4096 of a grid are 4096 / 768 = 5.333… times as many.
const ANSWER: OccupancyAnswer = {
  inputs: [],
  problems: [],
  unit: 'SM',
  group: 'block',
  wave: 'warp',
  groups: 6,
  waves: 48,
  most_waves: 48,
  limits: [
    { name: 'registers', groups: 16, is_limit: false, note: '65536 / (8 × 512)' },
    { name: 'shared memory', groups: 100, is_limit: false, note: '102400 / 1024' },
    { name: 'warps', groups: 6, is_limit: true, note: '48 / 8' },
    { name: 'blocks', groups: 24, is_limit: false, note: '' },
  ],
  grid_waves: 4096 / 768,
  charts: [],
  facts: [],
};

test('figures say what an SM holds, and what keeps it from more', () => {
  expect(figures(ANSWER).map(({ title, value }) => [title, value])).toEqual([
    ['blocks', '6'],
    ['warps', '48'],
    ['occupancy', '100 %'],
    ['limited by', 'warps'],
    ['waves of the grid', '5.33'],
  ]);
  expect(figures({ ...ANSWER, waves: 32 })[2]?.value).toBe('66.7 %');
});

test('what is impossible or not known is not a number', () => {
  const none = figures({
    ...ANSWER,
    groups: null,
    waves: null,
    grid_waves: null,
    limits: [{ name: 'warps', groups: 0, is_limit: true, note: '' }],
  });
  // What keeps it from running is told.
  expect(none.map(({ value }) => value)).toEqual(['–', '–', '–', 'warps', '–']);
  expect(none[0]?.note).toBe('no such block can run');
});

test('a small part of a wave is not none', () => {
  expect(figures({ ...ANSWER, grid_waves: 1 / 768 })[4]?.value).toBe('0.001');
  expect(figures({ ...ANSWER, grid_waves: 0 })[4]?.value).toBe('0');
});
