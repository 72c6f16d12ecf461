import { expect, it } from 'vitest';
import { treemapSvg } from './treemap-svg.ts';

const box = (x: number, width: number) => ({ x, y: 0, width, height: 100 });

it('draws rectangles with their names, which are text whatever they are', () => {
  const text = treemapSvg(
    [
      { box: box(0, 60), title: '<script>', role: 'code', isOuter: false },
      { box: box(60, 10), title: 'narrow', role: 'data', isOuter: false },
      { box: box(70, 30), title: 'x', role: '', isOuter: true },
    ],
    'a & b',
    '100 bytes',
    { width: 100, height: 100 },
  );
  expect(text).toContain('<title>a &amp; b</title>');
  expect(text).toContain('&lt;script&gt;');
  expect(text).not.toContain('<script>');
  expect(text).not.toContain('narrow');
  expect(text.match(/<rect /g)).toHaveLength(4);
  // 16 pixels around, 44 above.
  expect(text).toContain('<rect x="76" y="60" width="10" height="100" fill="#0072b2"');
});
