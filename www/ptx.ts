// A line of PTX taken apart for its colours. Every character of the line is in one of the parts. Pure.

export type PtxKind = 'directive' | 'instruction' | 'register' | 'number' | 'string' | 'comment' | 'label' | 'plain';

export interface PtxPart {
  kind: PtxKind;
  text: string;
}

/** What a part can be, tried in this order where the part before has ended. */
const PARTS: readonly [PtxKind, RegExp][] = [
  ['comment', /\/\/.*|\/\*.*?(?:\*\/|$)/y],
  ['string', /"(?:[^"\\]|\\.)*"?/y],
  ['register', /%[\w$.]+/y],
  ['directive', /\.[A-Za-z_]\w*/y],
  ['number', /-?(?:0[xX][0-9a-fA-F]+U?|0[fFdD][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?U?)\b/y],
  ['plain', /[\w$][\w$.:]*|\s+|[^\w$\s]/y],
];

/** Tabs are shown as so many blanks at least. */
const TAB = 4;

/** The parts of a line. */
export function ptxParts(line: string): PtxPart[] {
  const text = line.replaceAll('\t', ' '.repeat(TAB));
  const parts: PtxPart[] = [];
  // Of words the first is the operation, behind a label and a predicate; where the line begins with a directive there is none.
  let isFirst = true;
  for (let at = 0; at < text.length; ) {
    const [kind, found] = next(text, at);
    at += found.length;
    let is = kind;
    if (kind === 'plain' && /^[\w$]/.test(found)) {
      if (/^\s*:(?!:)/.test(text.slice(at)) && isFirst) is = 'label';
      else if (found.endsWith(':') && isFirst) is = 'label';
      else if (isFirst) [is, isFirst] = ['instruction', false];
    } else if (kind === 'directive') {
      isFirst = false;
    }
    const last = parts.at(-1);
    if (last && last.kind === is && is === 'plain') last.text += found;
    else parts.push({ kind: is, text: found });
  }
  return parts;
}

function next(text: string, at: number): [PtxKind, string] {
  for (const [kind, pattern] of PARTS) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found) return [kind, found];
  }
  return ['plain', text.charAt(at)];
}
