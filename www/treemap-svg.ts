// A treemap as a picture that stands alone, in light colours. Pure.

import { escaped, fit, text } from './svg.ts';
import type { Box } from './treemap.ts';

/** A rectangle as it is drawn. */
export interface Picture {
  box: Box;
  title: string;
  role: string;
  /** Others are in it: its name is a line above them. */
  isOuter: boolean;
}

/** The tints of roles (style.ts) on white paper. */
const TINTS: Record<string, string> = {
  header: '#56b4e9',
  strings: '#b8b2a6',
  symbols: '#cc79a7',
  info: '#e69f00',
  note: '#e0d34a',
  code: '#009e73',
  data: '#0072b2',
  debug: '#9aa5b1',
  padding: '#e6e2d9',
  unclaimed: '#d55e00',
};
const OTHER = '#66635c';
const MARGIN = 16;
/** Above the rectangles: what they are of, and what it comes to. */
const HEAD = 44;

/** The whole picture of rectangles in a box of that size. */
export function treemapSvg(
  drawn: readonly Picture[],
  title: string,
  about: string,
  size: { width: number; height: number },
): string {
  const [width, height] = [size.width + 2 * MARGIN, size.height + 2 * MARGIN + HEAD];
  const body = drawn.map(({ box, title, role, isOuter }) => {
    const [x, y] = [MARGIN + box.x, MARGIN + HEAD + box.y];
    const tint = isOuter ? 'fill="#fbfaf7"' : `fill="${TINTS[role] ?? OTHER}" fill-opacity="0.3"`;
    const place = `x="${round(x)}" y="${round(y)}" width="${round(box.width)}" height="${round(box.height)}"`;
    const named = box.width >= 34 && box.height >= 15;
    const weight = isOuter ? 'font-weight="600"' : '';
    return `<rect ${place} ${tint} stroke="#66635c" stroke-width="0.5"/>${named ? text(x + 4, round(y + 12), fit(title, box.width - 8), weight) : ''}`;
  });
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="11" fill="#1c1b19">\n` +
    `<title>${escaped(title)}</title>\n<rect width="${width}" height="${height}" fill="#ffffff"/>\n` +
    `${text(MARGIN, MARGIN + 12, fit(title, size.width), 'font-size="14" font-weight="600"')}${text(MARGIN, MARGIN + 31, fit(about, size.width), 'fill="#66635c"')}\n` +
    `${body.join('\n')}\n</svg>\n`
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
