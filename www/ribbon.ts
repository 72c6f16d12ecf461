// The whole file in a strip: where each part is drawn, and which byte is where. Pure.

/** The leaves of a file's map, a column each. */
export interface Leaves {
  offset: Float64Array;
  size: Float64Array;
  role: Uint8Array;
  shared: Uint8Array;
}

/** Something to draw: pixels, the role (an index) of what is there, and the leaf, or the first of those that are too small. */
export interface Strip {
  x: number;
  width: number;
  role: number;
  leaf: number;
}

/** The leaf that holds the byte at `offset`; -1 past the end. */
export function leafAt(leaves: Leaves, offset: number): number {
  let low = 0;
  let high = leaves.offset.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((leaves.offset[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  const leaf = low - 1;
  const past = leaf < 0 || offset >= (leaves.offset[leaf] ?? 0) + (leaves.size[leaf] ?? 0);
  return past ? -1 : leaf;
}

/** The scale of a strip: `edges[i]` is where leaf i begins, in pixels. */
export interface Scale {
  width: number;
  edges: Float64Array;
}

/** To scale, but with at least `least` pixels a leaf as long as all of them then have room. */
export function scale(leaves: Leaves, width: number, least = 3): Scale {
  const leafCount = leaves.size.length;
  const floor = leafCount * least <= width / 2 ? least : 0;
  // Pixels a byte, for the leaves that are wider than the least width: found by setting the others aside.
  let perByte = 0;
  let small = -1;
  for (;;) {
    let rest = width;
    let large = 0;
    let set = 0;
    for (const size of leaves.size) {
      if (small >= 0 && size * perByte < floor) {
        rest -= floor;
        set += 1;
      } else {
        large += size;
      }
    }
    if (set === small) break;
    small = set;
    perByte = large > 0 ? rest / large : 0;
    if (floor === 0) break;
  }
  const edges = new Float64Array(leafCount + 1);
  leaves.size.forEach((size, i) => {
    edges[i + 1] = (edges[i] ?? 0) + Math.max(floor, size * perByte);
  });
  return { width, edges };
}

/** Where the byte at `offset` is drawn. */
export function xOf(offset: number, leaves: Leaves, { edges, width }: Scale): number {
  const leaf = leafAt(leaves, offset);
  if (leaf < 0) return offset <= 0 ? 0 : width;
  const [from, to] = [edges[leaf] ?? 0, edges[leaf + 1] ?? 0];
  return from + ((offset - (leaves.offset[leaf] ?? 0)) / (leaves.size[leaf] || 1)) * (to - from);
}

/** The byte that is drawn at `x`. */
export function offsetOf(x: number, leaves: Leaves, { edges }: Scale): number {
  let low = 0;
  let high = leaves.size.length - 1;
  if (high < 0) return 0;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((edges[middle] ?? 0) <= x) low = middle;
    else high = middle - 1;
  }
  const [from, to] = [edges[low] ?? 0, edges[low + 1] ?? 0];
  const size = leaves.size[low] ?? 0;
  const within = Math.floor(((x - from) / (to - from || 1)) * size);
  return (leaves.offset[low] ?? 0) + Math.min(Math.max(0, within), Math.max(0, size - 1));
}

/** What to draw: never more strips than pixels, whatever the leaves' number. */
export function strips(leaves: Leaves, { edges }: Scale): Strip[] {
  const out: Strip[] = [];
  const inRun = new Float64Array(256);
  for (let leaf = 0; leaf < leaves.size.length; ) {
    const first = leaf;
    const x = edges[first] ?? 0;
    // Leaves of less than a pixel are drawn together, as the role that most of their bytes have.
    do leaf += 1;
    while (leaf < leaves.size.length && (edges[leaf] ?? 0) - x < 1);
    let role = leaves.role[first] ?? 0;
    if (leaf - first > 1) {
      inRun.fill(0);
      for (let i = first; i < leaf; i++) {
        const at = leaves.role[i] ?? 0;
        inRun[at] = (inRun[at] ?? 0) + (leaves.size[i] ?? 0);
      }
      role = inRun.indexOf(Math.max(...inRun));
    }
    out.push({ x, width: (edges[leaf] ?? 0) - x, role, leaf: first });
  }
  return out;
}
