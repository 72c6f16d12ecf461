// How the fields of a record are laid out in rows of 32 or 64 bits, the highest bit on the left. Pure.

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

/** Bits of a field, or (-1) of none. */
export interface Run {
  field: number;
  msb: number;
  lsb: number;
}

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

/** The bits of a record of `size` bytes, lowest first: whose they are. Where fields overlap, the first has them. */
export function runs(fields: readonly Bits[], indices: readonly number[], size: number): Run[] {
  const end = size * 8;
  const order = indices
    .filter((index) => fields[index] !== undefined)
    .sort((a, b) => (fields[a]?.bits[1] ?? 0) - (fields[b]?.bits[1] ?? 0));
  const all: Run[] = [];
  let next = 0;
  for (const index of order) {
    const [high, low] = fields[index]?.bits ?? [0, 0];
    const msb = Math.min(high, end - 1);
    const lsb = Math.max(low, next);
    if (lsb > next) all.push({ field: -1, msb: Math.min(lsb, end) - 1, lsb: next });
    if (msb >= lsb) all.push({ field: index, msb, lsb });
    next = Math.max(next, msb + 1, Math.min(lsb, end));
  }
  if (next < end) all.push({ field: -1, msb: end - 1, lsb: next });
  return all;
}

/** The rows of a record of `size` bytes that show the fields of those indices. */
export function layout(fields: readonly Bits[], indices: readonly number[], size: number, width = 32): Word[] {
  const words: Word[] = [];
  for (const { field, msb: high, lsb: low } of runs(fields, indices, size)) {
    for (let lsb = low; lsb <= high; ) {
      const start = lsb - (lsb % width);
      // Rows that it fills are drawn as one, however many they are.
      const whole = lsb === start ? Math.floor((high + 1 - lsb) / width) : 0;
      const msb = whole > 0 ? lsb + whole * width - 1 : Math.min(high, start + width - 1);
      const box: Box = { field, msb, lsb, isStart: msb === high, isEnd: lsb === low };
      const word = words.at(-1);
      if (word?.at === start / 8) word.boxes.unshift(box);
      else words.push({ at: start / 8, boxes: [box], folded: Math.max(0, whole - 1) });
      lsb = msb + 1;
    }
  }
  return words;
}

/** Highest and lowest bit of a box in its row. Those of a row that stands for several are drawn as if they were its own. */
export function inRow(word: Word, box: Box, width: number): [number, number] {
  return word.folded > 0 ? [width - 1, 0] : [box.msb - word.at * 8, box.lsb - word.at * 8];
}

/** Where the keyboard is in a diagram: a row, and a bit of it that stays the same on the way up and down. */
export interface Place {
  row: number;
  bit: number;
}

/** The box at a place, or of those that are of a field the nearest to it. */
export function boxAt(words: readonly Word[], { row, bit }: Place, width: number): Box | null {
  const word = words[row];
  if (!word) return null;
  let found: Box | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const box of word.boxes) {
    if (box.field < 0) continue;
    const [high, low] = inRow(word, box, width);
    const far = Math.max(0, low - bit, bit - high);
    if (far < least) [found, least] = [box, far];
  }
  return found;
}

/** The place to which a key leads; null where it leads nowhere, or is not one of those that move. */
export function step(words: readonly Word[], from: Place, key: string, width: number): Place | null {
  const boxes = (words[from.row]?.boxes ?? []).filter((box) => box.field >= 0);
  const at = boxes.indexOf(boxAt(words, from, width) as Box);
  const beside = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: boxes.length - 1 }[key];
  if (beside !== undefined) {
    const box = boxes[beside];
    return box && beside !== at ? placeOf(words, from.row, box, width) : null;
  }
  const by = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (by === undefined) return null;
  // Rows that no field has a part in are passed over.
  for (let row = from.row + by; row >= 0 && row < words.length; row += by) {
    if (boxAt(words, { ...from, row }, width)) return { ...from, row };
  }
  return null;
}

/** The middle of a box. */
export function placeOf(words: readonly Word[], row: number, box: Box, width: number): Place {
  const [high, low] = inRow(words[row] as Word, box, width);
  return { row, bit: (high + low) >> 1 };
}

/** The lines of a list: all fields in the record's order, alternatives too, and between them the bits that none claims. */
export function lines(fields: readonly Bits[], size: number): Run[] {
  const own = fields.flatMap((field, index) => (field.alternative_of ? [] : [index]));
  const gaps = runs(fields, own, size).filter((run) => run.field < 0);
  const all: Run[] = [];
  let gap = 0;
  fields.forEach(({ bits: [msb, lsb], alternative_of }, field) => {
    for (; !alternative_of && (gaps[gap]?.msb ?? lsb) < lsb; gap++) all.push(gaps[gap] as Run);
    all.push({ field, msb, lsb });
  });
  return [...all, ...gaps.slice(gap)];
}

/** The bytes of the record that hold bits: first byte and how many. */
export function bytesOf([msb, lsb]: readonly [number, number]): { offset: number; size: number } {
  const offset = Math.floor(lsb / 8);
  return { offset, size: Math.floor(msb / 8) - offset + 1 };
}
