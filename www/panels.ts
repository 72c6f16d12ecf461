// The panels: what the list on the left offers and the main part shows. A panel is a name, an icon, what it asks of the
// file, and a view of the answer. To add one, add it here.

import { html, type TemplateResult } from 'lit';
import type { Options } from './client.ts';
import { problemWords } from './extract.ts';
import { gpusOf } from './gpus.ts';
import { save } from './out.ts';
import type { Column, Diagnostic, Int } from './protocol.ts';
import type { Runs } from './runs.ts';
import type { Session } from './session.ts';
import { TOLD_BY_MEMBERS } from './table.ts';
import { bytes, count } from './text.ts';
import './elements/findings.ts';
import type { ImageData } from './elements/image.ts';
import './elements/image.ts';
import './elements/kernels.ts';
import './elements/map.ts';
import type { MissingData } from './elements/missing.ts';
import type { Rows, SummaryData } from './elements/summary.ts';
import './elements/summary.ts';
import { type Leads, showSelected } from './elements/table.ts';
import './elements/texts.ts';

export interface Panel<Data = unknown> {
  /** What `view` calls it. */
  key: string;
  title: string;
  /** The d of a path on 16 × 16. */
  icon: string;
  /** What it has, for the list. */
  count: Int | null;
  /** The view that it leads to, if that is a place in another panel. */
  leads?: string;
  /** What it needs before it can be seen. */
  request(session: Session, signal: AbortSignal): Promise<Data>;
  view(session: Session, data: Data, rest: string): TemplateResult;
  /** What it asks for is more once members are opened (survey.ts). */
  isSurveyed?: boolean;
}

const ICONS: Record<string, string> = {
  summary: 'M3 3h10M3 6.5h10M3 10h6M3 13.5h4',
  kernels: 'M5 5h6v6H5zM5 2v3M8 2v3M11 2v3M5 11v3M8 11v3M11 11v3M2 5h3M2 8h3M2 11h3M11 5h3M11 8h3M11 11h3',
  launch: 'M4.500 3v10l8.500-5z',
  bank0: 'M2.500 3.500h11v3h-11zM2.500 9.500h11v3h-11zM4.500 5h1M4.500 11h1',
  occupancy: 'M2.500 13.500h11M4 11.500v-4M7 11.500v-7M10 11.500v-9M13 11.500v-2',
  methods: 'M3 3.500h3M3 8h3M3 12.500h3M8 3.500h5M8 8h3M8 12.500h4',
  qmds: 'M3 2.500h10v11h-10zM3 5.500h10M3 8.500h10M8 5.500v3M6 8.500v5',
  launches: 'M4.500 3v10l8.500-5z',
  compare: 'M2.500 3h4.500v10h-4.500zM9 3h4.500v10h-4.500z',
  sections: 'M2.5 3h11v3h-11zM2.5 6h11v4h-11zM2.5 10h11v3h-11z',
  segments: 'M2.5 3h11v10h-11zM7 3v10',
  symbols: 'M3 4h3M3 8h3M3 12h3M8 4h5M8 8h5M8 12h5',
  calls: 'M2.500 3h4v3h-4zM9.500 10h4v3h-4zM4.500 6v5.500h5',
  relocations: 'M3 12V6.5A2.5 2.5 0 0 1 5.5 4H13M10 1l3 3-3 3',
  image: 'M2.5 3.5h11v9h-11zM2.5 8h11',
  texts: 'M3 3.5h10M5 6.5h8M5 9.500h6M3 12.500h4',
  notes: 'M3.5 2.5h9v11h-9zM6 6h4M6 9h4',
  metadata: 'M3 3.5h6M6.5 7h7M6.5 10.5h7M4 5v5.5h1.500',
  map: 'M2 6h12v4H2zM5 6v4M7 6v4M11 6v4',
  across: 'M2.500 3h3v10h-3zM6.500 3h3v10h-3zM10.500 3h3v10h-3z',
  archs: 'M3 3h4v4h-4zM9 3h4v4h-4zM3 9h4v4h-4zM9 9h4v4h-4z',
  members: 'M2.500 4.500h4l1.500 2h5.500v7h-11z',
  size: 'M2.500 2.500h11v11h-11zM9 2.500v11M9 7.500h4.500M2.500 9h6.500',
  missing: 'M2.500 3h4v4h-4zM9.500 3h4v4h-4zM2.500 9h4v4h-4zM10 9.500l3 3M13 9.500l-3 3',
  diagnostics: 'M8 2.5l6 11H2zM8 7v3M8 11.5v.5',
};
const TABLE_ICON = 'M2.5 3h11v10h-11zM2.5 6.300h11M2.5 9.600h11M6.5 3v10';

type Made = Pick<Panel, 'request' | 'view' | 'isSurveyed'>;

/** A panel by what it asks for and how it shows the answer. Whoever holds panels of all kinds need not know what each asks for. */
function panel<Data>(of: Pick<Panel<Data>, 'request' | 'view' | 'isSurveyed'>): Made {
  return of as unknown as Made;
}

function rows(key: string, title: string): Made {
  return panel({
    request: (session, signal) => session.call('columns', [key], { signal }),
    view: (session, columns: Column[]) =>
      html`<kernel-scope-table .session=${session} .table=${key} .columns=${columns} .label=${title}></kernel-scope-table>`,
  });
}

/** The columns of a table, once `element` is there as well. */
async function columnsWith(
  session: Session,
  table: string,
  signal: AbortSignal,
  element: Promise<unknown>,
): Promise<Column[]> {
  const [columns] = await Promise.all([session.call('columns', [table], { signal }), element]);
  return columns;
}

/** Kernels and members that the summary lists. */
const FIRST = 8;
/** Architectures that it lists: all that there are. */
const ARCHS = 200;
/** More GPUs than there are. */
const GPUS = 1000;

const summary = panel({
  isSurveyed: true,
  request: async (session, signal): Promise<SummaryData> => {
    const kernelCount = session.countOf('kernels');
    const { format, decoded } = session.summary;
    const isMember = session.source.member !== undefined;
    const first = (table: string, many: number, has = session.countOf(table) > 0) => (has ? rowsOf(table, many) : null);
    const rowsOf = async (table: string, many = FIRST): Promise<Rows> => {
      const [columns, window] = await Promise.all([
        session.call('columns', [table], { signal }),
        session.call('list', [table, 0, many], { signal }),
      ]);
      return { columns, window };
    };
    const mayBeDump = !isMember && (format === 'unknown' || decoded !== null);
    const isContainer = session.countOf('members') > 0;
    // Code may be in it that nothing tells of.
    const isSilent = kernelCount === 0 && session.countOf('archs') === 0 && session.size > 0 && decoded === null;
    const [exceptions, kernel, kernels, archs, members, across, findings, gpus] = await Promise.all([
      first('exceptions', FIRST),
      kernelCount === 1 ? session.call('kernel', [0], { signal }) : null,
      kernelCount > 1 ? first('kernels', FIRST) : null,
      first('archs', ARCHS),
      first('members', FIRST),
      session.countOf('across') > 0 ? rowsOf(`across/${FIRST}`) : null,
      session.call('diagnostics', [], { signal }),
      first('gpus', GPUS, session.summary.has_gpus),
      mayBeDump ? import('./elements/read.ts') : null,
      isContainer ? import('./elements/survey.ts') : null,
      isSilent ? import('./elements/carve.ts') : null,
    ]);
    return {
      mayBeDump,
      isSilent,
      exceptions,
      kernel,
      kernels,
      archs,
      members,
      across,
      findings,
      gpus: gpus ? gpusOf(gpus.columns, gpus.window) : [],
    };
  },
  view: (session, data: SummaryData) =>
    html`<kernel-scope-summary .session=${session} .data=${data}></kernel-scope-summary>`,
});

/** Where cells of the members lead: to what they are, in a tab of its own. */
const leads = new WeakMap<Session, Leads>();

function leadsOf(session: Session): Leads {
  let of = leads.get(session);
  if (!of) {
    const path = {
      title: 'Open it in a tab of its own (Enter)',
      isLink: () => true,
      go: (_: unknown, index: number) => session.openCell('members', index),
    };
    of = { path };
    leads.set(session, of);
  }
  return of;
}

/** Tables of core dumps whose rows lead to code. */
const COREDUMP = [
  ['exceptions', 'Exceptions'],
  ['lanes', 'Threads'],
  ['frames', 'Call stacks'],
  ['warps', 'Warps'],
  ['sms', 'SMs'],
  ['grids', 'Grids'],
] as const;

function coredump(key: string, title: string): Made {
  return panel({
    request: (session, signal) => columnsWith(session, key, signal, import('./elements/coredump.ts')),
    view: (session, columns: Column[], rest) =>
      html`<kernel-scope-coredump .session=${session} .of=${key} .columns=${columns} .label=${title} .rest=${rest}></kernel-scope-coredump>`,
  });
}

/** Saves members of a file: one as it is, several as a zip file. */
async function saveMembers(session: Session, runs: Runs | null, options: Options): Promise<string> {
  const { blob, name, count: many, problems } = await session.call('extract', [runs, session.name], options);
  save(blob, name);
  const what = 'Not all members are as they should be';
  const all = problems.map(({ path, why }) => `${path}\t${why}`).join('\n');
  session.onDone(what);
  if (all) session.onNotice(`${what}: ${problemWords(problems)}`, 'error', all);
  return `${count(many)} ${many === 1 ? 'member' : 'members'} saved, ${bytes(blob.size)}`;
}

/** Panels by the key of the table that they are about; any other table has a panel of its rows. */
const MADE: Record<string, Made> = {
  kernels: panel({
    request: (session, signal) => session.call('columns', ['kernels'], { signal }),
    view: (session, columns: Column[], rest) =>
      html`<kernel-scope-kernels .session=${session} .columns=${columns} .rest=${rest}></kernel-scope-kernels>`,
  }),
  qmds: panel({
    request: (session, signal) => columnsWith(session, 'qmds', signal, import('./elements/descriptors.ts')),
    view: (session, columns: Column[], rest) =>
      html`<kernel-scope-descriptors .session=${session} .columns=${columns} .rest=${rest}></kernel-scope-descriptors>`,
  }),
  compare: panel({
    request: (session, signal) => columnsWith(session, 'compare', signal, import('./elements/descriptors.ts')),
    view: (session, columns: Column[], rest) =>
      html`<kernel-scope-compare .session=${session} .columns=${columns} .rest=${rest}></kernel-scope-compare>`,
  }),
  map: panel({
    request: (session, signal) => session.call('columns', ['map'], { signal }),
    view: (session, columns: Column[]) =>
      html`<kernel-scope-map .session=${session} .columns=${columns}></kernel-scope-map>`,
  }),
  image: panel({
    request: async (session, signal): Promise<ImageData> => {
      const isPatched = session.summary.format !== 'elf';
      const [held, loaded, columns, patches] = await Promise.all([
        session.call('imageMap', [false], { signal }),
        session.call('imageMap', [true], { signal }),
        session.call('columns', ['image'], { signal }),
        isPatched ? session.call('columns', ['patches/0'], { signal }) : null,
      ]);
      return { held, loaded, columns, patches };
    },
    view: (session, data: ImageData, rest) =>
      html`<kernel-scope-image .session=${session} .data=${data} .rest=${rest}></kernel-scope-image>`,
  }),
  across: panel({
    // Opening members finds architectures, which have columns.
    isSurveyed: true,
    request: (session, signal) => columnsWith(session, 'across', signal, import('./elements/across.ts')),
    view: (session, columns: Column[]) =>
      html`<kernel-scope-across .session=${session} .columns=${columns}></kernel-scope-across>`,
  }),
  members: panel({
    request: (session, signal) =>
      columnsWith(
        session,
        'members',
        signal,
        Promise.all([import('./elements/survey.ts'), import('./elements/carve.ts')]),
      ),
    view: (session, columns: Column[]) =>
      html`<kernel-scope-carve .session=${session}><kernel-scope-survey .session=${session}></kernel-scope-survey>
        <kernel-scope-table .session=${session} .table=${'members'}
        .columns=${columns} .label=${'Members'} .leads=${leadsOf(session)}
        .saves=${(runs: Runs | null, options: Options) => saveMembers(session, runs, options)}></kernel-scope-table></kernel-scope-carve>`,
  }),
  ...Object.fromEntries(COREDUMP.map(([key, title]) => [key, coredump(key, title)])),
  missing: panel({
    isSurveyed: true,
    request: async (session, signal): Promise<MissingData> => {
      const gpu = parseView(session.view).rest;
      const [columns, all, window] = await Promise.all([
        session.call('columns', [gpu ? `missing/${gpu}` : 'missing'], { signal }),
        session.call('columns', ['gpus'], { signal }),
        session.call('list', ['gpus', 0, GPUS], { signal }),
        import('./elements/missing.ts'),
        import('./elements/survey.ts'),
      ]);
      return { gpu, columns, gpus: gpusOf(all, window) };
    },
    view: (session, data: MissingData) =>
      html`<kernel-scope-missing .session=${session} .data=${data}></kernel-scope-missing>`,
  }),
  metadata: panel({
    // What is selected of it, as a finding does, is what whoever opens it wants to see.
    request: async (session, signal) => {
      const { offset, size } = session.selection;
      const columns = await session.call('columns', ['metadata'], { signal });
      const row = size > 0 ? await session.call('rowAt', ['metadata', offset], { signal }) : null;
      if (row !== null) showSelected(session, 'metadata', row);
      return columns;
    },
    view: rows('metadata', 'Metadata').view,
  }),
  texts: panel({
    request: (session, signal) => session.call('columns', ['texts'], { signal }),
    view: (session, columns: Column[], rest) =>
      html`<kernel-scope-texts .session=${session} .columns=${columns} .rest=${rest}></kernel-scope-texts>`,
  }),
  diagnostics: panel({
    request: (session, signal) => session.call('diagnostics', [], { signal }),
    view: (session, findings: Diagnostic[]) =>
      html`<kernel-scope-findings .session=${session} .findings=${findings}></kernel-scope-findings>`,
  }),
};

/** What is worked out for a kernel, in panels behind the one of all kernels. Their elements come when they are asked for. */
const WORKED_OUT: [key: string, title: string, made: Made][] = [
  [
    'launch',
    'Launch',
    panel({
      request: (session, signal) => columnsWith(session, 'kernels', signal, import('./elements/launch.ts')),
      view: (session, columns: Column[], rest) =>
        html`<kernel-scope-launch .session=${session} .columns=${columns} .rest=${rest}></kernel-scope-launch>`,
    }),
  ],
  [
    'occupancy',
    'Occupancy',
    panel({
      request: (session, signal) => columnsWith(session, 'kernels', signal, import('./elements/occupancy.ts')),
      view: (session, columns: Column[], rest) =>
        html`<kernel-scope-occupancy .session=${session} .columns=${columns} .rest=${rest}></kernel-scope-occupancy>`,
    }),
  ],
];

const size = panel({
  request: (session, signal) => columnsWith(session, 'size', signal, import('./elements/size.ts')),
  view: (session, columns: Column[]) =>
    html`<kernel-scope-size .session=${session} .columns=${columns}></kernel-scope-size>`,
});

/** Tables that are shown in the panel of another one. */
const WITHIN: Record<string, string> = { load_image: 'image' };

/** The panels of a file, in the order in which they are offered. */
export function panels(session: Session): Panel[] {
  const of = new Map<string, Panel>();
  const add = (key: string, title: string, count: Int | null, made: Made) =>
    of.set(key, { key, title, count, icon: ICONS[key] ?? TABLE_ICON, ...made });
  for (const { key: table, title, count } of session.summary.tables) {
    const key = WITHIN[table] ?? table;
    if (of.has(key)) continue;
    // What takes how many bytes is asked for late: it is worked out from all that is there.
    if (key === 'sections') add('size', 'Size', null, size);
    // What only opening the members tells is not counted before.
    const isOpen = session.survey.finished || !TOLD_BY_MEMBERS.has(key);
    add(key, title, isOpen ? count : null, MADE[key] ?? rows(key, title));
    if (key === 'members') add('size', 'Size', null, size);
    if (key === 'kernels' && Number(count) > 0)
      for (const [key, title, made] of WORKED_OUT) {
        add(key, title, null, made);
        // Of the kernel that is shown.
        const index = /^(?:kernels|launch|occupancy)\/(\d+)/.exec(session.view)?.[1] ?? '0';
        if (key === 'launch' && session.summary.format === 'cubin')
          of.set('bank0', {
            key: 'bank0',
            title: 'Constant bank 0',
            count: null,
            icon: ICONS.bank0 ?? '',
            leads: `launch/${index}/bank0`,
            ...made,
          });
      }
  }
  return [{ key: 'summary', title: 'Summary', count: null, icon: ICONS.summary ?? '', ...summary }, ...of.values()];
}

/** `symbols` and `` of `symbols`; `kernels` and `3` of `kernels/3`. */
export function parseView(view: string): { key: string; rest: string } {
  const at = view.indexOf('/');
  return at < 0 ? { key: view, rest: '' } : { key: view.slice(0, at), rest: view.slice(at + 1) };
}

/** Whether the file has what `view` names. */
export function isView(session: Session, view: string): boolean {
  const { key } = parseView(view);
  return panels(session).some((panel) => panel.key === key);
}
