// How the fields of a record are laid out in rows of 32 bits, the highest bit on the left. Pure.

/** What the layout needs of a field. */
export interface Bits {
  name: string;
  /** Highest and lowest bit, counted from the lowest bit of the record's first byte. */
  bits: [number, number];
  alternative_of?: string | null | undefined;
}

/** Some bits of a field, or of none, in one row. */
export interface Box {
  /** Index of the field; -1 where no field claims the bits. */
  field: number;
  msb: number;
  lsb: number;
  /** Whether the field begins (with its highest bit) or ends here. */
  isStart: boolean;
  isEnd: boolean;
}

export interface Word {
  /** Byte of the record at which it begins. */
  at: number;
  /** From the highest bit to the lowest. */
  boxes: Box[];
  /** Rows behind it that its one box covers as well. */
  folded: number;
}

/** Rows that a diagram has, at most. */
export const WORDS_LIMIT = 1024;

/** The readings of a field's bits: the field itself, then sets of alternatives that do not overlap. */
export function readings(fields: readonly Bits[], of: string): number[][] {
  const own = fields.findIndex((field) => field.name === of && !field.alternative_of);
  const layers: number[][] = [];
  fields.forEach((field, index) => {
    if (field.alternative_of !== of) return;
    const free = layers.find((layer) => layer.every((other) => !overlap(field, fields[other])));
    if (free) free.push(index);
    else layers.push([index]);
  });
  return [own < 0 ? [] : [own], ...layers];
}

function overlap(a: Bits, b: Bits | undefined): boolean {
  return b !== undefined && a.bits[1] <= b.bits[0] && b.bits[1] <= a.bits[0];
}

/** The fields to show: those of their own, or the reading that was chosen in place of one. */
export function shown(fields: readonly Bits[], chosen: ReadonlyMap<string, number>): number[] {
  return fields.flatMap((field, index) => {
    if (field.alternative_of) return [];
    const reading = chosen.get(field.name) ?? 0;
    return reading === 0 ? [index] : (readings(fields, field.name)[reading] ?? [index]);
  });
}

/** The rows of a record of `size` bytes that show the fields of those indices. */
export function layout(fields: readonly Bits[], indices: readonly number[], size: number, width = 32): Word[] {
  const end = size * 8;
  const order = indices
    .filter((index) => fields[index] !== undefined)
    .sort((a, b) => (fields[a]?.bits[1] ?? 0) - (fields[b]?.bits[1] ?? 0));
  // Runs of bits that follow each other, lowest first; where fields overlap, the first has the bits.
  const runs: { field: number; msb: number; lsb: number }[] = [];
  let next = 0;
  for (const index of order) {
    const [high, low] = fields[index]?.bits ?? [0, 0];
    const msb = Math.min(high, end - 1);
    const lsb = Math.max(low, next);
    if (lsb > next) runs.push({ field: -1, msb: lsb - 1, lsb: next });
    if (msb < lsb) continue;
    runs.push({ field: index, msb, lsb });
    next = msb + 1;
  }
  if (next < end) runs.push({ field: -1, msb: end - 1, lsb: next });

  const words: Word[] = [];
  for (const run of runs) {
    for (let row = Math.floor(run.lsb / width); row * width <= run.msb; row++) {
      const box: Box = {
        field: run.field,
        msb: Math.min(run.msb, row * width + width - 1),
        lsb: Math.max(run.lsb, row * width),
        isStart: false,
        isEnd: false,
      };
      box.isStart = box.msb === run.msb;
      box.isEnd = box.lsb === run.lsb;
      const word = words.at(-1);
      const before = word?.boxes[0];
      if (word && word.at === (row * width) / 8) {
        word.boxes.unshift(box);
      } else if (
        word &&
        before &&
        covers(before, word.at * 8, width) &&
        covers(box, row * width, width) &&
        same(box, before)
      ) {
        // A long field is one row, however long it is.
        word.folded += 1;
        before.msb = box.msb;
        before.isStart = box.isStart;
      } else if (words.length < WORDS_LIMIT) {
        words.push({ at: (row * width) / 8, boxes: [box], folded: 0 });
      } else {
        return words;
      }
    }
  }
  return words;
}

function covers(box: Box, lsb: number, width: number): boolean {
  return box.lsb === lsb && box.msb >= lsb + width - 1;
}

function same(a: Box, b: Box): boolean {
  return a.field === b.field && a.lsb === b.msb + 1;
}

/** The bytes of the record that hold bits: first byte and how many. */
export function bytesOf([msb, lsb]: readonly [number, number]): { offset: number; size: number } {
  const offset = Math.floor(lsb / 8);
  return { offset, size: Math.floor(msb / 8) - offset + 1 };
}
