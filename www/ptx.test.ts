import { expect, test } from 'vitest';
import { ptxParts } from './ptx.ts';

const parts = (line: string) =>
  ptxParts(line)
    .filter(({ kind }) => kind !== 'plain')
    .map(({ kind, text }) => `${kind} ${text}`);

test('directives, types and names', () => {
  expect(parts('.version 9.5')).toEqual(['directive .version', 'number 9.5']);
  expect(parts('.visible .entry first(')).toEqual(['directive .visible', 'directive .entry']);
  expect(parts('.reg .f32 \t%f<4>;')).toEqual(['directive .reg', 'directive .f32', 'register %f', 'number 4']);
});

test('instructions with their suffixes, registers, numbers and comments', () => {
  expect(parts('fma.rn.f32 \t%f2, %f1, %f1, 0f3F800000; // one')).toEqual([
    'instruction fma.rn.f32',
    'register %f2',
    'register %f1',
    'register %f1',
    'number 0f3F800000',
    'comment // one',
  ]);
  expect(parts('@%p1 bra \t$L__BB0_2;')).toEqual(['register %p1', 'instruction bra']);
  expect(parts('ld.param.b64 %rd1, [first_param_0+8];')).toEqual([
    'instruction ld.param.b64',
    'register %rd1',
    'number 8',
  ]);
  expect(parts('tex.2d.v4.f32.s32 {%f1}, [t, {%r1, -0x10}];').at(-1)).toBe('number -0x10');
  expect(parts('cp.async.bulk::tensor.x [%r1];')[0]).toBe('instruction cp.async.bulk::tensor.x');
});

test('labels, strings and comments over several lines', () => {
  expect(parts('$L__BB0_2:')).toEqual(['label $L__BB0_2:']);
  expect(parts('a: ret;')).toEqual(['label a:', 'instruction ret']);
  expect(parts('.file 1 "a\\"b.cu"')).toEqual(['directive .file', 'number 1', 'string "a\\"b.cu"']);
  expect(parts('ret; /* to')).toEqual(['instruction ret', 'comment /* to']);
});

test('no character is lost, whatever the line is', () => {
  for (const line of ['', ' ', '"', '\\', '%', '@', '.', '..', '0x', '-', '\u0000\u202e', 'ä.b 😀', '/*', '.1.2.3e+']) {
    expect(
      ptxParts(line)
        .map(({ text }) => text)
        .join(''),
    ).toBe(line);
  }
  expect(
    ptxParts('\ta\tb')
      .map(({ text }) => text)
      .join(''),
  ).toBe('    a    b');
});
