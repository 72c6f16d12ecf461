import { expect, test } from 'vitest';
import { type Differences, differences, LIMIT, type Readable } from './differences.ts';

function image(address: bigint, bytes: Uint8Array, size = bytes.length): Readable {
  return {
    address,
    size,
    read(offset, count) {
      const window = new Uint8Array(count);
      window.set(bytes.subarray(offset, offset + count));
      return window;
    },
  };
}

function all(a: Readable, b: Readable, most = 100): Differences {
  const work = differences(a, b, most);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    expect(step.value.done).toBeLessThanOrEqual(step.value.total);
  }
}

const zeros = (size: number, ...set: number[]) => {
  const bytes = new Uint8Array(size);
  for (const at of set) bytes[at] = 1;
  return bytes;
};

test('runs with fewer than 16 equal bytes between are one', () => {
  const plain = image(0n, zeros(100));
  expect(all(plain, image(0n, zeros(100)))).toEqual({ runs: [], isComplete: true });
  // Between 3 and 19 there are 15 bytes, between 19 and 36 there are 16.
  expect(all(plain, image(0n, zeros(100, 3, 19, 36)))).toEqual({
    runs: [
      { offset: 3, size: 17 },
      { offset: 36, size: 1 },
    ],
    isComplete: true,
  });
});

test('runs go on from one step to the next', () => {
  const at = 1 << 20;
  const other = image(0n, zeros(3 << 20, at - 1, at, at + 1));
  expect(all(image(0n, zeros(3 << 20)), other).runs).toEqual([{ offset: at - 1, size: 3 }]);
});

test('bytes of the same address are compared, where both have any', () => {
  // The byte of address 0x1014 is at 0x14 of the one and at 4 of the other, which ends at 0x1030.
  const a = image(0x1000n, zeros(0x40, 2, 0x35));
  const b = image(0x1010n, zeros(0x20, 4));
  expect(all(a, b)).toEqual({ runs: [{ offset: 0x14, size: 1 }], isComplete: true });
  expect(all(b, a)).toEqual({ runs: [{ offset: 4, size: 1 }], isComplete: true });
  expect(all(a, image(0x2000n, zeros(8)))).toEqual({ runs: [], isComplete: true });
});

test('many runs and endless images are cut off, and said to be', () => {
  const other = image(0n, zeros(1000, 0, 100, 200));
  expect(all(image(0n, zeros(1000)), other, 2)).toEqual({
    runs: [
      { offset: 0, size: 1 },
      { offset: 100, size: 1 },
    ],
    isComplete: false,
  });
  expect(all(image(0n, zeros(1000)), other, 3).isComplete).toBe(true);
  const endless = image(0n, zeros(8), 2 * LIMIT);
  const work = differences(endless, endless, 1);
  const first = work.next();
  expect(first.done || first.value.total).toBe(LIMIT);
});
