// <kernel-scope-image>: the image that a loader makes of the file, by the rule of the sections or by that of the segments: its
// pieces, its bytes, and where the two differ.

import { css, html, nothing } from 'lit';
import { isAbort, message } from '../client.ts';
import { ImageSpace, parseAddress } from '../image.ts';
import { save } from '../out.ts';
import type { ByteRun, Column, ImageMap, Progress } from '../protocol.ts';
import { offsetOf, type Scale, scale, strips, xOf } from '../ribbon.ts';
import type { Change, Session } from '../session.ts';
import { styled } from '../styled.ts';
import { bytes, count, hex, name, share } from '../text.ts';
import './hex.ts';
import './menu.ts';
import { define, Part } from './part.ts';
import './pieces.ts';
import './table.ts';
import { widthObserver } from './width.ts';

/** What is known of the images before they are seen; null where the file has none. */
export interface ImageData {
  held: ImageMap | null;
  loaded: ImageMap | null;
  columns: Column[];
  /** The columns of the list of what a loader patches; null where no loader is known. */
  patches: Column[] | null;
}

/** A patch of the selected bytes. */
interface Patch {
  words: string;
  /** The bytes of the relocation that says so. */
  relocation: { offset: number; size: number };
}

/** Runs that are looked for, at most; and bytes of an image that are saved. */
const RUNS = 200;
const SAVED = 2 ** 32;

export class Image extends Part {
  static override properties = { ...super.properties, data: { attribute: false }, rest: {}, width: { state: true } };
  static override styles = [
    super.styles,
    css`
      :host { display: grid; grid-template: auto auto minmax(0, 1fr) / minmax(200px, 290px) minmax(0, 1fr); block-size: 100%; min-block-size: 300px; }
      .head { grid-column: 1 / -1; padding: 12px 20px 8px; display: grid; gap: 3px; }
      label { display: flex; gap: 0 8px; align-items: baseline; cursor: pointer; flex-wrap: wrap; }
      label b { font-weight: 600; }
      label .dim { font: 12px var(--mono); }
      input { accent-color: var(--accent); margin: 0; position: relative; inset-block-start: 1px; }
      .line { display: flex; gap: 4px 14px; flex-wrap: wrap; align-items: center; margin-block-start: 4px; }
      .save { margin-inline-start: auto; color: var(--dim); display: flex; gap: 10px; }
      kernel-scope-menu { color: var(--accent); text-decoration: underline; text-underline-offset: 2px; }
      .strip { grid-column: 1 / -1; position: relative; block-size: 12px; margin: 0 20px 8px; cursor: pointer; touch-action: none; }
      .strip .swatch { position: absolute; inset-block: 0; border-radius: 2px; }
      .cursor { position: absolute; inset-block: -3px; min-inline-size: 2px; background: var(--ink); opacity: .75; outline: 1px solid var(--paper); pointer-events: none; }
      .base { font-size: 12.5px; }
      .base input { font: 12px var(--mono); inline-size: 13em; padding-block: 1px; }
      .base input[aria-invalid="true"] { border-color: var(--error); }
      .side { border-block-start: 1px solid var(--line); display: grid; grid-template-rows: auto minmax(0, 1fr); min-block-size: 0; min-inline-size: 0; }
      .which { display: flex; gap: 14px; padding: 6px 14px 4px; font-size: 12px; color: var(--dim); }
      .which [aria-pressed="true"] { color: var(--ink); font-weight: 600; }
      .side > :last-child { grid-row: 2; }
      kernel-scope-hex { border-block-start: 1px solid var(--line); border-inline-start: 1px solid var(--line); background: var(--pane); }
      .none { padding: 16px 20px; }
      @container (max-width: 700px) {
        :host { grid-template: auto auto auto minmax(300px, 1fr) / minmax(0, 1fr); block-size: auto; min-block-size: 100%; }
        .side kernel-scope-pieces { block-size: 130px; }
        .side kernel-scope-table { block-size: 280px; }
        .head { padding-inline: 12px; }
        .strip { margin-inline: 12px; }
        kernel-scope-hex { border-inline-start: 0; max-block-size: 420px; }
      }
    `,
  ];

  declare data: ImageData | null;
  /** What is open in the panel: `segments`, or nothing for the rule of the sections. */
  declare rest: string;
  declare width: number;
  #space: ImageSpace | null = null;
  #quiet: (() => void) | undefined;
  #scale: Scale | null = null;
  #differing: Differing | null = null;
  #comparing: AbortController | undefined;
  #saving: AbortController | undefined;
  #said = '';
  /** What is typed as the address, and whether that is one. */
  #typed = '';
  #isAddress = true;
  #patch: Patch | null = null;
  #patching: AbortController | undefined;
  readonly #observer = widthObserver(this);

  constructor() {
    super();
    this.data = null;
    this.rest = '';
    this.width = 0;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#heed();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer?.disconnect();
    this.#quiet?.();
    this.#comparing?.abort();
    this.#saving?.abort();
    this.#patching?.abort();
  }

  /** The image is heard from its space. */
  protected override changed(change: Change | null): void {
    if (change === null) this.requestUpdate();
  }

  get #bySegments(): boolean {
    const { held, loaded } = this.data ?? {};
    return (
      loaded !== null && loaded !== undefined && (this.rest === 'segments' || !held || Number(held.info.size) === 0)
    );
  }

  protected override willUpdate(properties: Map<PropertyKey, unknown>): void {
    super.willUpdate(properties);
    const { session, data } = this;
    const map = this.#bySegments ? data?.loaded : data?.held;
    if (properties.has('data') || properties.has('session') || this.#space?.bySegments !== this.#bySegments) {
      this.#space = session && map ? new ImageSpace(session, this.#bySegments, map) : null;
      this.#typed = (session?.kept.get('base') as string | undefined) ?? '';
      this.#load();
      this.#scale = null;
      this.#heed();
    }
    if (properties.has('data') || properties.has('session')) void this.#compare();
    if (properties.has('width')) this.#scale = null;
    if (this.#space && !this.#scale && this.width > 0) this.#scale = scale(this.#space.leaves, this.width);
  }

  protected override updated(): void {
    const strip = this.renderRoot.querySelector('.strip');
    if (strip) this.#observer?.observe(strip);
  }

  #heed(): void {
    this.#quiet?.();
    this.#quiet = this.#space?.listen((change) => {
      this.requestUpdate();
      if (change === 'selection' || change === 'reopened') void this.#learn();
    });
  }

  override render() {
    const { session, data } = this;
    const space = this.#space;
    if (!session || !data || !space) return html`<p class="none">No part of the file goes into an image.</p>`;
    return html`
      <div class="head">
        <div role="radiogroup" aria-label="By which rule">
          ${this.#rule(data.held, false, 'By sections', 'as the reference loader lays them')}
          ${this.#rule(data.loaded, true, 'By segments', 'as PT_LOAD program headers say')}
        </div>
        ${data.patches && this.#isMain(space) ? this.#base(space) : nothing}
        <div class="line">
          <span role="status">${this.#differences(data)}</span>
          <span class="save"><span role="status">${this.#said}</span>
            ${
              this.#saving
                ? html`<button class="link" @click=${() => this.#saving?.abort()}>cancel</button>`
                : html`<button class="link" @click=${() => this.#save(space)}>save image…</button>`
            }</span>
        </div>
      </div>
      <div class="strip" aria-hidden="true" @pointerdown=${this.#down} @pointermove=${this.#move}>${this.#scale ? this.#drawn(space, this.#scale) : nothing}</div>
      <div class="side">${this.#side(session, data, space)}</div>
      <kernel-scope-hex role="region" aria-label="Bytes of the image" .session=${session} .space=${space}></kernel-scope-hex>
    `;
  }

  #rule(map: ImageMap | null, bySegments: boolean, title: string, words: string) {
    if (!map || Number(map.info.size) === 0) return nothing;
    const { address, size, align } = map.info;
    return html`<label>
      <input type="radio" name="rule" .checked=${this.#bySegments === bySegments} @change=${() => this.#choose(bySegments)}>
      <b>${title}</b> ${words} <span class="dim">${bytes(size)} from ${hex(address)} · aligned to ${count(align)}</span>
    </label>`;
  }

  /** Where the image is loaded, and what that changes in the selected bytes. */
  #base(space: ImageSpace) {
    const words = !this.#isAddress
      ? html`<span role="status">an address is 16 hexadecimal digits at most</span>`
      : space.base === null
        ? html`<span class="dim" role="status">as the file has it, without patches</span>`
        : html`<span role="status">${this.#patch?.words ?? html`<span class="dim">patched bytes are framed</span>`}</span>`;
    return html`<div class="line base">
      <label>Loaded at <input class="field" placeholder="0x7f0000000000" autocomplete="off" spellcheck="false" aria-invalid=${!this.#isAddress}
        aria-label="Address that the image is loaded at" .value=${this.#typed} @input=${this.#input}></label>
      ${words}
      ${this.#patch ? html`<button class="link" @click=${this.#relocation}>its relocation</button>` : nothing}
    </div>`;
  }

  readonly #input = (event: Event): void => {
    this.#typed = (event.target as HTMLInputElement).value;
    this.session?.kept.set('base', this.#typed);
    this.#load();
    void this.#learn();
    this.requestUpdate();
  };

  /** Whether it is the image in which patches count: without section headers that by segments. */
  #isMain(space: ImageSpace): boolean {
    return !space.bySegments || !Number(this.data?.held?.info.size ?? 0);
  }

  /** Gives the image the address that is typed. */
  #load(): void {
    const space = this.#space;
    const base = parseAddress(this.#typed);
    this.#isAddress = base !== undefined;
    if (space && base !== undefined) space.base = this.#isMain(space) ? base : null;
  }

  /** Learns which patch the selected bytes have. */
  async #learn(): Promise<void> {
    this.#patching?.abort();
    const space = this.#space;
    const { offset, size } = space?.selection ?? { offset: 0, size: 0 };
    if (!space || space.base === null || size === 0) {
      this.#patch = null;
      return;
    }
    this.#patching = new AbortController();
    const { signal } = this.#patching;
    try {
      const patched = await space.session.call('patched', [offset, size], { signal });
      const row = patched?.row[0];
      const found = row === undefined ? null : await this.#row(space, row, signal);
      if (signal.aborted) return;
      const more = (patched?.row.length ?? 0) - 1;
      const cell = found?.cell ?? (() => null);
      const by = cell('applied_by') === 'loader' ? 'the loader' : cell('applied_by');
      this.#patch = found && {
        words: `${cell('type')} of ${name(String(cell('symbol_name') ?? ''), 60)}: ${cell('before')} → ${cell('after')}, by ${by}${
          more > 0 ? `, and ${count(more)} more` : ''
        }`,
        relocation: found.relocation,
      };
      this.requestUpdate();
    } catch (error) {
      if (!isAbort(error)) this.session?.onNotice(message(error));
    }
  }

  /** A row of the list of patches: its cells by column, and the bytes that it is read from. */
  async #row(space: ImageSpace, row: number, signal?: AbortSignal) {
    const { rows, offset, size } = await space.session.call('list', [`patches/${space.base}`, row, 1], { signal });
    const cell = (key: string) =>
      rows[0]?.[this.data?.patches?.findIndex((column) => column.key === key) ?? -1] ?? null;
    return { cell, relocation: { offset: offset[0] ?? 0, size: size[0] ?? 0 } };
  }

  readonly #relocation = (): void => {
    const { session } = this;
    if (!session || !this.#patch) return;
    const { offset, size } = this.#patch.relocation;
    session.view = 'relocations';
    session.select(offset, size);
  };

  /** The pieces, or what is patched in them. */
  #side(session: Session, data: ImageData, space: ImageSpace) {
    const hasPatches = data.patches !== null && space.base !== null;
    const isPatches = hasPatches && session.kept.get('image side') === 'patches';
    const to = (side: string) => () => {
      session.kept.set('image side', side);
      this.requestUpdate();
    };
    return html`
      ${
        hasPatches
          ? html`<div class="which">
              <button aria-pressed=${!isPatches} @click=${to('pieces')}>pieces</button>
              <button aria-pressed=${isPatches} @click=${to('patches')}>patches</button>
            </div>`
          : nothing
      }
      ${
        isPatches
          ? html`<kernel-scope-table .session=${session} .table=${`patches/${space.base}`} .columns=${data.patches} .label=${'Patches'}
              .follow=${(row: number) => void this.#show(space, row)}></kernel-scope-table>`
          : html`<kernel-scope-pieces .session=${session} .space=${space} .columns=${data.columns}></kernel-scope-pieces>`
      }
    `;
  }

  /** Goes to the bytes that a row of the list of patches is about. */
  async #show(space: ImageSpace, row: number): Promise<void> {
    const { cell } = await this.#row(space, row);
    const offset = cell('image_offset');
    if (offset !== null) space.select(Number(offset), Math.max(1, Number(cell('size'))));
  }

  #choose(bySegments: boolean): void {
    if (this.session) this.session.view = bySegments ? 'image/segments' : 'image';
  }

  #differences({ held, loaded }: ImageData) {
    const differing = this.#differing;
    if (!held || !loaded || Number(held.info.size) === 0) return nothing;
    if (!differing) return 'comparing…';
    if (differing.error) return `not compared: ${differing.error}`;
    if (!differing.isDone) return `comparing… ${share(differing.done, differing.total).replace(/\.\d/, '')}`;
    const { runs, isComplete } = differing;
    if (runs.length === 0)
      return isComplete ? 'Where both rules have bytes, these are identical.' : 'What was compared is identical.';
    const sum = runs.reduce((sum, { size }) => sum + size, 0);
    const items = runs.map(({ offset, size }) => ({
      title: `${hex(offset)}–${hex(offset + size)}`,
      hint: bytes(size),
      run: () => this.#go(offset, size),
    }));
    const words = `${isComplete ? '' : 'at least '}${count(runs.length)} ${runs.length === 1 ? 'run' : 'runs'} of bytes`;
    return html`Where both rules have bytes, these differ in <kernel-scope-menu label=${words} hint="Runs of bytes that differ" .items=${items}></kernel-scope-menu>: ${bytes(sum)} in all.`;
  }

  /** Shows a run of bytes in which the images differ; it counts in the image by sections. */
  #go(offset: number, size: number): void {
    const { held, loaded } = this.data ?? {};
    const ahead = this.#bySegments ? Number(BigInt(held?.info.address ?? 0) - BigInt(loaded?.info.address ?? 0)) : 0;
    this.#space?.select(offset + ahead, size);
  }

  async #compare(): Promise<void> {
    this.#comparing?.abort();
    const { session, data } = this;
    this.#differing = (session?.kept.get('differences') as Differing | undefined) ?? null;
    if (!session || !data?.held || !data.loaded || this.#differing) return;
    this.#comparing = new AbortController();
    const { signal } = this.#comparing;
    const say = (differing: Differing) => {
      if (signal.aborted) return;
      this.#differing = differing;
      this.requestUpdate();
    };
    const none = { runs: [], isComplete: false, done: 0, total: 0, isDone: false, error: '' };
    try {
      const found = await session.call('differences', [RUNS], {
        signal,
        progress: ({ done, total }: Progress) => say({ ...none, done, total }),
      });
      say({ ...none, ...found, isDone: true });
      session.kept.set('differences', this.#differing);
    } catch (error) {
      if (!isAbort(error)) say({ ...none, error: message(error) });
    }
  }

  async #save(space: ImageSpace): Promise<void> {
    const saving = new AbortController();
    this.#saving = saving;
    const say = (text: string) => {
      this.#said = text;
      this.requestUpdate();
    };
    say('reading…');
    try {
      if (space.size > SAVED) throw new Error(`more than ${bytes(SAVED)}`);
      const { blob, name } = await space.save(
        { offset: 0, size: space.size },
        {
          signal: saving.signal,
          progress: ({ done, total }) => say(`reading… ${share(done, total).replace(/\.\d/, '')}`),
        },
      );
      save(blob, name);
      say(`${bytes(blob.size)} saved`);
    } catch (error) {
      say(isAbort(error) ? '' : `not saved: ${message(error)}`);
    } finally {
      this.#saving = undefined;
      this.requestUpdate();
    }
  }

  #drawn(space: ImageSpace, to: Scale) {
    const { leaves, roles, selection } = space;
    const [from, until] = [xOf(selection.offset, leaves, to), xOf(selection.offset + selection.size, leaves, to)];
    return html`
      ${strips(leaves, to).map(
        ({ x, width, role }) =>
          html`<i class="swatch role-${roles[role]}" ${styled({ left: `${x}px`, width: `${width > 3 ? width - 1 : width}px` })}></i>`,
      )}
      ${selection.size > 0 ? html`<i class="cursor" ${styled({ left: `${from}px`, width: `${until - from}px` })}></i>` : nothing}
    `;
  }

  readonly #down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    this.#point(event);
  };

  readonly #move = (event: PointerEvent): void => {
    if (event.buttons & 1) this.#point(event);
  };

  #point(event: PointerEvent): void {
    const { left } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    if (this.#space && this.#scale)
      this.#space.select(offsetOf(event.clientX - left, this.#space.leaves, this.#scale), 1);
  }
}

interface Differing extends Progress {
  runs: ByteRun[];
  isComplete: boolean;
  isDone: boolean;
  error: string;
}

define('kernel-scope-image', Image);
