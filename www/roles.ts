// What a file is made of, by what its bytes are for. Pure.

import type { Leaves } from './ribbon.ts';

export interface Share {
  role: string;
  bytes: number;
  /** The first leaf that has it. */
  first: { offset: number; size: number };
}

/** The roles that the file has bytes of, most bytes first. */
export function composition(leaves: Leaves, roles: readonly string[]): Share[] {
  const shares = new Map<number, Share>();
  leaves.role.forEach((role, i) => {
    const size = leaves.size[i] ?? 0;
    const share = shares.get(role);
    if (share) share.bytes += size;
    else if (size > 0)
      shares.set(role, { role: roles[role] ?? '', bytes: size, first: { offset: leaves.offset[i] ?? 0, size } });
  });
  return [...shares.values()].sort((a, b) => b.bytes - a.bytes);
}
