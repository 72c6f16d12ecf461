import { expect, test } from 'vitest';
import { cellsOf, codePlace } from './coredump.ts';
import type { Column } from './protocol.ts';

const column = (key: string): Column => ({ key, title: key, unit: 'text', is_shown: true });

test('a row leads to its instruction in the cubin', () => {
  const cells = cellsOf(['function', 'offset'].map(column), ['first', 128]);
  expect(codePlace(cells)).toMatchObject({ at: 'first+0x80', select: '16', view: null });
});

test('what a row has not is null', () => {
  expect(cellsOf([column('line')], undefined).get('line')).toBeNull();
});
