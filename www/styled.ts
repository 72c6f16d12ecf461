// Positions and sizes without style attributes, which the content security policy forbids (lit's styleMap writes one on its
// first render): `<div ${styled({ width: '3ch' })}>` sets them through CSSOM.

import { noChange } from 'lit';
import { Directive, directive, type ElementPart } from 'lit/directive.js';

type Values = Record<string, string>;

class Styled extends Directive {
  #set: Values = {};

  override render(_values: Values): typeof noChange {
    return noChange;
  }

  override update(part: ElementPart, [values]: [Values]): typeof noChange {
    const { style } = part.element as HTMLElement;
    for (const name in this.#set) {
      if (!(name in values)) style.removeProperty(name);
    }
    for (const name in values) {
      const value = values[name] ?? '';
      if ((this.#set[name] ?? '') !== value) style.setProperty(name, value);
    }
    this.#set = values;
    return noChange;
  }
}

export const styled = directive(Styled);
