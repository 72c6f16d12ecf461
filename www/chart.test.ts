import { expect, test } from 'vitest';
import { type Frame, nearest, type Points, plot, pointAt, ticks, xOf, yOf } from './chart.ts';

const FRAME: Frame = { width: 120, height: 60, left: 10, top: 0, right: 110, bottom: 48 };
// 40 registers a thread and blocks of 256: 5 blocks of 8 warps below, 4 above.
const POINTS: Points = [
  [20, 48],
  [40, 48],
  [60, 40],
  [80, 24],
  [100, 24],
];

test('axes have steps of a power of two, and at most so many', () => {
  expect(ticks(1024, 4)).toEqual([0, 256, 512, 768, 1024]);
  expect(ticks(255, 4)).toEqual([0, 64, 128, 192]);
  expect(ticks(48, 4)).toEqual([0, 16, 32, 48]);
  expect(ticks(101_376, 4)).toEqual([0, 32_768, 65_536, 98_304]);
  expect(ticks(1, 4)).toEqual([0, 1]);
  expect(ticks(0, 4)).toEqual([0]);
});

test('the line has a step half of the way between points that differ, and none between those that do not', () => {
  const { line, across, up } = plot(POINTS, 48, FRAME, false);
  // 100 units across and values up to 100: a value is 10 units to the right of itself. 48 units up and 48 warps: 40 is at 8, 24 at 24.
  expect(line).toBe('M30 0H60V8H80V24H110');
  expect(across).toEqual([
    { at: 10, text: '0' },
    { at: 42, text: '32' },
    { at: 74, text: '64' },
    { at: 106, text: '96' },
  ]);
  expect(up.map(({ at }) => at)).toEqual([48, 32, 16, 0]);
});

test('bytes stand at an axis in KiB', () => {
  const bytes: Points = [
    [0, 48],
    [101_376, 8],
  ];
  expect(plot(bytes, 48, FRAME, true).across.map(({ text }) => text)).toEqual(['0', '32 KiB', '64 KiB', '96 KiB']);
  expect(plot(bytes, 48, FRAME, false).across.map(({ text }) => text)).toEqual(['0', '32,768', '65,536', '98,304']);
});

test('a place of the picture is that of the nearest point', () => {
  for (const [i, [value]] of POINTS.entries()) expect(pointAt(xOf(value, POINTS, FRAME), POINTS, FRAME)).toBe(i);
  expect(pointAt(-50, POINTS, FRAME)).toBe(0);
  expect(pointAt(500, POINTS, FRAME)).toBe(4);
  expect(pointAt(59, POINTS, FRAME)).toBe(1);
  expect(pointAt(61, POINTS, FRAME)).toBe(2);
  expect(nearest(1, [])).toBe(-1);
});

test('what lies outside of the axes is drawn at their ends', () => {
  expect(xOf(1000, POINTS, FRAME)).toBe(110);
  expect(yOf(64, 48, FRAME)).toBe(0);
  expect(plot([], 0, FRAME, false).line).toBe('');
  expect(plot([[0, 0]], 0, FRAME, false).line).toBe('M10 48H10');
});
