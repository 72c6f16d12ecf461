import { expect, test } from 'vitest';
import { baseOf, type Extractor, extracted, problemWords, type Saved } from './extract.ts';

const text = (words: string) => new TextEncoder().encode(words);

/** A core that has these members: what lies in the file as it is has an origin. */
class Core implements Extractor {
  readonly members: { name: string; bytes: string; origin?: number; problem?: string }[];
  ended = 0;
  #at = 0;
  #given = 0;
  #isOpen = false;

  constructor(members: Core['members']) {
    this.members = members;
  }

  extract(): number {
    return this.members.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** Each member is opened in two steps. */
  extractStep(): boolean {
    this.#isOpen = !this.#isOpen;
    return !this.#isOpen;
  }

  extractNext() {
    const next = this.members[this.#at++];
    this.#given = 0;
    if (!next) return undefined;
    const { name, bytes, origin = null, problem = null } = next;
    return { path: name, name, size: bytes.length, origin, problem, is_there: bytes !== '' };
  }

  extractBytes(): Uint8Array {
    const bytes = this.members[this.#at - 1]?.bytes ?? '';
    // Two at a time, however many are asked for.
    const part = bytes.slice(this.#given, this.#given + 2);
    this.#given += part.length;
    return text(part);
  }

  extractHeader(): Uint8Array {
    return text(`<${this.members[this.#at - 1]?.name}>`);
  }

  extractEnd(): Uint8Array {
    this.ended += 1;
    return text('<end>');
  }
}

const WHOLE = new Blob(['..abcde..']);

function all(core: Core, rows?: Uint32Array): { saved: Saved; steps: number } {
  const work = extracted(core, WHOLE, 'libfoo.so', rows);
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next();
    if (done) return { saved: value, steps };
  }
}

test('several members are a zip file, with the header before the bytes that it is about', async () => {
  const core = new Core([
    { name: 'a', bytes: '12345' },
    { name: 'gone', bytes: '', problem: 'it cannot be unpacked' },
    // The bytes are those of the file, and no copy.
    { name: 'b', bytes: 'vwxyz', origin: 2, problem: 'another hash' },
  ]);
  const { saved, steps } = all(core);
  expect(await saved.blob.text()).toBe('<a>12345<b>abcde<end>');
  expect(saved).toMatchObject({
    name: 'libfoo.so.members.zip',
    count: 2,
    problems: [
      { path: 'gone', why: 'it cannot be unpacked' },
      { path: 'b', why: 'another hash' },
    ],
  });
  // Three pieces of each, and a step before each member and before it is known that there is none.
  expect(steps).toBe(6 + 4);
  expect(core.ended).toBe(1);
});

test('of what cannot be had the first few are named, and the rest counted', () => {
  const problems = ['a', 'b', 'c', 'd', 'e'].map((path) => ({ path, why: 'another hash' }));
  expect(problemWords(problems.slice(0, 1))).toBe('a (another hash).');
  expect(problemWords(problems.slice(0, 3))).toBe('a (another hash); b (another hash); c (another hash).');
  expect(problemWords(problems)).toBe('a (another hash); b (another hash); c (another hash); and 2 more.');
  // Names that turn the direction of writing are shown as what they are.
  expect(problemWords([{ path: 'a\u202eb', why: 'another hash' }])).toBe('a\\u{202e}b (another hash).');
});

test('one member is a file as it is, under its own name', async () => {
  const { saved } = all(new Core([{ name: 'vadd.sm_90.cubin', bytes: '123' }]), Uint32Array.of(7));
  expect(await saved.blob.text()).toBe('123');
  expect(saved).toMatchObject({ name: 'vadd.sm_90.cubin', count: 1, problems: [] });
});

test('where none can be had it is said why, and what is given up is ended', () => {
  const core = new Core([{ name: 'gone', bytes: '', problem: 'it cannot be unpacked' }]);
  expect(() => all(core, Uint32Array.of(0))).toThrow('it cannot be unpacked');
  expect(() => all(new Core([]))).toThrow('there are no members');
  const other = new Core([{ name: 'a', bytes: '12345' }]);
  const work = extracted(other, WHOLE, 'a.so', undefined);
  expect(work.next().value).toEqual({ done: 0, total: 5 });
  expect(work.next().value).toEqual({ done: 2, total: 5 });
  work.return(undefined as never);
  expect(other.ended).toBe(1);
});

test('files are called after the file without what it ends with', () => {
  expect(baseOf('libfoo.so')).toBe('libfoo');
  expect(baseOf('vadd.3arch.fatbin')).toBe('vadd.3arch');
  expect(baseOf('a')).toBe('a');
  expect(baseOf('.hidden')).toBe('.hidden');
});
