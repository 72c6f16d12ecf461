// Files that are made when they are needed.

/**
 * An ELF file of that many symbols.
 * @param {number} count
 */
export function manySymbols(count) {
  const strings = [Buffer.of(0)];
  const symbols = Buffer.alloc(count * 24);
  let next = 1;
  for (let i = 1; i < count; i++) {
    const name = Buffer.from(`_ZN6kernel${(i * 7919) % count}E${i}\0`);
    symbols.writeUInt32LE(next, i * 24);
    symbols.set([0x12, 0, 0xf1, 0xff], i * 24 + 4); // a global function at an absolute value
    symbols.writeBigUInt64LE(BigInt(i * 16), i * 24 + 8);
    symbols.writeBigUInt64LE(16n, i * 24 + 16);
    strings.push(name);
    next += name.length;
  }
  const parts = [symbols, Buffer.concat(strings), Buffer.from('\0.symtab\0.strtab\0')];
  const header = Buffer.alloc(64);
  const table = Buffer.alloc(4 * 64);
  let offset = 64;
  for (const [i, [name, kind, link, entry]] of [
    [1, 2, 2, 24],
    [9, 3, 0, 0],
    [0, 3, 0, 0],
  ].entries()) {
    const at = (i + 1) * 64;
    const size = parts[i]?.length ?? 0;
    table.writeUInt32LE(name ?? 0, at);
    table.writeUInt32LE(kind ?? 0, at + 4);
    table.writeBigUInt64LE(BigInt(offset), at + 24);
    table.writeBigUInt64LE(BigInt(size), at + 32);
    table.writeUInt32LE(link ?? 0, at + 40);
    table.writeBigUInt64LE(1n, at + 48);
    table.writeBigUInt64LE(BigInt(entry ?? 0), at + 56);
    offset += size;
  }
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]);
  header.set([1, 0, 62, 0, 1, 0, 0, 0], 16);
  header.writeBigUInt64LE(BigInt(offset), 40);
  header.writeUInt16LE(64, 52);
  header.set([64, 0, 4, 0, 3, 0], 58);
  return Buffer.concat([header, ...parts, table]);
}

/**
 * A cubin whose one attribute, EIATTR_EXIT_INSTR_OFFSETS, has that many offsets: 0, 16, 32 and so on. It begins at 0x40.
 * @param {number} count
 */
export function manyOffsets(count) {
  const attribute = Buffer.alloc(4 + count * 4);
  attribute.set([4, 0x1c]);
  attribute.writeUInt16LE(count * 4, 2);
  for (let i = 0; i < count; i++) attribute.writeUInt32LE(i * 16, 4 + i * 4);
  const names = Buffer.from('\0.nv.info.k\0.shstrtab\0');
  const header = Buffer.alloc(64);
  const table = Buffer.alloc(3 * 64);
  /** @type {[number, number, Buffer][]} */
  const sections = [
    [1, 0x7000_0000, attribute],
    [12, 3, names],
  ];
  let offset = 64;
  for (const [i, [name, kind, { length }]] of sections.entries()) {
    const at = (i + 1) * 64;
    table.writeUInt32LE(name, at);
    table.writeUInt32LE(kind, at + 4);
    table.writeBigUInt64LE(BigInt(offset), at + 24);
    table.writeBigUInt64LE(BigInt(length), at + 32);
    table.writeBigUInt64LE(1n, at + 48);
    offset += length;
  }
  // A little-endian 64-bit executable of CUDA's ABI version 8 for EM_CUDA, sm_90.
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0x41, 8]);
  header.set([2, 0, 190, 0, 1, 0, 0, 0], 16);
  header.writeBigUInt64LE(BigInt(offset), 40);
  header.set([0x04, 0x5a, 0x00, 0x06], 48);
  header.set([64, 0, 56, 0, 0, 0, 64, 0, 3, 0, 2, 0], 52);
  return Buffer.concat([header, attribute, names, table]);
}
