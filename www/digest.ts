// What tells a file from others, so that it can be opened again where it was left.

const PART = 64 << 10;
/** Parts that are looked at: of a larger file evenly spread, the first and the last among them. */
const PARTS = 16;

/** Where the parts of a file of that size begin that its digest is made of. */
export function parts(size: number): number[] {
  if (size <= PART * PARTS) return Array.from({ length: Math.ceil(size / PART) }, (_, i) => i * PART);
  return Array.from({ length: PARTS }, (_, i) => Math.round(((size - PART) / (PARTS - 1)) * i));
}

/** SHA-256 of the size and of up to 1 MiB, in hexadecimal; null where the browser has none or the file cannot be read. */
export async function digest(blob: Blob): Promise<string | null> {
  try {
    const pieces = parts(blob.size).map((at) => blob.slice(at, at + PART));
    const bytes = await new Blob([`${blob.size} `, ...pieces]).arrayBuffer();
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
  } catch {
    return null;
  }
}
