import { expect, test } from 'vitest';
import { formatPlace, parsePlace, placeOfShown } from './place.ts';

test('a place survives its address', () => {
  const place = { src: 'examples/a b.cubin', view: 'kernels/0', at: '.text._Z4vaddPKfS0_Pfi+0x20', select: '16' };
  const fragment = formatPlace(place);
  expect(fragment).toBe('src=examples/a%20b.cubin&view=kernels/0&at=.text._Z4vaddPKfS0_Pfi%2B0x20&select=16');
  expect(parsePlace(`#${fragment}`)).toEqual(place);
});

test('what names no place is none', () => {
  expect(parsePlace('')).toBe(null);
  expect(parsePlace('#top')).toBe(null);
  expect(parsePlace('#view=')).toBe(null);
  expect(parsePlace('#at=image:0x180')).toEqual({ src: null, view: null, at: 'image:0x180', select: null });
});

test('a field is named by the structure that it is in, unless its name repeats', () => {
  const record = { name: 'r', span: { offset: 0x580 }, fields: [{ name: 'a' }, { name: 'b' }, { name: 'b' }] };
  const shown = (field: number | null, size: number) =>
    placeOfShown({ view: 'summary', selection: { offset: 0x584, size, field }, record }, null);
  expect(shown(0, 4)).toEqual({ src: null, view: 'summary', at: '0x580', select: 'a' });
  expect(shown(1, 4)).toEqual({ src: null, view: 'summary', at: '0x584', select: '4' });
  expect(shown(null, 1)).toEqual({ src: null, view: 'summary', at: '0x584', select: null });
});
