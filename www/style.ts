// What all elements look alike in: the colours (custom properties, which whoever embeds may set) and the type.
//
// Warm paper and ink; the tints of roles are from the Okabe–Ito set, which people who see fewer colours can tell apart. A
// tint never stands alone: names, hatching and position say the same.

import { css } from 'lit';

/** For the outermost box: nothing of the page around reaches what is inside. */
export const isolation = css`
  .scope {
    all: initial;
    direction: ltr;
    display: block;
    block-size: 100%;
    color-scheme: inherit;
    /* What is inside is laid out by the room that the element has, not by the window's. */
    container-type: inline-size;

    --paper: var(--kernel-scope-paper, light-dark(#fbfaf7, #141519));
    --pane: var(--kernel-scope-pane, light-dark(#ffffff, #1a1c21));
    --ink: var(--kernel-scope-ink, light-dark(#1c1b19, #e9e6df));
    --dim: var(--kernel-scope-dim, light-dark(#66635c, #9f9b92));
    --line: var(--kernel-scope-line, light-dark(#e2ded5, #2c2f36));
    --accent: var(--kernel-scope-accent, light-dark(#0068a3, #6cc0f5));
    --mark: light-dark(#ffe38f, #6b5713);
    --wash: light-dark(#fff5d6, #332d18);
    --hover: light-dark(#f2efe8, #22252b);
    --error: light-dark(#b3410e, #f0925f);
    --warning: light-dark(#8a5a00, #e9b44c);
    --good: light-dark(#00704c, #4cc9a0);

    --role-header: #56b4e9;
    --role-strings: light-dark(#b8b2a6, #6f6b63);
    --role-symbols: #cc79a7;
    --role-info: #e69f00;
    --role-note: light-dark(#e0d34a, #cfc25a);
    --role-code: #009e73;
    --role-data: light-dark(#0072b2, #3d8fd1);
    --role-debug: light-dark(#9aa5b1, #77828e);
    --role-padding: light-dark(#e6e2d9, #2d3037);
    --role-unclaimed: #d55e00;

    --sans: system-ui, "Segoe UI", Inter, sans-serif;
    --mono: ui-monospace, "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;

    color: var(--ink);
    background: var(--paper);
    font: 13px/1.45 var(--sans);
    font-variant-numeric: tabular-nums;
    -webkit-text-size-adjust: 100%;
    text-size-adjust: 100%;
  }
`;

/** For every element. */
export const base = css`
  *, ::before, ::after { box-sizing: border-box; }
  [hidden] { display: none !important; }
  h1, h2, h3, p, dl, dd, ul, ol { margin: 0; padding: 0; }
  ul, ol { list-style: none; }

  /* What comes from a file: its own type, and its own direction of writing, so that it cannot turn what is around it. */
  .file { font-family: var(--mono); unicode-bidi: isolate; overflow-wrap: anywhere; }
  .num { font-family: var(--mono); white-space: nowrap; }
  .dim { color: var(--dim); }

  button, input, select { font: inherit; color: inherit; }
  button { background: none; border: 0; padding: 0; text-align: inherit; cursor: pointer; }
  .link { color: var(--accent); text-decoration: underline; text-decoration-thickness: 1px; text-underline-offset: 2px; }
  .link:hover { text-decoration-thickness: 2px; }
  .button { border: 1px solid var(--line); border-radius: 6px; padding: 3px 10px; background: var(--paper); white-space: nowrap; }
  .button:hover { border-color: var(--dim); }
  .field { border: 1px solid var(--line); border-radius: 6px; padding: 3px 8px; background: var(--paper); min-width: 0; }
  .field::placeholder { color: var(--dim); opacity: 1; }

  :focus { outline: none; }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }

  .unseen { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

  @media (prefers-reduced-motion: no-preference) {
    button, .button { transition: background-color .1s, border-color .1s; }
  }
`;

/** The tints: `role-code` and so on sets --tint; `swatch` shows it, hatched where nothing claims the bytes. */
export const roles = css`
  .role-header { --tint: var(--role-header); }
  .role-strings { --tint: var(--role-strings); }
  .role-symbols { --tint: var(--role-symbols); }
  .role-info { --tint: var(--role-info); }
  .role-note { --tint: var(--role-note); }
  .role-code { --tint: var(--role-code); }
  .role-data { --tint: var(--role-data); }
  .role-debug { --tint: var(--role-debug); }
  .role-padding { --tint: var(--role-padding); }
  .role-unclaimed { --tint: var(--role-unclaimed); }
  .swatch { background: var(--tint); }
  .swatch.role-padding { background: repeating-linear-gradient(135deg, var(--role-padding) 0 3px, transparent 3px 5px); }
  .swatch.role-unclaimed { background: repeating-linear-gradient(135deg, var(--role-unclaimed) 0 2px, transparent 2px 5px); }
  @media (forced-colors: active) { .swatch { forced-color-adjust: none; } }
`;

/** Numbers in a row, with a word above and a few below each: `<dl class="facts"><div><dt>…</dt><dd><b>…</b><small>…</small></dd></div>…</dl>`. */
export const figures = css`
  .facts { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); border: 1px solid var(--line); border-radius: 8px; background: var(--pane);
    overflow: hidden; }
  .facts div { padding: 9px 12px; border-inline-start: 1px solid var(--line); }
  .facts div:first-child { border-inline-start: 0; }
  .facts dt { color: var(--dim); font-size: 12px; }
  .facts dd { font: 600 19px/1.35 var(--mono); }
  .facts dd b { font-weight: inherit; }
  .facts dd small { display: block; color: var(--dim); font: 11.5px/1.4 var(--sans); }
  @container (max-width: 700px) {
    .facts { grid-template-columns: repeat(3, minmax(0, 1fr)); }
    .facts div:nth-child(4) { border-inline-start: 0; }
    .facts div:nth-child(n + 4) { border-block-start: 1px solid var(--line); }
  }
`;
