// What people come for in a kernel: its six numbers, its parameters, its attributes. Pure: from the core's answer to words.

import type { Int, KernelDetail, Span, Window } from './protocol.ts';
import { count, hex, size } from './text.ts';

export interface Fact {
  title: string;
  value: string;
  note: string;
}

export interface Cells {
  cells: string[];
  /** The bytes that say so. */
  place: { offset: number; size: number } | null;
  /** What the cell in `at` leads to: a view of the page. */
  link?: { at: number; view: string } | null;
}

export interface List {
  title: string;
  columns: { title: string; isRight?: boolean; isWord?: boolean }[];
  rows: Cells[];
  /** Rows that there are, where these are not all. */
  total?: number;
}

type Cubin = Extract<KernelDetail, { family: 'cubin' }>;
type Amdgpu = Extract<KernelDetail, { family: 'amdgpu' }>;

const number = (value: Int | null | undefined): string =>
  value === null || value === undefined ? NOTHING : count(value);
const place = (span: Span | null | undefined) =>
  span && Number(span.size) > 0 ? { offset: Number(span.offset), size: Number(span.size) } : null;

export function facts(kernel: KernelDetail): Fact[] {
  if (kernel.family === 'cubin') {
    const bank = kernel.banks.find((one) => one.index === 0);
    const params = kernel.params?.length;
    return [
      { title: 'Registers', value: number(kernel.registers), note: '32-bit, a thread' },
      stack(kernel),
      {
        title: 'Shared',
        value: number(kernel.shared_bytes),
        note: Number(kernel.reserved_shared_bytes)
          ? `static bytes a block, ${number(kernel.reserved_shared_bytes)} reserved`
          : 'static bytes a block',
      },
      {
        title: 'Parameters',
        value: number(kernel.params_bytes),
        note: params === undefined ? 'bytes' : `bytes, ${params} of them`,
      },
      { title: 'Constant 0', value: number(bank?.bytes ?? 0), note: 'bytes' },
      { title: 'Barriers', value: number(kernel.barriers), note: kernel.barriers === null ? 'not stated' : 'named' },
    ];
  }
  const wave = kernel.wave32 === null || kernel.wave32 === undefined ? '' : ` · wave${kernel.wave32 ? 32 : 64}`;
  // Without an offset they are a file of their own.
  const agprs = kernel.accum_offset === null ? 'and as many AGPRs' : `${kernel.agprs} of them AGPRs`;
  const accumulation = kernel.agprs ? `allocated a lane, ${agprs}` : 'allocated a lane';
  const explicit = kernel.explicit_size;
  return [
    { title: 'VGPRs', value: number(kernel.vgprs), note: accumulation },
    { title: 'SGPRs', value: number(kernel.sgprs), note: 'allocated a wavefront' },
    { title: 'LDS', value: number(kernel.group_segment), note: 'bytes a workgroup' },
    { title: 'Scratch', value: number(kernel.private_segment), note: 'bytes a work-item' },
    {
      title: 'Kernarg',
      value: number(kernel.kernarg_size),
      note: explicit === null || explicit === undefined ? 'bytes' : `bytes, ${count(explicit)} explicit`,
    },
    { title: 'Max threads', value: number(kernel.max_threads), note: `a workgroup${wave}` },
  ];
}

/** What `EIATTR_MIN_STACK_SIZE` has where nothing bounds the stack. */
const UNBOUNDED = 0xffff_ffff;

/** Stack of a thread: what the file states, or what its call graph comes to. */
function stack(kernel: Cubin): Fact {
  const title = 'Stack';
  const calls = kernel.call_stack;
  if (kernel.stack_bytes === UNBOUNDED || calls?.is_recursive) {
    return { title, value: 'unbounded', note: calls?.is_recursive ? 'recursion' : 'recursion or unknown calls' };
  }
  const value = number(Math.max(kernel.stack_bytes, calls?.bytes ?? 0));
  if (!calls) return { title, value, note: 'bytes a thread' };
  if (calls.is_open) return { title, value, note: 'bytes at least, calls leave the file' };
  return {
    title,
    value,
    note: calls.is_indirect ? 'bytes at worst, with calls by pointers' : 'bytes a thread, with calls',
  };
}

/** How it must be launched, and the references it reads by, in sentences. */
function needs(kernel: Cubin): string[] {
  const shape = (size: number[]) => size.map((one) => count(one)).join(' × ');
  const found: string[] = [];
  if (kernel.required_threads) found.push(`Blocks have ${shape(kernel.required_threads)} threads.`);
  if (kernel.max_threads) found.push(`Blocks have at most ${shape(kernel.max_threads)} threads.`);
  if (kernel.cluster) found.push(`Clusters have ${shape(kernel.cluster)} blocks.`);
  else if (kernel.explicit_cluster) found.push('It must be launched with a cluster.');
  if (kernel.max_cluster_blocks) found.push(`Clusters have at most ${count(kernel.max_cluster_blocks)} blocks.`);
  const references = [
    [kernel.textures, 'texture'],
    [kernel.surfaces, 'surface'],
    [kernel.samplers, 'sampler'],
  ] as const;
  const named = references
    .filter(([many]) => many > 0)
    .map(([many, word]) => `${many} ${word}${many === 1 ? '' : 's'}`);
  if (named.length > 0) found.push(`References: ${named.join(', ')}.`);
  return found;
}

/** Where it is, where its parameters are and how it is launched, in sentences. */
export function lead(kernel: KernelDetail): string {
  if (kernel.family === 'cubin') {
    const kind = kernel.entry_point ? 'Kernel' : 'Device function, which cannot be launched by itself,';
    const params = kernel.params_bytes > 0 ? ` Parameters start at c[0x0][${hex(kernel.params_offset)}].` : '';
    const where = `${kind} in section ${kernel.section}, ${size(kernel.code_bytes)} of code.${params}`;
    return [where, ...needs(kernel)].join(' ');
  }
  const at = (value: Int | null | undefined) =>
    value === null || value === undefined ? 'not in the image' : `at ${hex(value)} of the image`;
  return `Descriptor ${at(kernel.descriptor)}, first instruction ${at(kernel.entry)}.`;
}

/** The bytes that a kernel is: its code, or its descriptor. */
export function bytesOf(kernel: KernelDetail): { offset: number; size: number } | null {
  return place(kernel.family === 'cubin' ? kernel.code : kernel.descriptor_span);
}

/** Its lists; `attributes` are the first rows of the table `attributes/N`. */
export function lists(kernel: KernelDetail, attributes: Window | null = null): List[] {
  const all = kernel.family === 'cubin' ? cubinLists(kernel, attributes) : amdgpuLists(kernel);
  return all.filter((list) => list.rows.length > 0).map(withoutEmpty);
}

/** The list without columns of which the file says nothing. */
function withoutEmpty({ title, columns, rows, ...rest }: List): List {
  const isSaid = (_: unknown, i: number) => rows.some((row) => row.cells[i] !== NOTHING);
  return {
    ...rest,
    title,
    columns: columns.filter(isSaid),
    rows: rows.map((row) => ({ ...row, cells: row.cells.filter(isSaid) })),
  };
}

/** What the file does not say. */
const NOTHING = '—';

const RIGHT = { isRight: true };

/** What `EIATTR_MAXREG_COUNT` has where the compiler was given no limit. */
const UNLIMITED = 255;

/** Memory and registers beside the six numbers, as far as the file says; rows of the kernel's own attributes lead to these. */
function limits(kernel: Cubin, attributes: Window | null): List {
  const { frame_bytes, max_stack_bytes, local_bytes, max_registers, uses_reserved_shared } = kernel;
  const most = max_stack_bytes === UNBOUNDED ? 'unbounded' : number(max_stack_bytes);
  const reserved = Number(kernel.reserved_shared_bytes) || uses_reserved_shared ? kernel.reserved_shared_bytes : null;
  const rows = [
    [
      'Registers at most',
      max_registers === UNLIMITED ? 'no limit' : number(max_registers),
      'a thread',
      'EIATTR_MAXREG_COUNT',
    ],
    ['Own stack frame', number(frame_bytes), 'bytes a thread', 'EIATTR_FRAME_SIZE'],
    ['Stack at most', most, 'bytes a thread', 'EIATTR_MAX_STACK_SIZE'],
    ['Local memory', number(local_bytes), 'bytes a thread', '.nv.local'],
    [
      'Reserved shared memory',
      number(reserved),
      uses_reserved_shared ? 'bytes a block, used by it' : 'bytes a block',
      uses_reserved_shared ? 'EIATTR_RESERVED_SMEM_USED' : '.nv.shared.reserved',
    ],
  ] as const;
  const placeOf = (said: string) => {
    const at = attributes?.rows.findIndex(([name]) => name === said) ?? -1;
    return at < 0 ? null : place({ offset: attributes?.offset[at] ?? 0, size: attributes?.size[at] ?? 0 });
  };
  return {
    title: 'Memory and limits',
    columns: [
      { title: 'What' },
      { title: 'How much', ...RIGHT },
      { title: 'Unit' },
      { title: 'Said by', isWord: true },
    ],
    rows: rows
      .filter(([, value]) => value !== NOTHING)
      .map((cells) => ({ cells: [...cells], place: placeOf(cells[3]) })),
  };
}

function cubinLists(kernel: Cubin, attributes: Window | null): List[] {
  return [
    {
      title: 'Parameters',
      columns: [
        { title: '#' },
        { title: 'Bank 0' },
        { title: 'Offset', ...RIGHT },
        { title: 'Size', ...RIGHT },
        { title: 'Aligned to', ...RIGHT },
        { title: 'Space', ...RIGHT },
      ],
      rows: (kernel.params ?? []).map((parameter) => ({
        cells: [
          String(parameter.ordinal),
          `c[0x0][${hex(kernel.params_offset + parameter.offset)}]`,
          hex(parameter.offset),
          count(parameter.size),
          parameter.log2_align ? String(2 ** parameter.log2_align) : NOTHING,
          parameter.space ? String(parameter.space) : NOTHING,
        ],
        place: place(parameter.place),
      })),
    },
    limits(kernel, attributes),
    {
      title: 'Constant banks',
      columns: [
        { title: 'Bank' },
        { title: 'Section', ...RIGHT },
        { title: 'In the image', ...RIGHT },
        { title: 'Size', ...RIGHT },
      ],
      rows: kernel.banks.map((bank) => ({
        cells: [
          String(bank.index),
          String(bank.section),
          bank.offset === null || bank.offset === undefined ? NOTHING : hex(bank.offset),
          count(bank.bytes),
        ],
        place: place(bank.place),
      })),
    },
    {
      title: 'Calls',
      columns: [{ title: 'What it does' }, { title: 'Function, or prototype' }],
      rows: kernel.callees.map((callee) => ({
        cells: [RELATIONS[callee.relation], callee.name],
        place: place(callee.place),
        link: callee.kernel === null ? null : { at: 1, view: `kernels/${callee.kernel}` },
      })),
    },
    {
      title: 'Device functions in its code',
      columns: [{ title: 'Function' }, { title: 'In the code', ...RIGHT }, { title: 'Size', ...RIGHT }],
      rows: kernel.inner_functions.map(({ name, code }) => ({
        cells: [name, hex(Number(code.offset) - Number(kernel.code.offset)), count(code.size)],
        place: place(code),
      })),
    },
    attributeList(attributes),
  ];
}

const RELATIONS: Record<Cubin['callees'][number]['relation'], string> = {
  calls: 'calls',
  address_taken: 'can be called by a pointer to',
  calls_by_pointer: 'calls by a pointer to',
  takes_address: 'takes the address of',
  unknown: 'is in an unknown group with',
};

/** The attributes, of which the table has name, format, value in words, offset. */
function attributeList(window: Window | null): List {
  return {
    title: 'Attributes',
    columns: [
      { title: 'Attribute' },
      { title: 'Format', isWord: true },
      { title: 'Value' },
      { title: 'Offset', ...RIGHT },
    ],
    rows: (window?.rows ?? []).map(([name, format, text, offset], i) => ({
      cells: [String(name), String(format), String(text), hex(Number(offset))],
      place: place({ offset: window?.offset[i] ?? 0, size: window?.size[i] ?? 0 }),
    })),
    ...(window ? { total: window.matched } : {}),
  };
}

function amdgpuLists(kernel: Amdgpu): List[] {
  const list = (title: string, isHidden: boolean): List => ({
    title,
    columns: [
      { title: isHidden ? 'What the runtime passes' : 'Argument' },
      ...(isHidden ? [] : [{ title: 'Type' }, { title: 'Passed as', isWord: true }]),
      { title: 'Kernarg', ...RIGHT },
      { title: 'Size', ...RIGHT },
    ],
    rows: (kernel.args ?? [])
      .filter((argument) => argument.kind.startsWith('hidden_') === isHidden)
      .map((argument) => {
        const words = [
          argument.kind,
          argument.address_space,
          argument.actual_access ?? argument.access,
          argument.is_const && 'const',
        ];
        return {
          cells: [
            ...(isHidden
              ? [argument.kind.replace('hidden_', '')]
              : [argument.name ?? NOTHING, argument.type_name ?? NOTHING, words.filter(Boolean).join(' · ')]),
            hex(argument.offset),
            count(argument.size),
          ],
          place: place(argument.span),
        };
      }),
  });
  return [
    list('Arguments', false),
    list('Hidden arguments', true),
    {
      title: 'Program resources',
      columns: [{ title: 'Register' }, { title: 'Value', ...RIGHT }],
      rows: (
        [
          ['COMPUTE_PGM_RSRC1', kernel.rsrc1],
          ['COMPUTE_PGM_RSRC2', kernel.rsrc2],
          ['COMPUTE_PGM_RSRC3', kernel.rsrc3],
        ] as const
      ).flatMap(([register, value], i) =>
        value === null || value === undefined
          ? []
          : [{ cells: [register, hex(value, 8)], place: rsrc(kernel.descriptor_span, i) }],
      ),
    },
  ];
}

/** Where a kernel descriptor (of code object V3 and later) has COMPUTE_PGM_RSRC1, 2 and 3. */
function rsrc(descriptor: Span, i: number): { offset: number; size: number } | null {
  const at = [48, 52, 44][i];
  return Number(descriptor.size) === 64 && at !== undefined
    ? { offset: Number(descriptor.offset) + at, size: 4 }
    : null;
}
