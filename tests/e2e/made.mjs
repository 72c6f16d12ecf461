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
