// What the elements of the page stand on: they show a session and hear of its changes.

import { type CSSResultGroup, LitElement, type PropertyValues } from 'lit';
import type { Change, Session } from '../session.ts';
import { base, roles } from '../style.ts';

export class Part extends LitElement {
  static override properties = { session: { attribute: false } };
  static override styles: CSSResultGroup = [base, roles];
  declare session: Session | null;
  #quiet: (() => void) | undefined;

  constructor() {
    super();
    this.session = null;
  }

  /** The session has changed, or (`null`) is another one. */
  protected changed(_change: Change | null): void {
    this.requestUpdate();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#listen();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#quiet?.();
    this.#quiet = undefined;
  }

  protected override willUpdate(properties: PropertyValues): void {
    if (properties.has('session')) {
      this.#listen();
      this.changed(null);
    }
  }

  #listen(): void {
    this.#quiet?.();
    this.#quiet = this.session?.listen((change) => this.changed(change));
  }
}

/** Defines an element, once: two copies of this program may be on one page. */
export function define(name: string, element: CustomElementConstructor): void {
  if (!customElements.get(name)) customElements.define(name, element);
}
