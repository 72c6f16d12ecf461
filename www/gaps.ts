// What of a file nothing claims, and what two parts claim. Pure.

import type { Leaves } from './ribbon.ts';

export interface Gaps {
  padding: number;
  unclaimed: number;
  overlaps: number;
  /** Bytes of all leaves: those of the file. */
  bytes: number;
}

export function gaps({ size, role, shared }: Leaves, roles: readonly string[]): Gaps {
  const found: Gaps = { padding: 0, unclaimed: 0, overlaps: 0, bytes: 0 };
  size.forEach((bytes, i) => {
    const name = roles[role[i] ?? 0];
    if (name === 'padding') found.padding += 1;
    if (name === 'unclaimed') found.unclaimed += 1;
    if (shared[i]) found.overlaps += 1;
    found.bytes += bytes;
  });
  return found;
}
