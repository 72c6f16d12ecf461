// On which GPUs the file's code runs: the core's table of them, taken apart. Pure.

import type { Column, Window } from './protocol.ts';

type Answer = 'yes' | 'jit' | 'depends' | 'no';

export interface Gpu {
  /** `sm_90`; a target ID, with the modes that it is in: `gfx90a:sramecc+:xnack-`. */
  gpu: string;
  runs: Answer;
  reason: string;
  products: string;
  /** Of a file with members, what code of theirs runs there, and the path of the first that has it. */
  served_by?: string | null;
  path?: string | null;
  /** Of such a file, how many of its kernels do not run there, once that is known. */
  missing_kernels?: number | null;
  /** Of a file with several libraries, a line for each: its path and its answer; once all members are open. */
  libraries?: string | null;
}

/** What the chosen GPU is remembered under: it is that of whoever looks, whatever file is open. */
export const CHOSEN = 'gpu';
export const isText = (value: unknown): value is string => typeof value === 'string';

export const ANSWERS: Record<Answer, { title: string; mark: string }> = {
  yes: { title: 'It runs on', mark: '✓' },
  jit: { title: 'Compiled by the driver for', mark: '✓' },
  depends: { title: 'It depends', mark: '▲' },
  no: { title: 'It does not run on', mark: '✕' },
};

/** The rows of the core's table `gpus`. */
export function gpusOf(columns: readonly Column[], { rows }: Window): Gpu[] {
  const keys = columns.map((column) => column.key);
  return rows.map((row) => Object.fromEntries(keys.map((key, i) => [key, row[i]])) as unknown as Gpu);
}

const processor = ({ gpu }: Gpu): string => gpu.split(':')[0] ?? gpu;

const vendor = ({ gpu }: Gpu): string => (gpu.startsWith('sm_') ? 'NVIDIA' : 'AMD');

/** The GPUs by vendor and answer: groups with words for them, vendors only where there are several. */
export function groups(gpus: readonly Gpu[]): { title: string; gpus: Gpu[] }[] {
  const vendors = [...new Set(gpus.map(vendor))];
  return vendors.flatMap((of) =>
    Object.entries(ANSWERS).flatMap(([runs, { title }]) => {
      const found = gpus.filter((gpu) => gpu.runs === runs && vendor(gpu) === of);
      return found.length === 0 ? [] : [{ title: vendors.length > 1 ? `${of} · ${title}` : title, gpus: found }];
    }),
  );
}

/** The one that is asked for, or else the first that is as good an answer as any: one on which the code runs. */
export function chosen(gpus: readonly Gpu[], wanted: string): Gpu | undefined {
  const is = (runs: Answer) => gpus.find((gpu) => gpu.runs === runs);
  return gpus.find((gpu) => gpu.gpu === wanted) ?? is('yes') ?? is('jit') ?? is('depends') ?? gpus[0];
}

/** These of the GPUs in short: processors of which all modes have their answer stand for them. */
export function inShort(gpus: readonly Gpu[], of: readonly Gpu[]): string[] {
  const modes = (of: Gpu) => gpus.filter((gpu) => processor(gpu) === processor(of));
  const names = of.map((gpu) => (modes(gpu).every((mode) => mode.runs === gpu.runs) ? processor(gpu) : gpu.gpu));
  return [...new Set(names)];
}
