// Dumps of what was handed to a GPU, before the core has them.

import type { Client } from './client.ts';
import type { Source } from './source.ts';

/** What two launch descriptors are read as, one behind the other. */
export const AS_QMD = 'as=qmd';

/** Whether a text that was pasted may well be a dump: it has words such as 0x00001000 or 0c: 00 10, several of them. */
export function isDump(text: string): boolean {
  return (text.slice(0, 4000).match(/\b0x[0-9a-f]+\b|^\s*[0-9a-f]{2,16}:\s/gim)?.length ?? 0) > 3;
}

/** Two launch descriptors, one behind the other, which the core compares. Either may be text. */
export async function joined(client: Client, dumps: readonly [Blob, Blob], signal: AbortSignal): Promise<Source> {
  const all = dumps.map(async (blob, i) => {
    const file = client.newFile();
    try {
      const { summary } = await client.call(file, 'open', [blob, ''], { signal });
      if (summary.format !== 'qmd')
        throw new Error(
          `launch descriptors are compared, and the ${i === 0 ? 'first' : 'second'} dump is none: ${summary.format_title}`,
        );
      return await client.call(file, 'bytes', [0, Number(summary.size)], { signal });
    } finally {
      client.call(file, 'close', []).catch(() => {});
    }
  });
  const bytes = await Promise.all(all);
  return { name: 'two launch descriptors', blob: new Blob(bytes as Uint8Array<ArrayBuffer>[]), decode: AS_QMD };
}
