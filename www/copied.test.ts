import { expect, test } from 'vitest';
import { FORMS } from './copied.ts';

const print = (key: string, bytes: Uint8Array, offset = 0) =>
  FORMS.find((form) => form.key === key)?.print(bytes, offset);
const ELF = Uint8Array.from([0x7f, 0x45, 0x4c, 0x46]);

test('bytes as digits and as arrays', () => {
  expect(print('hex', ELF)).toBe('7f 45 4c 46');
  expect(print('c', ELF)).toBe('static const unsigned char bytes[4] = {\n    0x7f, 0x45, 0x4c, 0x46,\n};\n');
  expect(print('rust', ELF)).toBe('const BYTES: [u8; 4] = [\n    0x7f, 0x45, 0x4c, 0x46,\n];\n');
  expect(print('c', new Uint8Array(13))?.split('\n')).toHaveLength(5);
});

test('a dump is what xxd prints', () => {
  // `printf 'Kernelscope shows it all' | xxd -o 0x580`
  expect(print('dump', new TextEncoder().encode('Kernelscope shows it all'), 0x580)).toBe(
    [
      '00000580: 4b65 726e 656c 7363 6f70 6520 7368 6f77  Kernelscope show',
      '00000590: 7320 6974 2061 6c6c                      s it all',
    ].join('\n'),
  );
});

test('Base64 is that of RFC 4648, whatever the length', () => {
  // RFC 4648, section 10.
  const text = (of: string) => print('base64', new TextEncoder().encode(of));
  expect(['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map(text)).toEqual([
    '',
    'Zg==',
    'Zm8=',
    'Zm9v',
    'Zm9vYg==',
    'Zm9vYmE=',
    'Zm9vYmFy',
  ]);
  const many = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 31) & 255);
  expect(print('base64', many)).toBe(Buffer.from(many).toString('base64'));
});

test('text is UTF-8; bytes that are none are U+FFFD', () => {
  expect(print('text', Uint8Array.from([0xc3, 0xa4, 0x62, 0xff]))).toBe('äb\ufffd');
});
