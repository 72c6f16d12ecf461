import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { forgetPlaces, keepPlace, placeOf, store, stored } from './stored.ts';

const isNumber = (value: unknown) => typeof value === 'number';
let kept: Map<string, string>;

beforeEach(() => {
  kept = new Map();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
});
afterEach(() => vi.unstubAllGlobals());

test('what is stored comes back, and what others wrote there does not', () => {
  store('height', 300);
  expect(stored('height', 0, isNumber)).toBe(300);
  kept.set('kernel-scope.height', '"tall"');
  expect(stored('height', 7, isNumber)).toBe(7);
  kept.set('kernel-scope.height', '{');
  expect(stored('height', 7, isNumber)).toBe(7);
});

test('a browser that keeps nothing is as good', () => {
  vi.stubGlobal('localStorage', undefined);
  store('height', 300);
  expect(stored('height', 7, isNumber)).toBe(7);
  expect(placeOf('a')).toBe(null);
});

test('places of files are kept, the newest of them, and can be forgotten', () => {
  for (let i = 0; i < 210; i++) keepPlace(`file ${i}`, `at=${i}`);
  expect(placeOf('file 209')).toBe('at=209');
  expect(placeOf('file 9')).toBe(null);
  keepPlace('file 10', 'at=1');
  expect(placeOf('file 10')).toBe('at=1');
  expect(forgetPlaces()).toBe(200);
  expect(placeOf('file 209')).toBe(null);
});
