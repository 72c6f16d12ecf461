import { expect, test } from 'vitest';
import { fromAddress, grouped, readInputs, toAddress, typeInput, verdict, writeInputs } from './inputs.ts';
import type { LaunchInput, Problem } from './protocol.ts';

const input = (key: string, group: string, label = key): LaunchInput => {
  return { key, label, group, kind: 'text', value: '', is_given: false, choices: [], note: '', unavailable: null };
};

test('text becomes keys with values, and text again', () => {
  const typed = readInputs('grid=4096; block = 256;;arg1=f32:1.5=x;chain');
  expect([...typed]).toEqual([
    ['grid', '4096'],
    ['block', ' 256'],
    ['arg1', 'f32:1.5=x'],
    ['chain', ''],
  ]);
  expect(writeInputs(readInputs('grid=4096;block=256'))).toBe('grid=4096;block=256');
  expect(writeInputs(readInputs(''))).toBe('');
  expect(readInputs('grid=1;grid=2').get('grid')).toBe('2');
});

test('typing replaces in place, adds at the end, and takes away', () => {
  expect(typeInput('grid=1;block=256', 'grid', '4096')).toBe('grid=4096;block=256');
  expect(typeInput('grid=1', 'shared', '1024')).toBe('grid=1;shared=1024');
  expect(typeInput('grid=1;block=256', 'grid', '')).toBe('block=256');
  // What would end a value is a space.
  expect(typeInput('', 'arg0', '1;2\n3')).toBe('arg0=1 2 3');
});

test('an address has what was typed without marks to encode', () => {
  const text = 'grid=4096,1,1;block=256;release0=0x1000:5:stamped;arg0=f32:1.5';
  expect(toAddress(text)).toBe('grid:4096,1,1;block:256;release0:0x1000:5:stamped;arg0:f32:1.5');
  expect(fromAddress(toAddress(text))).toBe(text);
  expect(fromAddress('grid=4096;block:256')).toBe('grid=4096;block=256');
  expect(fromAddress('')).toBe('');
});

test('inputs stand under their headings, in their order', () => {
  const inputs = [input('gpu', 'GPU'), input('grid', 'Launch'), input('version', 'GPU'), input('block', 'Launch')];
  expect(grouped(inputs).map(([group, of]) => [group, of.map(({ key }) => key)])).toEqual([
    ['GPU', ['gpu', 'version']],
    ['Launch', ['grid', 'block']],
  ]);
});

test('a form says how many errors and notes it has, and where', () => {
  const inputs = [input('grid', 'Launch', 'Grid'), input('block', 'Launch', 'Block')];
  const problem = (of: string, severity: Problem['severity']): Problem => ({ input: of, severity, message: '' });
  expect(verdict([], inputs)).toBe('');
  expect(verdict([problem('grid', 'error'), problem('block', 'note'), problem('grid', 'error')], inputs)).toBe(
    '2 errors: Grid. 1 note: Block.',
  );
});
