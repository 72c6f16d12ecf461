import { expect, test } from 'vitest';
import { chosen, type Gpu, gpusOf, groups, inShort } from './gpus.ts';
import type { Column, Window } from './protocol.ts';

const gpu = (name: string, runs: Gpu['runs']): Gpu => ({ gpu: name, runs, reason: '', products: '' });
const GPUS = [
  gpu('gfx900:xnack-', 'yes'),
  gpu('gfx900:xnack+', 'yes'),
  gpu('gfx90c:xnack-', 'yes'),
  gpu('gfx90c:xnack+', 'no'),
  gpu('gfx1030', 'no'),
];

test('rows become GPUs whatever the order of the columns', () => {
  const columns = ['reason', 'gpu', 'products', 'runs'].map((key) => ({ key }) as Column);
  const window = { rows: [['the code is for it', 'gfx942', 'AMD Instinct MI300X', 'yes']] } as unknown as Window;
  const expected = { gpu: 'gfx942', runs: 'yes', reason: 'the code is for it', products: 'AMD Instinct MI300X' };
  expect(gpusOf(columns, window)).toEqual([expected]);
});

test('the GPU that was chosen stays chosen, else one on which the code runs is', () => {
  expect(chosen(GPUS, 'gfx1030')?.gpu).toBe('gfx1030');
  expect(chosen(GPUS, '')?.gpu).toBe('gfx900:xnack-');
  expect(chosen(GPUS.slice(3), 'gfx9')?.gpu).toBe('gfx90c:xnack+');
  expect(chosen([gpu('gfx1030', 'no'), gpu('gfx803', 'depends')], '')?.gpu).toBe('gfx803');
  expect(chosen([], 'gfx1030')).toBeUndefined();
});

test('modes are told where they differ', () => {
  const of = (runs: Gpu['runs']) =>
    inShort(
      GPUS,
      GPUS.filter((gpu) => gpu.runs === runs),
    );
  expect(of('yes')).toEqual(['gfx900', 'gfx90c:xnack-']);
  expect(of('no')).toEqual(['gfx90c:xnack+', 'gfx1030']);
  expect(of('depends')).toEqual([]);
});

test('vendors are told where there are several, the best answers first', () => {
  const titles = (gpus: Gpu[]) => groups(gpus).map(({ title, gpus }) => `${title}: ${gpus.length}`);
  expect(titles(GPUS)).toEqual(['It runs on: 3', 'It does not run on: 2']);
  expect(titles([gpu('sm_120', 'jit'), gpu('sm_90', 'yes'), ...GPUS])).toEqual([
    'NVIDIA · It runs on: 1',
    'NVIDIA · Compiled by the driver for: 1',
    'AMD · It runs on: 3',
    'AMD · It does not run on: 2',
  ]);
  expect(chosen([gpu('sm_50', 'depends'), gpu('sm_120', 'jit')], '')?.gpu).toBe('sm_120');
});
