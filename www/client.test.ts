import { expect, test, vi } from 'vitest';
import { Client, isAbort, Stopped, type WorkerLike } from './client.ts';
import type { FromWorker, ToWorker } from './protocol.ts';

/** A worker that answers when the test says so. */
class Fake implements WorkerLike {
  static all: Fake[] = [];
  heard: ToWorker[] = [];
  isTerminated = false;
  onmessage: WorkerLike['onmessage'] = null;
  onerror: WorkerLike['onerror'] = null;
  constructor() {
    Fake.all.push(this);
  }
  postMessage(message: ToWorker): void {
    this.heard.push(message);
  }
  terminate(): void {
    this.isTerminated = true;
  }
  say(data: FromWorker): void {
    this.onmessage?.({ data } as MessageEvent<FromWorker>);
  }
  seqs(): number[] {
    return this.heard.flatMap((message) => ('seq' in message ? [message.seq] : []));
  }
}

function start(): { client: Client; worker: () => Fake } {
  Fake.all = [];
  const client = new Client(() => new Fake());
  client.start();
  return { client, worker: () => Fake.all.at(-1) as Fake };
}

test('answers find their requests in any order', async () => {
  const { client, worker } = start();
  const first = client.call(1, 'print', [0, 'text', 0]);
  const second = client.call(1, 'print', [8, 'text', 0]);
  const [a, b] = worker().seqs();
  worker().say({ seq: b as number, answer: 'second' });
  worker().say({ seq: a as number, answer: 'first' });
  expect(await first).toBe('first');
  expect(await second).toBe('second');
});

test('a request that is given up is cancelled, and a stale answer is dropped', async () => {
  const { client, worker } = start();
  const controller = new AbortController();
  const old = client.call(1, 'print', [0, 'text', 0], { signal: controller.signal });
  controller.abort();
  await expect(old).rejects.toSatisfy(isAbort);
  const [seq] = worker().seqs();
  expect(worker().heard.at(-1)).toEqual({ cancel: seq });
  worker().say({ seq: seq as number, answer: 'too late' });
  const next = client.call(1, 'print', [0, 'text', 0]);
  worker().say({ seq: worker().seqs().at(-1) as number, answer: 'in time' });
  expect(await next).toBe('in time');
});

test('a request that is given up before it is made is never made', async () => {
  const { client, worker } = start();
  await expect(client.call(1, 'report', [], { signal: AbortSignal.abort() })).rejects.toSatisfy(isAbort);
  expect(worker().heard).toEqual([]);
});

test('a refusal is an error, and the conversation goes on', async () => {
  const { client, worker } = start();
  const asked = client.call(1, 'columns', ['nothing']);
  worker().say({ seq: worker().seqs().at(-1) as number, error: 'this file has no table called "nothing"' });
  await expect(asked).rejects.toThrow('no table called');
  expect(worker().isTerminated).toBe(false);
});

test('after a trap the worker is replaced, whoever waits is told, and what the old one says is dropped', async () => {
  const { client, worker } = start();
  const replaced = vi.fn();
  client.addEventListener('replaced', replaced);
  const one = client.call(1, 'report', []);
  const other = client.call(2, 'report', []);
  const old = worker();
  old.say({ seq: old.seqs()[0] as number, trap: 'unreachable' });
  await expect(one).rejects.toBeInstanceOf(Stopped);
  await expect(other).rejects.toBeInstanceOf(Stopped);
  expect(old.isTerminated).toBe(true);
  expect(replaced).toHaveBeenCalledOnce();

  const again = client.call(1, 'report', []);
  expect(worker()).not.toBe(old);
  const seq = worker().seqs().at(-1) as number;
  old.say({ seq, answer: 'from the grave' });
  worker().say({ seq, answer: 'alive' });
  expect(await again).toBe('alive');
});

test('a worker that throws is replaced too', async () => {
  const { client, worker } = start();
  const asked = client.call(1, 'report', []);
  worker().onerror?.({ message: 'RuntimeError: unreachable', preventDefault() {} } as ErrorEvent);
  await expect(asked).rejects.toThrow('unreachable');
});

test('a reader that stops again and again is given up', () => {
  const { client, worker } = start();
  const givenUp: boolean[] = [];
  client.addEventListener('replaced', (event) => givenUp.push((event as CustomEvent).detail.isGivenUp));
  for (let i = 0; i < 5; i++) {
    client.start();
    worker().onerror?.({ message: 'again', preventDefault() {} } as ErrorEvent);
  }
  expect(givenUp).toEqual([false, false, false, false, true]);
});

test('work is shown after 200 ms, with how far it has come, and a silent worker counts as dead', async () => {
  vi.useFakeTimers();
  try {
    const { client, worker } = start();
    const shown: (number | null | undefined)[] = [];
    client.addEventListener('working', (event) => {
      const { detail } = event as CustomEvent;
      shown.push(detail && (detail.progress?.done ?? 0));
    });
    const quick = client.call(1, 'report', []);
    vi.advanceTimersByTime(150);
    worker().say({ seq: worker().seqs().at(-1) as number, answer: '' });
    await quick;
    expect(shown).toEqual([]);

    const slow = client.call(1, 'check', []);
    vi.advanceTimersByTime(260);
    expect(shown.at(-1)).toBe(0);
    worker().say({ seq: worker().seqs().at(-1) as number, progress: { done: 5, total: 10 } });
    vi.advanceTimersByTime(100);
    expect(shown.at(-1)).toBe(5);
    const stopped = expect(slow).rejects.toBeInstanceOf(Stopped);
    vi.advanceTimersByTime(25_000);
    await stopped;
    expect(shown.at(-1)).toBe(null);
  } finally {
    vi.useRealTimers();
  }
});
