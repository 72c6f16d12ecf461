// Which of many rows are chosen: runs [from, to) in order that do not touch. Pure.

export type Run = readonly [from: number, to: number];
export type Runs = readonly Run[];

/** How many rows they are. */
export function length(runs: Runs): number {
  return runs.reduce((sum, [from, to]) => sum + to - from, 0);
}

export function has(runs: Runs, row: number): boolean {
  return runs.some(([from, to]) => from <= row && row < to);
}

/** The runs, and the rows from `from` to `to`, which may be given in either order, both included. */
export function withRows(runs: Runs, from: number, to: number): Run[] {
  let [first, end] = [Math.min(from, to), Math.max(from, to) + 1];
  const apart: Run[] = [];
  for (const run of runs) {
    if (run[1] < first || run[0] > end) apart.push(run);
    else [first, end] = [Math.min(first, run[0]), Math.max(end, run[1])];
  }
  return [...apart, [first, end] as const].sort((a, b) => a[0] - b[0]);
}

/** The runs without one row of theirs. */
export function withoutRow(runs: Runs, row: number): Run[] {
  return runs.flatMap(([from, to]): Run[] => {
    if (row < from || row >= to) return [[from, to]];
    const halves: Run[] = [
      [from, row],
      [row + 1, to],
    ];
    return halves.filter(([a, b]) => a < b);
  });
}

/** The first `most` rows of them. */
export function firstRows(runs: Runs, most: number): Run[] {
  let left = most;
  return runs.flatMap(([from, to]): Run[] => {
    const end = Math.min(to, from + left);
    left -= Math.max(0, end - from);
    return end > from ? [[from, end]] : [];
  });
}
