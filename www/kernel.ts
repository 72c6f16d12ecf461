// What people come for in a kernel: its six numbers, its parameters, its attributes. Pure: from the core's answer to words.

import type { Field, Int, KernelDetail, Span, StructRecord, Window } from './protocol.ts';
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
  /** Of the structure at these bytes, the field that says so. */
  field?: (field: Field) => boolean;
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
      { title: 'Barriers', value: number(kernel.barriers), note: 'named' },
    ];
  }
  const explicit = kernel.explicit_size;
  return [
    { title: 'VGPRs', ...registers(kernel.vgprs_used, kernel.vgprs, `a lane${accumulation(kernel)}`) },
    { title: 'SGPRs', ...registers(kernel.sgprs_used, kernel.sgprs, 'a wave') },
    { title: 'LDS', value: number(kernel.group_segment), note: 'bytes a workgroup' },
    { title: 'Scratch', value: number(kernel.private_segment), note: 'bytes a work-item' },
    {
      title: 'Kernarg',
      value: number(kernel.kernarg_size),
      note: explicit === null || explicit === undefined ? 'bytes' : `bytes, ${count(explicit)} explicit`,
    },
    waves(kernel),
  ];
}

/** Registers that are used, as far as the metadata says, and those that are allocated. */
function registers(used: Int | null, allocated: Int | null, unit: string): Omit<Fact, 'title'> {
  return used === null || used === undefined
    ? { value: number(allocated), note: `allocated ${unit}` }
    : { value: number(used), note: `used of ${number(allocated)} ${unit}` };
}

/** The accumulation registers: a part of the vector registers, or a file of their own. */
function accumulation({ agprs, agprs_used, accum_offset }: Amdgpu): string {
  const isPart = accum_offset !== null && accum_offset !== undefined;
  const many = agprs_used ?? agprs;
  if (!many) return '';
  return isPart ? `, ${number(many)} AGPRs among them` : `, and ${number(many)} AGPRs`;
}

const LIMITS: Record<string, string> = { vgprs: 'VGPRs', sgprs: 'SGPRs', lds: 'LDS', workgroups: 'workgroups' };

/** How many waves a SIMD holds; of a processor that is not known, how large a workgroup can be. */
function waves({ occupancy, max_threads }: Amdgpu): Fact {
  if (!occupancy) return { title: 'Max threads', value: number(max_threads), note: 'a workgroup' };
  const { waves, most, limits } = occupancy;
  const by = limits.map((limit) => LIMITS[limit] ?? limit).join(', ');
  return { title: 'Waves', value: number(waves), note: `of ${most} a SIMD${by && `, limited by ${by}`}` };
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
  const spilled = [
    [kernel.vgpr_spills, 'vector'],
    [kernel.sgpr_spills, 'scalar'],
  ] as const;
  const spills = spilled.flatMap(([many, word]) => (many ? [`${count(many)} ${word}`] : [])).join(' and ');
  return [
    `${kernel.wave_size ? `Waves of ${kernel.wave_size} lanes, workgroups` : 'Workgroups'} of at most ${count(kernel.max_threads)} work-items.`,
    spills && `Registers are spilled: ${spills}.`,
    `Descriptor ${at(kernel.descriptor)}, first instruction ${at(kernel.entry)}.`,
  ]
    .filter(Boolean)
    .join(' ');
}

/** The bytes that a kernel is: its code, or its descriptor. */
export function bytesOf(kernel: KernelDetail): { offset: number; size: number } | null {
  return place(kernel.family === 'cubin' ? kernel.code : kernel.descriptor_span);
}

/** Its lists; `attributes` are the first rows of the table `attributes/N`, `kernarg` is what a dispatch passes. */
export function lists(
  kernel: KernelDetail,
  attributes: Window | null = null,
  kernarg: StructRecord | null = null,
): List[] {
  const all = kernel.family === 'cubin' ? cubinLists(kernel, attributes) : amdgpuLists(kernel, kernarg);
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

function amdgpuLists(kernel: Amdgpu, kernarg: StructRecord | null): List[] {
  const descriptor = kernel.descriptor_span;
  const noteAt = new Map(kernarg?.fields.map(({ bits: [, lsb], note }) => [lsb / 8, note]));
  const list = (title: string, isHidden: boolean): List => ({
    title,
    columns: [
      { title: isHidden ? 'What the runtime passes' : 'Argument' },
      ...(isHidden
        ? [{ title: 'What it is', isWord: true }]
        : [{ title: 'Type' }, { title: 'Passed as', isWord: true }]),
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
              ? [argument.kind.replace('hidden_', ''), noteAt.get(Number(argument.offset)) || NOTHING]
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
    occupancy(kernel),
    initial(kernel, 'User SGPRs', true),
    initial(kernel, 'Registers of the system', false),
    {
      title: 'Program resources',
      columns: [{ title: 'Register' }, { title: 'Value', ...RIGHT }],
      rows: (['rsrc1', 'rsrc2', 'rsrc3'] as const).flatMap((word) => {
        const value = kernel[word];
        if (value === null || value === undefined) return [];
        const cells = [`COMPUTE_PGM_${word.toUpperCase()}`, hex(value, 8)];
        return [{ cells, place: within(descriptor, WORDS[word]) }];
      }),
    },
    {
      title: 'Set, though they must be zero',
      columns: [{ title: 'Field of the descriptor' }, { title: 'Value', ...RIGHT }, { title: 'Offset', ...RIGHT }],
      rows: (kernel.non_zero ?? []).map(({ field, offset, raw }) => ({
        cells: [field, hex(raw), hex(offset)],
        place: place({ offset, size: 1 }),
        field: hasBit((Number(offset) - Number(descriptor.offset)) * 8, field),
      })),
    },
    // Beside the drawing of the kernarg segment.
    list('Hidden arguments', true),
  ];
}

/** Where a descriptor has its words: a kernel descriptor, and in these an `amd_kernel_code_t`, too. */
const WORDS = { lds: 0, rsrc3: 44, rsrc1: 48, rsrc2: 52 };

/** 4 bytes of a descriptor; null where the file does not have it. */
function within({ offset, size }: Span, at: number): { offset: number; size: number } | null {
  return Number(size) < at + 4 ? null : { offset: Number(offset) + at, size: 4 };
}

/** Whether a field has the bit, and where several share it, that name. */
function hasBit(bit: number, name?: string): (field: Field) => boolean {
  return ({ bits: [msb, lsb], name: own, alternative_of }) =>
    lsb <= bit + (name ? 7 : 0) && bit <= msb && (name ? own === name : !alternative_of);
}

/** The registers that are set up before it starts, each with the bits that ask for it. */
function initial({ initial, descriptor_span: descriptor }: Amdgpu, title: string, isUser: boolean): List {
  return {
    title,
    columns: [{ title: 'Registers' }, { title: 'What they hold' }, { title: 'What that is', isWord: true }],
    rows: (initial ?? [])
      .filter((row) => row.is_user === isUser)
      .map(({ registers, name, note, bit }) => ({
        cells: [registers, name, note || NOTHING],
        place: place({ offset: Number(descriptor.offset) + (bit >> 3), size: Number(descriptor.size) > 0 ? 1 : 0 }),
        field: hasBit(bit),
      })),
  };
}

/** What waves a SIMD has room for by each of its resources, and what would make room for more. */
function occupancy({ occupancy: of, descriptor_span: descriptor }: Amdgpu): List {
  const title = 'Waves that a SIMD holds';
  const columns = [{ title: 'By' }, { title: 'Waves', ...RIGHT }, { title: 'Limit' }];
  if (!of) return { title, columns, rows: [] };
  const rows = [
    ['vgprs', of.by_vgprs, of.fewer_vgprs, 'VGPRs fewer: one wave more', WORDS.rsrc1],
    ['sgprs', of.by_sgprs, of.fewer_sgprs, 'SGPRs fewer: one wave more', WORDS.rsrc1],
    ['lds', of.by_lds, of.fewer_lds, 'bytes fewer: one workgroup more', WORDS.lds],
    ['workgroups', of.by_workgroups, null, '', null],
  ] as const;
  return {
    title,
    columns,
    rows: rows
      .filter(([, many]) => many !== null && many !== undefined)
      .map(([what, many, fewer, more, at]) => {
        const isLimit = of.limits.includes(what);
        const name = what === 'workgroups' ? `workgroups of ${count(of.workgroup)}` : (LIMITS[what] ?? what);
        const words = fewer ? `reached · ${count(fewer)} ${more}` : isLimit ? 'reached' : NOTHING;
        const isStored = at !== null && (at > 0 || Number(descriptor.size) === 64);
        return { cells: [name, number(many), words], place: isStored ? within(descriptor, at) : null };
      }),
  };
}
