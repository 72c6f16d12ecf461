// How wide an element is, as it is drawn.

/** Keeps `width` of an element that is observed at the pixels that there are; null where nothing is drawn. */
export function widthObserver(of: { width: number }): ResizeObserver | null {
  if (typeof ResizeObserver === 'undefined') return null;
  return new ResizeObserver(([entry]) => {
    of.width = Math.floor(entry?.contentRect.width ?? 0);
  });
}
