// How much room an element has, as it is drawn.

import type { ReactiveElement } from 'lit';

/** Keeps `width` of an element that is observed at the pixels that there are; null where nothing is drawn. */
export function widthObserver(of: { width: number }): ResizeObserver | null {
  return roomObserver((width) => {
    of.width = width;
  });
}

/** Tells the pixels that an element which is observed has; null where nothing is drawn. */
export function roomObserver(said: (width: number, height: number) => void): ResizeObserver | null {
  if (typeof ResizeObserver === 'undefined') return null;
  return new ResizeObserver(([entry]) => {
    const { width = 0, height = 0 } = entry?.contentRect ?? {};
    said(Math.floor(width), Math.floor(height));
  });
}

/** Observes an element for as long as it is in a page. */
export function observeSelf(host: ReactiveElement, observer: ResizeObserver | null): void {
  host.addController({
    hostConnected: () => observer?.observe(host),
    hostDisconnected: () => observer?.disconnect(),
  });
}
