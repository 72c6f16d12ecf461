import { expect, test } from 'vitest';
import { act, type Node } from './tree.ts';

const node = (label: string, level: 1 | 2, isExpanded: boolean | null = null): Node => ({ label, level, isExpanded });
const nodes = [
  node('Summary', 1),
  node('Kernels', 1, true),
  node('vadd', 2),
  node('saxpy', 2),
  node('Sections', 1, false),
];

test('arrows, Home and End go through what is visible', () => {
  expect(act(nodes, 0, 'ArrowDown')).toEqual({ to: 1 });
  expect(act(nodes, 4, 'ArrowDown')).toEqual({ to: 4 });
  expect(act(nodes, 0, 'ArrowUp')).toEqual({ to: 0 });
  expect(act(nodes, 2, 'End')).toEqual({ to: 4 });
  expect(act(nodes, 2, 'Home')).toEqual({ to: 0 });
});

test('right opens and goes in, left goes out and closes', () => {
  expect(act(nodes, 4, 'ArrowRight')).toEqual({ isExpanded: true });
  expect(act(nodes, 1, 'ArrowRight')).toEqual({ to: 2 });
  expect(act(nodes, 0, 'ArrowRight')).toEqual({ to: 0 });
  expect(act(nodes, 3, 'ArrowLeft')).toEqual({ to: 1 });
  expect(act(nodes, 1, 'ArrowLeft')).toEqual({ isExpanded: false });
  expect(act(nodes, 4, 'ArrowLeft')).toEqual({ to: 4 });
});

test('a letter goes to the next that begins with it', () => {
  expect(act(nodes, 0, 's')).toEqual({ to: 3 });
  expect(act(nodes, 3, 'S')).toEqual({ to: 4 });
  expect(act(nodes, 4, 's')).toEqual({ to: 0 });
  expect(act(nodes, 0, 'z')).toEqual({ to: 0 });
  expect(act(nodes, 0, 'Enter')).toBe(null);
});
