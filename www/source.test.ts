import { expect, test } from 'vitest';
import { fromDigits } from './source.ts';

test('a text of digits is bytes, any other text is none', async () => {
  const read = async (text: string) => {
    const source = fromDigits(text);
    return source && [...new Uint8Array(await source.blob.arrayBuffer())];
  };
  const elf = [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0x41];
  expect(await read('7f 45 4c 46  02 01 01 41\n')).toEqual(elf);
  expect(await read('{ 0x7f, 0x45, 0x4c, 0x46, 0x02, 0x01, 0x01, 0x41 };')).toEqual(elf);
  expect(await read('7f454c46 0201014')).toBe(null);
  expect(await read('7f 45')).toBe(null);
  expect(await read('hello world, hello')).toBe(null);
});
