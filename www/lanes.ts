// The timeline of the six scoreboard barriers beside a row of code, as the core writes it: a character for each barrier. Pure.

/** How a character is drawn, in a box of 10 × 25 of which the line runs down the middle. */
interface Lane {
  /** Lines: the d of a path. */
  line: string;
  /** A sign that stands where the instruction is, and whether it is filled. */
  sign?: { d: string; isFilled: boolean };
  words: string;
}

const MIDDLE = 12.5;
const CIRCLE = `M5 ${MIDDLE - 3.5}a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0 -7z`;
const DIAMOND = `M5 ${MIDDLE - 4}l4 4l-4 4l-4 -4z`;
const INTO = `M5 0V${MIDDLE - 4}`;
const OUT = `M5 ${MIDDLE + 4}V25`;

const SET = { d: CIRCLE, isFilled: true };
const HELD = { d: CIRCLE, isFilled: false };

export const LANES: Record<string, Lane> = {
  '|': { line: 'M5 0V25', words: 'pending' },
  w: { line: OUT, sign: SET, words: 'set until the result is written' },
  r: { line: OUT, sign: HELD, words: 'set until the operands are read' },
  x: { line: INTO, sign: { d: DIAMOND, isFilled: true }, words: 'waited for' },
  W: { line: INTO + OUT, sign: SET, words: 'waited for, and set until the result is written' },
  R: { line: INTO + OUT, sign: HELD, words: 'waited for, and set until the operands are read' },
};

/** What the characters say: `0 pending, 2 waited for`. */
export function laneWords(lanes: string): string {
  return Array.from(lanes, (lane, barrier) => LANES[lane] && `${barrier} ${LANES[lane].words}`)
    .filter(Boolean)
    .join(', ');
}
