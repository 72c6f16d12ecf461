// A treemap: rectangles as large as what they stand for, none of them narrower than it must be (Bruls, Huizing and van Wijk, "Squarified
// Treemaps", 2000). Pure. Forty lines are less than a library of them, and hostile sizes are their business.

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A box for each weight, in their order, together all of `box`; what weighs nothing has none of it. */
export function squarify(weights: readonly number[], box: Box): Box[] {
  const boxes: Box[] = weights.map(() => ({ x: box.x, y: box.y, width: 0, height: 0 }));
  const of = (i: number) => weights[i] ?? 0;
  // Weights are parts of the greatest, so that sums of any sizes are finite.
  const order = weights.flatMap((weight, i) => (weight > 0 && Number.isFinite(weight) ? [i] : []));
  order.sort((a, b) => of(b) - of(a));
  const most = of(order[0] ?? 0);
  const part = (i: number) => of(i) / most;
  let left = order.reduce((sum, i) => sum + part(i), 0);
  let { x, y, width, height } = box;
  for (let first = 0; first < order.length; ) {
    const scale = (width * height) / left;
    const side = Math.min(width, height);
    // A row along the shorter side grows as long as its worst rectangle gets better.
    let end = first;
    let sum = 0;
    let worst = Number.POSITIVE_INFINITY;
    while (end < order.length) {
      const next = sum + part(order[end] ?? 0);
      const thick = (next * scale) / side;
      const long = [order[first] ?? 0, order[end] ?? 0].map((i) => (part(i) * scale) / thick);
      const ratio = Math.max(...long.map((length) => Math.max(length / thick, thick / length)));
      if (end > first && !(ratio <= worst)) break;
      [sum, worst] = [next, ratio];
      end += 1;
    }
    const isColumn = height <= width;
    const thick = end === order.length ? Math.max(width, height) : (sum * scale) / side || 0;
    let at = isColumn ? y : x;
    for (let k = first; k < end; k++) {
      const i = order[k] ?? 0;
      const edge = (isColumn ? y : x) + side;
      const long = k === end - 1 ? edge - at : Math.min(edge - at, (part(i) / sum) * side);
      boxes[i] = isColumn ? { x, y: at, width: thick, height: long } : { x: at, y, width: long, height: thick };
      at += long;
    }
    if (isColumn) [x, width] = [x + thick, width - thick];
    else [y, height] = [y + thick, height - thick];
    left -= sum;
    first = end;
  }
  return boxes;
}

/** The box that the arrow leads to from one: the nearest of those on that side, boxes beside it before others; null where there is none. */
export function neighbour(boxes: readonly Box[], from: number, arrow: string): number | null {
  const here = boxes[from];
  const across = arrow === 'ArrowLeft' || arrow === 'ArrowRight';
  const sign = arrow === 'ArrowRight' || arrow === 'ArrowDown' ? 1 : -1;
  if (!here) return null;
  const middle = (box: Box) => [box.x + box.width / 2, box.y + box.height / 2] as const;
  const [x, y] = middle(here);
  let found: number | null = null;
  let least = Number.POSITIVE_INFINITY;
  boxes.forEach((box, i) => {
    const [toX, toY] = middle(box);
    const [ahead, aside] = across ? [(toX - x) * sign, Math.abs(toY - y)] : [(toY - y) * sign, Math.abs(toX - x)];
    const far = ahead + 2 * aside;
    if (i === from || ahead <= 0.5 || aside > 4 * ahead + 40 || far >= least) return;
    [found, least] = [i, far];
  });
  return found;
}
