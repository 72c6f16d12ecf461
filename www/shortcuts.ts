// What the keyboard does, for the sheet that shows it and for the application that does its part of it.

export type Action =
  | 'find'
  | 'open'
  | 'sheet'
  | 'decode'
  | 'next-region'
  | 'previous-region'
  | 'next-file'
  | 'previous-file'
  | 'close-file'
  | 'dock'
  | 'bytes'
  | 'fields'
  | 'tree'
  | 'main';

export interface Shortcut {
  /** As `event.key` has it, with what is held down: `Control+k`. */
  keys: string[];
  title: string;
  /** What the application does; the others are the elements' own. */
  action?: Action;
}

export interface Group {
  title: string;
  shortcuts: Shortcut[];
}

export const GROUPS: Group[] = [
  {
    title: 'Anywhere',
    shortcuts: [
      { keys: ['Control+k', '/'], title: 'Find a kernel, section, symbol or byte; go to an offset', action: 'find' },
      { keys: ['Control+o', 'o'], title: 'Open a file', action: 'open' },
      { keys: ['p'], title: 'Paste a dump of a launch, to be read back', action: 'decode' },
      { keys: ['F6'], title: 'To the next region: ribbon, tree, panel, bytes, fields', action: 'next-region' },
      { keys: ['Shift+F6'], title: 'To the region before', action: 'previous-region' },
      { keys: ['t'], title: 'To the tree', action: 'tree' },
      { keys: ['m'], title: 'To the panel that is open', action: 'main' },
      { keys: ['b'], title: 'To the bytes', action: 'bytes' },
      { keys: ['f'], title: 'To the fields', action: 'fields' },
      { keys: ['d'], title: 'Bytes and fields below, to the right, or away', action: 'dock' },
      { keys: [']'], title: 'The next file', action: 'next-file' },
      { keys: ['['], title: 'The file before', action: 'previous-file' },
      { keys: ['Shift+X'], title: 'Close the file', action: 'close-file' },
      { keys: ['?'], title: 'This sheet', action: 'sheet' },
    ],
  },
  {
    title: 'In the bytes',
    shortcuts: [
      { keys: ['←', '→', '↑', '↓'], title: 'Move; with Shift, select' },
      { keys: ['Home', 'End'], title: 'Start and end of the row; with Ctrl, of the file' },
      { keys: ['PageUp', 'PageDown'], title: 'A window up and down' },
      { keys: ['Control+g', 'g'], title: 'Go to an offset, a name, or a place in the image' },
      { keys: ['Control+f', '/'], title: 'Find bytes or text' },
      { keys: ['F3', 'Shift+F3'], title: 'The next match, and the one before' },
      { keys: ['Control+a'], title: 'Select the part, then all' },
      { keys: ['Control+c'], title: 'Copy the selected bytes' },
    ],
  },
  {
    title: 'In tables and lists',
    shortcuts: [
      { keys: ['↑', '↓', '←', '→'], title: 'From row to row and from cell to cell; with Shift, select rows' },
      { keys: ['Home', 'End'], title: 'First and last cell of the row; with Ctrl, first and last row' },
      { keys: ['PageUp', 'PageDown'], title: 'A window up and down' },
      { keys: ['Enter'], title: 'Open what the row stands for' },
      { keys: ['Control+a'], title: 'Select all rows' },
      { keys: ['Control+c'], title: 'Copy the selected rows' },
      { keys: ['Touch'], title: 'Rest on a row, then tap another, to select the rows between' },
    ],
  },
  {
    title: 'In the fields',
    shortcuts: [
      { keys: ['←', '→', '↑', '↓'], title: 'From field to field' },
      { keys: ['Enter'], title: 'Follow the field to where it leads' },
    ],
  },
];

/** What is pressed, as a shortcut names it. Command counts as Control. */
export function pressed({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyLike): string {
  const isWord = key.length > 1;
  const held = [ctrlKey || metaKey ? 'Control+' : '', altKey ? 'Alt+' : ''].join('');
  // Shift is part of the sign that it makes (`?`), and stands by itself for letters and named keys.
  const isShift = shiftKey && (isWord || /[a-z]/i.test(key));
  return `${held}${isShift ? 'Shift+' : ''}${isShift || isWord ? key : key.toLowerCase()}`;
}

export interface KeyLike {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** What the application does for a key; keys alone only where `hasSingle`. */
export function actionOf(event: KeyLike, hasSingle: boolean): Action | null {
  const keys = pressed(event);
  const isSingle = !/^(Control|Alt)\+|^(Shift\+)?F\d/.test(keys);
  if (isSingle && !hasSingle) return null;
  const all = GROUPS.flatMap((group) => group.shortcuts);
  return all.find((one) => one.action && one.keys.includes(keys))?.action ?? null;
}
