import { expect, test } from 'vitest';
import { Stopped } from './client.ts';
import type { Summary, SurveyProgress } from './protocol.ts';
import { Survey, type Surveyed, UNASKED } from './survey.ts';

const summary = {} as Summary;

/** A reader that opens a member a request, of so many. */
class Reader {
  done = 0;
  asked: number[] = [];
  told: number[] = [];
  failures: unknown[] = [];
  /** What stops it at that request. */
  stops = new Set<number>();
  /** Of these members, those of which nobody knows what is in them. */
  unread = 0;
  readonly total: number;
  readonly bytes: number;
  readonly survey: Survey;

  constructor(total: number, bytes: number) {
    this.total = total;
    this.bytes = bytes;
    this.survey = new Survey({
      ask: async (milliseconds) => {
        await new Promise((resolve) => setTimeout(resolve));
        this.asked.push(milliseconds);
        if (this.stops.has(this.asked.length)) throw new Stopped('unreachable');
        if (milliseconds > 0) this.done += 1;
        return { progress: this.progress, summary } satisfies Surveyed;
      },
      said: (of) => of && this.told.push(this.survey.done),
      failed: (error) => this.failures.push(error),
    });
  }

  get progress(): SurveyProgress {
    const bytes = (this.bytes / this.total) * this.done;
    return {
      done: this.done,
      total: this.total,
      bytes,
      total_bytes: this.bytes,
      unread: this.unread,
      finished: this.done >= this.total,
    };
  }
}

/** Until nothing more happens. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 100));

test('a small file is opened without being asked for, and its tables are told once it is known', async () => {
  const reader = new Reader(3, UNASKED);
  await reader.survey.begin();
  expect(reader.survey.running).toBe(true);
  await settled();
  expect(reader.asked[0]).toBe(0);
  expect(reader.asked.length).toBe(4);
  expect(reader.survey.finished).toBe(true);
  expect(reader.survey.running).toBe(false);
  // The first that is new is told at once, the rest after a while or at the end.
  expect(reader.told).toEqual([1, 3]);
});

test('how far it has come is said once it has begun', async () => {
  const reader = new Reader(1234, UNASKED + 1);
  const { survey } = reader;
  await survey.begin();
  expect(survey.said).toBe('');
  survey.cancel();
  expect(survey.said).toBe('Stopped at 0 % · 0 of 1,234 members');
  survey.start();
  expect(survey.said).toBe('Opening: 0 % · 0 of 1,234 members');
  survey.pause();
  reader.done = 700;
  survey.progress = reader.progress;
  // 700 of 1,234 members of the same size are 56.7 % of the bytes.
  expect(survey.said).toBe('Paused at 56 % · 700 of 1,234 members');
  // What is under way counts, too.
  survey.progress = { ...reader.progress, bytes: reader.bytes / 2, done: 0, total: 1 };
  expect(survey.said).toBe('Paused at 50 % · 0 of 1 members');
});

test('what members are opened for is said by what is known of them', async () => {
  const reader = new Reader(2, UNASKED + 1);
  const { survey, progress } = reader;
  const purpose = (total: number, unread: number) => {
    survey.progress = { ...progress, total, unread };
    return survey.purpose;
  };
  expect(purpose(2, 0)).toBe('for their kernels, and for which are the same');
  expect(purpose(1, 0)).toBe('for its kernels');
  expect(purpose(16, 3)).toBe('for what is in them: architectures, kernels');
  expect(purpose(1, 1)).toBe('for what is in it: architectures, kernels');
  expect(survey.hides).toBe(true);
  survey.progress = { ...progress, unread: 1, done: 2, finished: true };
  expect(survey.hides).toBe(false);
});

test('what the last step has told is in the tables though its answer is given up for a new beginning', async () => {
  const reader = new Reader(1, UNASKED);
  const { survey } = reader;
  await survey.begin();
  const again = survey.begin();
  await again;
  await settled();
  expect([survey.running, survey.finished, reader.done]).toEqual([false, true, 1]);
  expect(reader.told).toEqual([1]);
});

test('a large one waits to be asked, pauses, goes on and stops', async () => {
  const reader = new Reader(1_000_000, UNASKED + 1);
  const { survey } = reader;
  await survey.begin();
  await settled();
  expect(survey.running).toBe(false);
  expect(survey.paused).toBe(false);
  expect(reader.asked).toEqual([0]);
  survey.start();
  await settled();
  expect(survey.done).toBeGreaterThan(0);
  survey.pause();
  const { done } = survey;
  await settled();
  expect(survey.paused).toBe(true);
  // What was on its way when it was left off is not heard, though the reader has done it.
  expect(survey.done).toBe(done);
  survey.start();
  survey.start();
  await settled();
  expect(survey.done).toBeGreaterThan(done);
  survey.cancel();
  expect([survey.running, survey.paused, survey.isStopped]).toEqual([false, false, true]);
  survey.start();
  expect(survey.isStopped).toBe(false);
  survey.cancel();
});

test('nothing is begun where there is nothing to open', async () => {
  const reader = new Reader(0, 0);
  await reader.survey.begin();
  await settled();
  expect(reader.asked).toEqual([0]);
});

test('a reader that stops is begun with anew once, and no more', async () => {
  const reader = new Reader(1_000_000, 1);
  const { survey } = reader;
  reader.stops.add(4);
  await survey.begin();
  await settled();
  expect(survey.running).toBe(true);
  expect(reader.failures).toEqual([]);
  // The file is opened anew: nothing is known of it.
  reader.done = 0;
  reader.stops.add(8);
  await survey.begin();
  await settled();
  expect(survey.running).toBe(false);
  expect(survey.isStopped).toBe(true);
  expect(reader.failures.length).toBe(1);
  await survey.begin();
  await settled();
  expect(survey.running).toBe(false);
});
