import { expect, test } from 'vitest';
import { title } from './title.ts';

test('the heading tells the version once it is known', () => {
  expect(title('')).toBe('Kernelscope');
  expect(title('1.2.3')).toBe('Kernelscope 1.2.3');
});
