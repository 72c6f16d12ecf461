import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Files } from './files.ts';
import { History } from './history.ts';
import type { Session } from './session.ts';

const done: string[] = [];

beforeEach(() => {
  done.length = 0;
  vi.useFakeTimers();
  vi.stubGlobal('window', { addEventListener: () => {}, removeEventListener: () => {} });
  vi.stubGlobal('location', { hash: '#src=a.cubin&at=0x40' });
  vi.stubGlobal('history', {
    state: null,
    pushState: (_state: unknown, _title: string, url: string) => done.push(`push ${url}`),
    replaceState: (_state: unknown, _title: string, url: string) => done.push(`replace ${url}`),
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A page without files whose address names one, which `open` opens; then a file that is shown. */
async function follow(open: (show: () => void) => Promise<void>): Promise<void> {
  const session = { place: 'view=summary&at=0x0', file: 1, source: {} } as unknown as Session;
  const files = { sessions: [], active: session, digest: () => null };
  const shown = () => history.moved(session, null);
  const history = new History(
    files as unknown as Files,
    () => open(shown),
    () => {},
  );
  files.active = null as unknown as Session;
  history.start();
  files.active = session;
  await vi.advanceTimersByTimeAsync(2000);
  if (done.length === 0) shown();
  await vi.advanceTimersByTimeAsync(2000);
  history.stop();
}

test('what the address names is opened in its place of the history', async () => {
  await follow(async (show) => show());
  expect(done).toEqual(['replace #view=summary&at=0x0']);
});

test('where it cannot be opened, the file that is shown next is a step', async () => {
  await follow(async () => {});
  expect(done).toEqual(['push #view=summary&at=0x0']);
});
