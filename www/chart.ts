// A chart of steps: where its line runs, what its axes say, and which point is meant. Pure.

import { count } from './text.ts';

/** Values, increasing, each with what comes of it. */
export type Points = readonly (readonly [number, number])[];

/** The picture, in units of its own: `left`, `top`, `right` and `bottom` are the edges of what is drawn on. */
export interface Frame {
  width: number;
  height: number;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Tick {
  at: number;
  text: string;
}

export interface Plot {
  /** The line, as the d of a path. */
  line: string;
  across: Tick[];
  up: Tick[];
}

/** Of an axis up to `most`: steps of a power of two, of which there are at most `many`. */
export function ticks(most: number, many: number): number[] {
  let step = 1;
  while (most / step > many) step *= 2;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

/** What stands at ticks. Bytes are said in KiB, where all of them are whole ones. */
function labelled(values: readonly number[], isBytes: boolean): string[] {
  const isKibi = isBytes && values.every((value) => value % 1024 === 0);
  return values.map((value) => (isKibi && value > 0 ? `${count(value / 1024)} KiB` : count(value)));
}

/** Where the axis across ends. */
export function end(points: Points): number {
  return Math.max(1, points.at(-1)?.[0] ?? 1);
}

/** Where a value is across the picture. */
export function xOf(value: number, points: Points, { left, right }: Frame): number {
  return left + (Math.min(Math.max(0, value), end(points)) / end(points)) * (right - left);
}

/** Where what comes of a value is in the picture's height. */
export function yOf(value: number, most: number, { top, bottom }: Frame): number {
  return bottom - (Math.min(value, most) / Math.max(1, most)) * (bottom - top);
}

/**
 * Draws points. Values between two of them may come to anything, so that each has half of the way to its neighbours; where a value
 * comes to what the one before does, the line goes straight on.
 */
export function plot(points: Points, most: number, frame: Frame, isBytes: boolean): Plot {
  const x = (value: number) => round(xOf(value, points, frame));
  const y = (value: number) => round(yOf(value, most, frame));
  let line = '';
  for (const [i, [value, comes]] of points.entries()) {
    const before = points[i - 1];
    if (!before) line = `M${x(value)} ${y(comes)}`;
    else if (before[1] !== comes) line += `H${x((before[0] + value) / 2)}V${y(comes)}`;
  }
  const last = points.at(-1);
  if (last) line += `H${x(last[0])}`;
  const [across, up] = [ticks(end(points), 4), ticks(most, 4)];
  const words = labelled(across, isBytes);
  return {
    line,
    across: across.map((value, i) => ({ at: x(value), text: words[i] ?? '' })),
    up: up.map((value) => ({ at: y(value), text: count(value) })),
  };
}

/** The point at a place of the picture, or the one that is nearest: its index; -1 where there are none. */
export function pointAt(x: number, points: Points, frame: Frame): number {
  return nearest(((x - frame.left) / (frame.right - frame.left)) * end(points), points);
}

/** The point whose value is nearest. */
export function nearest(value: number, points: Points): number {
  let low = 0;
  let high = points.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const [here, next] = [points[middle]?.[0] ?? 0, points[middle + 1]?.[0] ?? 0];
    if (value - here <= next - value) high = middle;
    else low = middle + 1;
  }
  return high;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
