// What is said of an answer about occupancy. Pure.

import type { OccupancyAnswer } from './protocol.ts';
import { count, share } from './text.ts';

/** A number, with a word above and a few below. */
export interface Figure {
  title: string;
  value: string;
  note: string;
}

/** A number of waves of a grid: 5.33, 0.004. */
function waves(value: number): string {
  return value !== 0 && value < 0.01 ? value.toPrecision(1) : String(Math.round(value * 100) / 100);
}

/** What the answer comes to. */
export function figures(answer: OccupancyAnswer): Figure[] {
  const { unit, group, wave, groups, waves: held, most_waves: most, limits, grid_waves: filled } = answer;
  // What was typed can be wrong in ways that say nothing about the kernel.
  const none = limits.some((limit) => limit.groups === 0)
    ? `no such ${group} can run`
    : 'not worked out: something is wrong';
  const which = limits.filter((limit) => limit.is_limit).map((limit) => limit.name);
  return [
    {
      title: `${group}s`,
      value: groups === null ? '–' : count(groups),
      note: groups === null ? none : `per ${unit}, at once`,
    },
    { title: `${wave}s`, value: held === null ? '–' : count(held), note: `of ${count(most)} per ${unit}` },
    { title: 'occupancy', value: held === null ? '–' : share(held, most), note: `of the ${wave}s that fit` },
    {
      title: 'limited by',
      value: which.length === 0 ? '–' : which.join(', '),
      note: which.length > 1 ? 'all alike' : '',
    },
    {
      title: 'waves of the grid',
      value: filled === null ? '–' : waves(filled),
      note: filled === null ? `where grid and ${unit}s are known` : `times all ${unit}s are filled`,
    },
  ];
}
