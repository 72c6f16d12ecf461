// How fast the module unpacks members in WebAssembly, and beside it the vendors' tool on the same files, in one run. `make bench` runs
// it; nothing is asserted. Large files are named as for `open.rs`: a folder by KERNELSCOPE_BIG, the tool by CUOBJDUMP.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Handle, initSync } from '../pkg/kernelscope.js';

const { KERNELSCOPE_BIG: folder, CUOBJDUMP: tool } = process.env;
initSync({ module: await readFile('pkg/kernelscope_bg.wasm') });

/** @param {string} what @param {number} milliseconds @param {number} bytes */
function print(what, milliseconds, bytes) {
  const speed = bytes / 1e3 / milliseconds;
  console.log(`${what.padEnd(44)} ${milliseconds.toFixed(0).padStart(9)} ms   ${speed.toFixed(0).padStart(6)} MB/s`);
}

for (const name of ['thrust-cuda.so', 'libcublas.so']) {
  const path = resolve(folder ?? '.', name);
  const content = folder ? await readFile(path).catch(() => null) : null;
  if (!content) {
    console.log(`${name}: left out, KERNELSCOPE_BIG names no folder with it`);
    continue;
  }
  const handle = Handle.fromBytes(content);
  const keys = handle.columns('members').map((column) => column.key);
  const count = handle.summary().tables.find((table) => table.key === 'members')?.count ?? 0;
  const { rows } = handle.list('members', 0, Number(count));
  const packed = rows.flatMap((row, index) => {
    const [how, size] = [row[keys.indexOf('compression')], Number(row[keys.indexOf('size')])];
    return how === 'lz4' || how === 'zstd' ? [{ index, how, size }] : [];
  });
  // The first are for the engine, which compiles what is called often once more.
  for (const { index } of packed.slice(0, 8)) handle.openMember(index).free();
  const start = performance.now();
  for (const { index } of packed) handle.openMember(index).free();
  const bytes = packed.reduce((sum, { size }) => sum + size, 0);
  const ways = [...new Set(packed.map(({ how }) => how))].join(', ');
  print(`open ${packed.length} members, ${ways}, ${name}`, performance.now() - start, bytes);
  handle.free();
  if (!tool) {
    console.log(`${name}: CUOBJDUMP is not set, nothing to compare with`);
    continue;
  }
  const cwd = mkdtempSync(join(tmpdir(), 'kernelscope-bench-'));
  const before = performance.now();
  spawnSync(tool, ['-all', '-xelf', 'all', path], { cwd, stdio: 'ignore' });
  print(`cuobjdump -all -xelf all, ${name}`, performance.now() - before, bytes);
  rmSync(cwd, { recursive: true });
}
