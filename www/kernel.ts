// What people come for in a kernel: its six numbers, its parameters, its attributes. Pure: from the core's answer to words.

import type { Int, KernelDetail, Span } from './protocol.ts';
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
}

export interface List {
  title: string;
  columns: { title: string; isRight?: boolean; isWord?: boolean }[];
  rows: Cells[];
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
      { title: 'Stack', value: number(kernel.stack_bytes), note: 'bytes a thread' },
      { title: 'Shared', value: number(kernel.shared_bytes), note: 'static bytes a block' },
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
  const accumulation = kernel.agprs ? `allocated a lane, ${kernel.agprs} of them AGPRs` : 'allocated a lane';
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

/** Where it is and where its parameters are, in a sentence. */
export function lead(kernel: KernelDetail): string {
  if (kernel.family === 'cubin') {
    const kind = kernel.entry_point ? 'Kernel' : 'Device function, which cannot be launched by itself,';
    const params = kernel.params_bytes > 0 ? ` Parameters start at c[0x0][${hex(kernel.params_offset)}].` : '';
    return `${kind} in section ${kernel.section}, ${size(kernel.code_bytes)} of code.${params}`;
  }
  const at = (value: Int | null | undefined) =>
    value === null || value === undefined ? 'not in the image' : `at ${hex(value)} of the image`;
  return `Descriptor ${at(kernel.descriptor)}, first instruction ${at(kernel.entry)}.`;
}

/** The bytes that a kernel is: its code, or its descriptor. */
export function bytesOf(kernel: KernelDetail): { offset: number; size: number } | null {
  return place(kernel.family === 'cubin' ? kernel.code : kernel.descriptor_span);
}

export function lists(kernel: KernelDetail): List[] {
  const all = kernel.family === 'cubin' ? cubinLists(kernel) : amdgpuLists(kernel);
  return all.filter((list) => list.rows.length > 0).map(withoutEmpty);
}

/** The list without columns of which the file says nothing. */
function withoutEmpty({ title, columns, rows }: List): List {
  const isSaid = (_: unknown, i: number) => rows.some((row) => row.cells[i] !== NOTHING);
  return {
    title,
    columns: columns.filter(isSaid),
    rows: rows.map((row) => ({ ...row, cells: row.cells.filter(isSaid) })),
  };
}

/** What the file does not say. */
const NOTHING = '—';

const RIGHT = { isRight: true };

function cubinLists(kernel: Cubin): List[] {
  const parameters = kernel.attributes.filter((attribute) => attribute.name.startsWith('EIATTR_KPARAM_INFO'));
  const described = (ordinal: number) => {
    const attribute = parameters.find((one) => member(one.value, 'Ordinal') === ordinal);
    return attribute ? { offset: Number(attribute.offset), size: attribute.size } : null;
  };
  return [
    {
      title: 'Parameters',
      columns: [
        { title: '#' },
        { title: 'Bank 0' },
        { title: 'Offset', ...RIGHT },
        { title: 'Size', ...RIGHT },
        { title: 'Aligned to', ...RIGHT },
      ],
      rows: (kernel.params ?? []).map((parameter) => ({
        cells: [
          String(parameter.ordinal),
          `c[0x0][${hex(kernel.params_offset + parameter.offset)}]`,
          hex(parameter.offset),
          count(parameter.size),
          parameter.log2_align ? String(2 ** parameter.log2_align) : NOTHING,
        ],
        place: described(parameter.ordinal),
      })),
    },
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
        place: null,
      })),
    },
    {
      title: 'Attributes',
      columns: [
        { title: 'Attribute' },
        { title: 'Format', isWord: true },
        { title: 'Value' },
        { title: 'Offset', ...RIGHT },
      ],
      rows: kernel.attributes.map((attribute) => ({
        cells: [attribute.name, attribute.format, attribute.text, hex(attribute.offset)],
        place: { offset: Number(attribute.offset), size: attribute.size },
      })),
    },
  ];
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

/** The member of a value that is an object or a Map. */
function member(value: unknown, key: string): unknown {
  if (value instanceof Map) return value.get(key);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
