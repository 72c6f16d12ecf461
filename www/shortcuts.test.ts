import { expect, test } from 'vitest';
import { actionOf, GROUPS, type KeyLike, pressed } from './shortcuts.ts';

const key = (key: string, held: Partial<KeyLike> = {}): KeyLike => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

test('keys have the names that shortcuts have', () => {
  expect(pressed(key('k', { ctrlKey: true }))).toBe('Control+k');
  expect(pressed(key('k', { metaKey: true }))).toBe('Control+k');
  expect(pressed(key('?', { shiftKey: true }))).toBe('?');
  expect(pressed(key('X', { shiftKey: true }))).toBe('Shift+X');
  expect(pressed(key('F6', { shiftKey: true }))).toBe('Shift+F6');
});

test('single keys can be turned off, others cannot', () => {
  expect(actionOf(key('/'), true)).toBe('find');
  expect(actionOf(key('/'), false)).toBe(null);
  expect(actionOf(key('?', { shiftKey: true }), true)).toBe('sheet');
  expect(actionOf(key('k', { ctrlKey: true }), false)).toBe('find');
  expect(actionOf(key('F6'), false)).toBe('next-region');
  expect(actionOf(key('q'), true)).toBe(null);
  expect(actionOf(key('d', { ctrlKey: true }), true)).toBe(null);
});

test('no key has two actions', () => {
  const keys = GROUPS.flatMap((group) => group.shortcuts.flatMap((one) => (one.action ? one.keys : [])));
  expect(new Set(keys).size).toBe(keys.length);
});
