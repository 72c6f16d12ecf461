import { expect, test } from 'vitest';
import { Newest } from './newest.ts';

test('each answer is taken where they come in the order of the questions', () => {
  const newest = new Newest();
  const [first, second] = [newest.ask(), newest.ask()];
  expect([first(), second(), newest.ask()()]).toEqual([true, true, true]);
});

test('an answer that a later one has overtaken is dropped', () => {
  const newest = new Newest();
  const [first, second, third] = [newest.ask(), newest.ask(), newest.ask()];
  expect([second(), first(), third()]).toEqual([true, false, true]);
});
