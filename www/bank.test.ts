import { expect, test } from 'vitest';
import { about, nameOf, parseOperand, strip } from './bank.ts';
import type { BankPart } from './protocol.ts';

const part = (change: Partial<BankPart>): BankPart => ({
  offset: 0,
  size: 4,
  name: '',
  what: 'driver',
  certainty: 'measured',
  source: 'PTX',
  note: '',
  ...change,
});

test('operands are read as disassemblers write them, and while they are typed', () => {
  for (const text of ['0x210', '528', 'c[0x0][0x210]', 'c[0][528]', ' C[0x0][0x210', 'c[0x0][ 0x210 ]']) {
    expect(parseOperand(text), text).toBe(0x210);
  }
  expect(parseOperand('0xffff')).toBe(0xffff);
  for (const text of ['', 'c[0x3][0x10]', 'c[0x0][', '0x10000', 'R5']) expect(parseOperand(text), text).toBeNull();
});

test('places are said by name, how far into it, what it is and who says so', () => {
  const word = part({ name: 'ntid.x', note: 'blockDim.x: threads of a block' });
  expect(nameOf({ name: 'ntid.x', within: 2, part: word })).toBe('ntid.x + 0x2');
  expect(about({ name: 'ntid.x', within: 2, part: word })).toBe(
    'blockDim.x: threads of a block · of the driver · measured: PTX',
  );
  const gap = part({ what: 'unknown', certainty: 'unknown', source: '', size: 8 });
  expect(nameOf({ name: '', within: 0, part: gap })).toBe('unknown');
  expect(about({ name: '', within: 0, part: gap })).toBe('nobody says what is there');
});

test('a long gap does not leave the rest without room', () => {
  const parts = [part({}), part({ offset: 4, size: 5000, what: 'unknown' }), part({ offset: 5004, what: 'runtime' })];
  const { offset, size } = strip(parts, 64);
  expect([...offset]).toEqual([0, 4, 68]);
  expect([...size]).toEqual([4, 64, 4]);
});
