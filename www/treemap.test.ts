import { describe, expect, it } from 'vitest';
import { type Box, neighbour, squarify } from './treemap.ts';

const BOX: Box = { x: 3, y: 5, width: 640, height: 360 };

function area({ width, height }: Box): number {
  return width * height;
}

/** Whether boxes share more than rounding. */
function overlap(a: Box, b: Box): boolean {
  const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const down = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return across > 1e-6 && down > 1e-6;
}

function check(weights: readonly number[], box = BOX): Box[] {
  const boxes = squarify(weights, box);
  const counted = weights.map((weight) => (weight > 0 && Number.isFinite(weight) ? weight : 0));
  const most = Math.max(...counted, 1);
  const sum = counted.reduce((sum, weight) => sum + weight / most, 0);
  expect(boxes).toHaveLength(weights.length);
  boxes.forEach((one, i) => {
    expect(area(one)).toBeCloseTo(sum > 0 ? (((counted[i] ?? 0) / most) * area(box)) / sum : 0, 3);
    expect(one.x).toBeGreaterThanOrEqual(box.x - 1e-6);
    expect(one.y).toBeGreaterThanOrEqual(box.y - 1e-6);
    expect(one.x + one.width).toBeLessThanOrEqual(box.x + box.width + 1e-6);
    expect(one.y + one.height).toBeLessThanOrEqual(box.y + box.height + 1e-6);
    expect(boxes.slice(i + 1).filter((other) => overlap(one, other))).toEqual([]);
  });
  return boxes;
}

describe('squarify', () => {
  it('divides as the paper does', () => {
    // Figure 4 there: 6 6 4 3 2 2 1 in a rectangle of 6 × 4.
    const boxes = check([6, 6, 4, 3, 2, 2, 1], { x: 0, y: 0, width: 6, height: 4 });
    expect(boxes[0]).toEqual({ x: 0, y: 0, width: 3, height: 2 });
    expect(boxes[1]).toEqual({ x: 0, y: 2, width: 3, height: 2 });
    const [x, width, height] = [boxes[2]?.x, boxes[2]?.width, boxes[2]?.height];
    expect(x).toBe(3);
    expect(width).toBeCloseTo(4 / (7 / 3), 9);
    expect(height).toBeCloseTo(7 / 3, 9);
  });

  it('covers the rectangle whatever the weights are', () => {
    check([1]);
    check([1, 1]);
    check([5, 0, 3, 0]);
    check(Array.from({ length: 300 }, (_, i) => (i * 7919) % 1009));
    check(Array.from({ length: 200 }, (_, i) => 2 ** -i));
    check([10, 20, 30], { x: 0, y: 0, width: 5, height: 900 });
  });

  it('takes sizes that no file has', () => {
    check([2 ** 53, 1, 0, 2 ** 53]);
    check(Array.from({ length: 100 }, () => 2 ** 53));
    check([Number.NaN, -5, Number.POSITIVE_INFINITY, 7]);
    check([Number.MAX_VALUE, Number.MAX_VALUE, 1]);
    expect(squarify([], BOX)).toEqual([]);
    expect(squarify([0, 0], BOX).map(area)).toEqual([0, 0]);
  });

  it('makes nothing of no room', () => {
    for (const one of squarify([1, 2, 3], { x: 0, y: 0, width: 0, height: 100 })) expect(area(one)).toBe(0);
  });
});

describe('neighbour', () => {
  const grid = [0, 1, 2, 3].map((i) => ({ x: (i % 2) * 100, y: Math.floor(i / 2) * 50, width: 100, height: 50 }));

  it('leads to the box on that side', () => {
    expect(neighbour(grid, 0, 'ArrowRight')).toBe(1);
    expect(neighbour(grid, 0, 'ArrowDown')).toBe(2);
    expect(neighbour(grid, 3, 'ArrowUp')).toBe(1);
    expect(neighbour(grid, 3, 'ArrowLeft')).toBe(2);
    expect(neighbour(grid, 0, 'ArrowLeft')).toBeNull();
    expect(neighbour([], 0, 'ArrowLeft')).toBeNull();
  });
});
