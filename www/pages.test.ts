import { expect, test } from 'vitest';
import { Pages } from './pages.ts';

const settled = () => new Promise((resolve) => setTimeout(resolve));

test('a page is fetched once, and those looked at longest ago are forgotten', async () => {
  const fetched: number[] = [];
  const pages = new Pages<string>(
    async (page) => {
      fetched.push(page);
      return `page ${page}`;
    },
    () => {},
    2,
  );
  expect(pages.get(0)).toBe(undefined);
  expect(pages.get(0)).toBe(undefined);
  await settled();
  expect(pages.get(0)).toBe('page 0');
  for (const page of [1, 0, 2]) {
    pages.get(page);
    await settled();
  }
  expect(fetched).toEqual([0, 1, 2]);
  expect(pages.get(0)).toBe('page 0');
  expect(pages.get(1)).toBe(undefined);
});

test('a page that cannot be fetched is asked for once, until all is forgotten', async () => {
  let asked = 0;
  const errors: unknown[] = [];
  const pages = new Pages<string>(
    async () => {
      asked++;
      throw new Error('the file has changed since it was opened');
    },
    (error) => errors.push(error),
    2,
  );
  pages.get(7);
  await settled();
  pages.get(7);
  expect([asked, errors.length, pages.hasFailed(7)]).toEqual([1, 1, true]);
  pages.clear();
  pages.get(7);
  expect(asked).toBe(2);
});

test('pages that nobody looks at any more are given up, and can be asked for again', async () => {
  const signals: AbortSignal[] = [];
  const pages = new Pages<string>(
    (_, signal) =>
      new Promise((resolve, reject) => {
        signals.push(signal);
        signal.addEventListener('abort', () => reject(signal.reason));
        setTimeout(() => resolve('late'));
      }),
    () => {},
    2,
  );
  pages.get(1);
  pages.get(2);
  pages.keepOnly((page) => page === 2);
  expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
  await settled();
  await settled();
  expect(pages.get(2)).toBe('late');
  expect(pages.get(1)).toBe(undefined);
  await settled();
  await settled();
  expect(pages.get(1)).toBe('late');
});
