import { expect, test } from 'vitest';
import { type Leaves, leafAt, offsetOf, scale, strips, xOf } from './ribbon.ts';
import { composition } from './roles.ts';

function leaves(sizes: number[], role: (i: number) => number = (i) => i % 3): Leaves {
  const offsets: number[] = [];
  let next = 0;
  for (const size of sizes) {
    offsets.push(next);
    next += size;
  }
  return {
    offset: Float64Array.from(offsets),
    size: Float64Array.from(sizes),
    role: Uint8Array.from(sizes.map((_, i) => role(i))),
    shared: new Uint8Array(sizes.length),
  };
}

test('every byte has its leaf, and none is past the end', () => {
  const of = leaves([64, 0, 10, 1]);
  expect([0, 63, 64, 73, 74, 75].map((offset) => leafAt(of, offset))).toEqual([0, 0, 2, 2, 3, -1]);
});

test('small parts stay visible, and the strip keeps its width', () => {
  const of = leaves([10, 1_000_000, 1, 500_000]);
  const { edges } = scale(of, 1000, 3);
  expect(edges[4]).toBeCloseTo(1000);
  expect((edges[1] ?? 0) - (edges[0] ?? 0)).toBe(3);
  expect((edges[3] ?? 0) - (edges[2] ?? 0)).toBe(3);
  expect(((edges[2] ?? 0) - (edges[1] ?? 0)) / ((edges[4] ?? 0) - (edges[3] ?? 0))).toBeCloseTo(2);
});

test('a place on the strip is a byte, and the byte is at that place', () => {
  const of = leaves([10, 1_000_000, 1, 500_000]);
  const to = scale(of, 1000, 3);
  for (const offset of [0, 9, 10, 777_777, 1_000_010, 1_000_011, 1_500_010]) {
    expect(leafAt(of, offsetOf(xOf(offset, of, to), of, to))).toBe(leafAt(of, offset));
  }
  expect(offsetOf(-5, of, to)).toBe(0);
  expect(offsetOf(5000, of, to)).toBe(1_500_010);
});

test('100,000 parts are never more strips than pixels', () => {
  const of = leaves(Array.from({ length: 100_000 }, (_, i) => (i % 7) + 1));
  const drawn = strips(of, scale(of, 1248));
  expect(drawn.length).toBeLessThanOrEqual(1248);
  expect(drawn.reduce((sum, strip) => sum + strip.width, 0)).toBeCloseTo(1248);
});

test('what a file is made of sums up to the file', () => {
  const parts = composition(leaves([64, 100, 0, 36]), ['header', 'code', 'data']);
  expect(parts).toEqual([
    { role: 'header', bytes: 100, first: { offset: 0, size: 64 } },
    { role: 'code', bytes: 100, first: { offset: 64, size: 100 } },
  ]);
});

test('a file without bytes has a strip without parts', () => {
  const of = leaves([]);
  expect(strips(of, scale(of, 1000))).toEqual([]);
  expect(offsetOf(10, of, scale(of, 1000))).toBe(0);
});
