// Bytes as text that other tools read. Pure.

export interface Copied {
  key: string;
  title: string;
  /** An example, for the menu. */
  hint: string;
  /** `offset`: where the first byte is. */
  print(bytes: Uint8Array, offset: number): string;
}

const pair = (byte: number): string => byte.toString(16).padStart(2, '0');

/** `print`ed bytes in lines of so many. */
function lines(bytes: Uint8Array, width: number, print: (row: Uint8Array, at: number) => string): string {
  const out: string[] = [];
  for (let at = 0; at < bytes.length; at += width) out.push(print(bytes.subarray(at, at + width), at));
  return out.join('\n');
}

const list = (bytes: Uint8Array): string =>
  lines(bytes, 12, (row) => `    ${Array.from(row, (byte) => `0x${pair(byte)},`).join(' ')}`);

/** As `xxd` prints it: an offset, pairs of bytes, characters. */
function dump(bytes: Uint8Array, offset: number): string {
  return lines(bytes, 16, (row, at) => {
    let digits = '';
    row.forEach((byte, i) => {
      digits += pair(byte) + (i % 2 === 1 ? ' ' : '');
    });
    const characters = Array.from(row, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.'));
    return `${(offset + at).toString(16).padStart(8, '0')}: ${digits.padEnd(40)} ${characters.join('')}`;
  });
}

function base64(bytes: Uint8Array): string {
  // Of a multiple of three bytes at a time, so that the pieces fit together, and few enough to be arguments.
  const size = 3 << 13;
  let out = '';
  for (let at = 0; at < bytes.length; at += size) out += btoa(String.fromCharCode(...bytes.subarray(at, at + size)));
  return out;
}

/** The forms in which bytes are copied; the first is that of the keyboard. */
export const FORMS: readonly Copied[] = [
  {
    key: 'hex',
    title: 'Hexadecimal',
    hint: '7f 45 4c 46',
    print: (bytes) => Array.from(bytes, pair).join(' '),
  },
  { key: 'dump', title: 'Dump', hint: '00000000: 7f45 …', print: dump },
  {
    key: 'c',
    title: 'C array',
    hint: 'unsigned char',
    print: (bytes) => `static const unsigned char bytes[${bytes.length}] = {\n${list(bytes)}\n};\n`,
  },
  {
    key: 'rust',
    title: 'Rust array',
    hint: '[u8; 4]',
    print: (bytes) => `const BYTES: [u8; ${bytes.length}] = [\n${list(bytes)}\n];\n`,
  },
  { key: 'base64', title: 'Base64', hint: 'f0VMRg==', print: base64 },
  { key: 'text', title: 'Text', hint: 'UTF-8', print: (bytes) => new TextDecoder().decode(bytes) },
];

/** Bytes that are copied at once, at most. */
export const COPY_LIMIT = 1 << 20;
