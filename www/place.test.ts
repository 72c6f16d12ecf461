import { expect, test } from 'vitest';
import { formatPlace, parsePlace, placeOfShown } from './place.ts';

test('a place survives its address', () => {
  const place = {
    src: 'examples/a b.cubin',
    member: 'lib/a.so!/0!/2',
    view: 'kernels/0',
    at: '.text._Z4vaddPKfS0_Pfi+0x20',
    select: '16',
    launch: null,
    decode: null,
  };
  const fragment = formatPlace(place);
  expect(fragment).toBe(
    'src=examples/a%20b.cubin&member=lib/a.so!/0!/2&view=kernels/0&at=.text._Z4vaddPKfS0_Pfi%2B0x20&select=16',
  );
  expect(parsePlace(`#${fragment}`)).toEqual(place);
});

test('what is typed in a view is a part of the place, readable as it stands', () => {
  const launch = 'grid=4096,2;block=256;release0=0x1000:5:stamped;arg1=f32:1.5 & more';
  const place = { src: null, member: null, view: 'launch/3', at: null, select: null, launch, decode: null };
  const fragment = formatPlace(place);
  expect(fragment).toBe(
    'view=launch/3&launch=grid:4096,2;block:256;release0:0x1000:5:stamped;arg1:f32:1.5%20%26%20more',
  );
  expect(parsePlace(`#${fragment}`)).toEqual(place);
  // As a person may well write it.
  expect(parsePlace('#view=launch/3&launch=grid=4096;block=256')?.launch).toBe('grid=4096;block=256');
  expect(parsePlace('#launch=grid%3D4096%3Bblock%3D256')?.launch).toBe('grid=4096;block=256');
});

test('what names no place is none', () => {
  expect(parsePlace('')).toBe(null);
  expect(parsePlace('#top')).toBe(null);
  expect(parsePlace('#view=')).toBe(null);
  expect(parsePlace('#at=image:0x180')).toEqual({
    src: null,
    member: null,
    view: null,
    at: 'image:0x180',
    select: null,
    launch: null,
    decode: null,
  });
});

test('a field is named by the structure that it is in, unless its name repeats', () => {
  const record = {
    name: 'r',
    is_stored: true,
    span: { offset: 0x580 },
    fields: [{ name: 'a' }, { name: 'b' }, { name: 'b' }],
  };
  const shown = (field: number | null, size: number) =>
    placeOfShown({ view: 'summary', typed: '', selection: { offset: 0x584, size, field }, record }, {});
  expect(shown(0, 4)).toEqual({
    src: null,
    member: null,
    view: 'summary',
    at: '0x580',
    select: 'a',
    launch: null,
    decode: null,
  });
  expect(shown(1, 4)).toEqual({
    src: null,
    member: null,
    view: 'summary',
    at: '0x584',
    select: '4',
    launch: null,
    decode: null,
  });
  expect(shown(null, 1)).toEqual({
    src: null,
    member: null,
    view: 'summary',
    at: '0x584',
    select: null,
    launch: null,
    decode: null,
  });
});

test('what a dump is read as is a part of the place, also that its bytes are to say so', () => {
  const place = {
    src: 'a.bin',
    member: null,
    view: null,
    at: null,
    select: null,
    launch: null,
    decode: 'as=pushbuffer;class=C6C0',
  };
  expect(formatPlace(place)).toBe('src=a.bin&decode=as:pushbuffer;class:C6C0');
  expect(parsePlace(`#${formatPlace(place)}`)).toEqual(place);
  expect(formatPlace({ ...place, decode: '' })).toBe('src=a.bin&decode=auto');
  expect(parsePlace('#src=a.bin&decode=auto')).toEqual({ ...place, decode: '' });
  expect(parsePlace('#src=a.bin')).toEqual({ ...place, decode: null });
});
