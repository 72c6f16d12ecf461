import { expect, test } from 'vitest';
import { CANCELLED, run, type Steps, turn } from './steps.ts';

function* work(steps: number): Steps<string> {
  for (let done = 0; done < steps; done++) yield { done, total: steps };
  return 'done';
}

/** A clock that every look moves on by a millisecond. */
function pace(slice: number, between: () => void = () => {}) {
  let time = 0;
  return {
    slice,
    now: () => time++,
    yield: async () => between(),
  };
}

test('short work is done at once', async () => {
  let yields = 0;
  const answer = await run(
    work(3),
    () => false,
    () => {},
    pace(100, () => yields++),
  );
  expect(answer).toBe('done');
  expect(yields).toBe(0);
});

test('long work yields between slices and says how far it has come', async () => {
  const said: number[] = [];
  let yields = 0;
  const answer = await run(
    work(100),
    () => false,
    ({ done }) => said.push(done),
    pace(10, () => yields++),
  );
  expect(answer).toBe('done');
  expect(yields).toBeGreaterThan(5);
  expect(said).toEqual([...said].sort((a, b) => a - b));
  expect(said).toHaveLength(yields);
});

test('work that is cancelled stops at the next yield', async () => {
  let isCancelled = false;
  const said: number[] = [];
  const answer = await run(
    work(1000),
    () => isCancelled,
    ({ done }) => said.push(done),
    pace(10, () => {
      isCancelled = true;
    }),
  );
  expect(answer).toBe(CANCELLED);
  expect(said).toHaveLength(1);
});

test('everyone who waits for a turn gets it, in order, and not at once', async () => {
  const next = turn();
  const order: string[] = [];
  const first = next().then(() => order.push('first'));
  const second = next().then(() => order.push('second'));
  await Promise.resolve();
  expect(order).toEqual([]);
  await Promise.all([first, second]);
  expect(order).toEqual(['first', 'second']);
});
