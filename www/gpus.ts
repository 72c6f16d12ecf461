// On which GPUs the file's code runs: the core's table of them, taken apart. Pure.

import type { Column, Window } from './protocol.ts';

type Answer = 'yes' | 'depends' | 'no';

export interface Gpu {
  /** Its target ID, with the modes that it is in: `gfx90a:sramecc+:xnack-`. */
  gpu: string;
  runs: Answer;
  reason: string;
  products: string;
}

export const ANSWERS: Record<Answer, { title: string; mark: string }> = {
  yes: { title: 'It runs on', mark: '✓' },
  depends: { title: 'It depends', mark: '▲' },
  no: { title: 'It does not run on', mark: '✕' },
};

/** The rows of the core's table `gpus`. */
export function gpusOf(columns: readonly Column[], { rows }: Window): Gpu[] {
  const keys = columns.map((column) => column.key);
  return rows.map((row) => Object.fromEntries(keys.map((key, i) => [key, row[i]])) as unknown as Gpu);
}

const processor = ({ gpu }: Gpu): string => gpu.split(':')[0] ?? gpu;

/** The one that is asked for, or else the first that is as good an answer as any: one on which the code runs. */
export function chosen(gpus: readonly Gpu[], wanted: string): Gpu | undefined {
  const is = (runs: Answer) => gpus.find((gpu) => gpu.runs === runs);
  return gpus.find((gpu) => gpu.gpu === wanted) ?? is('yes') ?? is('depends') ?? gpus[0];
}

/** On what the code runs, in short: processors of which all modes have that answer stand for these. */
export function inShort(gpus: readonly Gpu[], runs: Answer): string[] {
  const modes = (of: Gpu) => gpus.filter((gpu) => processor(gpu) === processor(of));
  const names = gpus
    .filter((gpu) => gpu.runs === runs)
    .map((gpu) => (modes(gpu).every((mode) => mode.runs === runs) ? processor(gpu) : gpu.gpu));
  return [...new Set(names)];
}
