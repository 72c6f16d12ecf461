// Where the keyboard goes in a tree of two levels, laid out as one list of what is visible. Pure.

export interface Node {
  level: 1 | 2;
  label: string;
  /** Null for what has nothing below it. */
  isExpanded: boolean | null;
}

/** What a key does at node `at`: goes to another node, or opens or closes this one; null: nothing of the tree's. */
export function act(nodes: readonly Node[], at: number, key: string): { to: number } | { isExpanded: boolean } | null {
  const node = nodes[at];
  if (!node) return null;
  const last = nodes.length - 1;
  switch (key) {
    case 'ArrowDown':
      return { to: Math.min(at + 1, last) };
    case 'ArrowUp':
      return { to: Math.max(at - 1, 0) };
    case 'Home':
      return { to: 0 };
    case 'End':
      return { to: last };
    case 'ArrowRight':
      if (node.isExpanded === null) return { to: at };
      return node.isExpanded ? { to: Math.min(at + 1, last) } : { isExpanded: true };
    case 'ArrowLeft':
      if (node.isExpanded) return { isExpanded: false };
      return { to: node.level === 1 ? at : nodes.findLastIndex(({ level }, i) => i < at && level === 1) };
    default:
      return key.length === 1 && /\S/.test(key) ? { to: begins(nodes, at, key) } : null;
  }
}

/** The next node whose label begins with `letter`, around the end; `at` if there is none. */
function begins(nodes: readonly Node[], at: number, letter: string): number {
  for (let i = 1; i < nodes.length; i++) {
    const to = (at + i) % nodes.length;
    if (nodes[to]?.label.toLowerCase().startsWith(letter.toLowerCase())) return to;
  }
  return at;
}
