import { expect, test } from 'vitest';
import { facts, lead, lists } from './kernel.ts';
import type { Field, KernelDetail, StructRecord, Window } from './protocol.ts';

const span = { offset: 0x680, size: 512 };

/** What `cuobjdump -res-usage` and `-elf` say of vadd for sm_90a. */
const cubin = {
  family: 'cubin',
  name: '_Z4vaddPKfS0_Pfi',
  entry_point: true,
  section: 12,
  code_offset: 0,
  code_bytes: 512,
  code: span,
  registers: 12,
  stack_bytes: 0,
  frame_bytes: 0,
  max_stack_bytes: null,
  shared_bytes: 0,
  local_bytes: null,
  barriers: 0,
  max_threads: null,
  required_threads: null,
  max_registers: 255,
  cluster: null,
  explicit_cluster: false,
  max_cluster_blocks: null,
  textures: 0,
  surfaces: 0,
  samplers: 0,
  call_stack: null,
  reserved_shared_bytes: 0,
  uses_reserved_shared: false,
  callees: [],
  inner_functions: [],
  params_offset: 0x210,
  params_bytes: 28,
  params: [
    { ordinal: 0, offset: 0, size: 8, space: 0, log2_align: 0, place: { offset: 0x5b4, size: 16 } },
    { ordinal: 1, offset: 8, size: 8, space: 0, log2_align: 0, place: { offset: 0x5a4, size: 16 } },
    { ordinal: 2, offset: 16, size: 8, space: 0, log2_align: 0, place: { offset: 0x594, size: 16 } },
    { ordinal: 3, offset: 24, size: 4, space: 0, log2_align: 0, place: { offset: 0x584, size: 16 } },
  ],
  banks: [{ index: 0, section: 14, offset: 0x200, bytes: 556, place: { offset: 0x880, size: 556 } }],
} as unknown as KernelDetail;

test('a kernel of a cubin has its six numbers', () => {
  expect(facts(cubin).map(({ title, value }) => [title, value])).toEqual([
    ['Registers', '12'],
    ['Stack', '0'],
    ['Shared', '0'],
    ['Parameters', '28'],
    ['Constant 0', '556'],
    ['Barriers', '0'],
  ]);
  expect(lead(cubin)).toBe('Kernel in section 12, 512 bytes of code. Parameters start at c[0x0][0x210].');
});

test('a parameter says where code reads it, and which bytes say so', () => {
  const [parameters] = lists(cubin);
  // No column for what the file does not say, the alignment.
  expect(parameters?.columns.map((column) => column.title)).toEqual(['#', 'Bank 0', 'Offset', 'Size']);
  expect(parameters?.rows[3]).toEqual({
    cells: ['3', 'c[0x0][0x228]', '0x18', '4'],
    place: { offset: 0x584, size: 16 },
  });
  expect(parameters?.rows[0]?.place).toEqual({ offset: 0x5b4, size: 16 });
});

test('the stack is what the file states, or what the calls come to', () => {
  const of = (stack_bytes: number, call_stack: object | null) =>
    facts({ ...cubin, stack_bytes, call_stack } as unknown as KernelDetail)[1];
  const calls = { bytes: 200, is_recursive: false, is_indirect: false, is_open: false };
  expect(of(208, null)).toMatchObject({ value: '208', note: 'bytes a thread' });
  expect(of(0, calls)).toMatchObject({ value: '200', note: 'bytes a thread, with calls' });
  expect(of(0, { ...calls, is_open: true })?.note).toContain('at least');
  expect(of(0xffff_ffff, null)?.value).toBe('unbounded');
  expect(of(0, { ...calls, bytes: null, is_recursive: true })).toMatchObject({ value: 'unbounded', note: 'recursion' });
});

test('a kernel says how it is launched, what it calls and what lies in its code', () => {
  const kernel = {
    ...cubin,
    required_threads: [32, 4, 2],
    cluster: [2, 2, 1],
    textures: 2,
    samplers: 1,
    callees: [
      { name: 'leaf', relation: 'calls', kernel: 4, place: { offset: 0xe20, size: 8 } },
      { name: '#ii', relation: 'calls_by_pointer', kernel: null, place: { offset: 0xe28, size: 8 } },
    ],
    inner_functions: [{ name: '$k$leaf', code: { offset: 0x700, size: 64 } }],
  } as unknown as KernelDetail;
  expect(lead(kernel)).toContain(
    'Blocks have 32 × 4 × 2 threads. Clusters have 2 × 2 × 1 blocks. References: 2 textures, 1 sampler.',
  );
  const all = lists(kernel);
  const calls = all.find((list) => list.title === 'Calls');
  expect(calls?.rows.map((row) => [row.cells, row.link])).toEqual([
    [['calls', 'leaf'], { at: 1, view: 'kernels/4' }],
    [['calls by a pointer to', '#ii'], null],
  ]);
  // 0x700 less 0x680, where the kernel's code begins.
  expect(all.find((list) => list.title === 'Device functions in its code')?.rows[0]?.cells).toEqual([
    '$k$leaf',
    '0x80',
    '64',
  ]);
});

test('memory and limits are told as far as the file has them, with the attributes that say so', () => {
  const of = (kernel: object, window: Window | null = null) =>
    lists({ ...cubin, ...kernel } as unknown as KernelDetail, window).find((one) => one.title === 'Memory and limits');
  expect(of({})?.rows.map((row) => row.cells)).toEqual([
    ['Registers at most', 'no limit', 'a thread', 'EIATTR_MAXREG_COUNT'],
    ['Own stack frame', '0', 'bytes a thread', 'EIATTR_FRAME_SIZE'],
  ]);
  // What `cuobjdump -elf` prints of axpy for sm_110 with CUDA 13.0: EIATTR_RESERVED_SMEM_USED at 0x634, EIATTR_MAXREG_COUNT at 0x63c,
  // and 192 bytes of .nv.shared.reserved.0.
  const window = {
    matched: 2,
    start: 0,
    index: [0, 1],
    offset: [0x634, 0x63c],
    size: [4, 4],
    target_offset: [-1, -1],
    target_size: [0, 0],
    rows: [
      ['EIATTR_RESERVED_SMEM_USED', 'NVAL', '', 0x634, 0x41, 4],
      ['EIATTR_MAXREG_COUNT', 'HVAL', '40', 0x63c, 0x1b, 4],
    ],
  };
  const most = { max_registers: 40, max_stack_bytes: 0xffff_ffff, local_bytes: 1024 };
  const rows = of({ ...most, reserved_shared_bytes: 192, uses_reserved_shared: true }, window)?.rows;
  expect(rows?.map(({ cells, place }) => [...cells.slice(0, 3), place?.offset])).toEqual([
    ['Registers at most', '40', 'a thread', 0x63c],
    ['Own stack frame', '0', 'bytes a thread', undefined],
    ['Stack at most', 'unbounded', 'bytes a thread', undefined],
    ['Local memory', '1,024', 'bytes a thread', undefined],
    ['Reserved shared memory', '192', 'bytes a block, used by it', 0x634],
  ]);
});

test('attributes are rows of their table', () => {
  const window = {
    matched: 900,
    start: 0,
    index: [0],
    offset: [0x584],
    size: [16],
    target_offset: [-1],
    target_size: [0],
    rows: [['EIATTR_KPARAM_INFO', 'SVAL', 'Ordinal 3', 0x584, 0x17, 16]],
  };
  const list = lists(cubin, window).find((one) => one.title === 'Attributes');
  expect(list?.total).toBe(900);
  expect(list?.rows).toEqual([
    { cells: ['EIATTR_KPARAM_INFO', 'SVAL', 'Ordinal 3', '0x584'], place: { offset: 0x584, size: 16 } },
  ]);
});

test('a kernel of a code object has its six numbers, and its hidden arguments apart', () => {
  const argument = (name: string | null, kind: string, offset: number) => ({
    name,
    type_name: null,
    kind,
    offset,
    size: 8,
    address_space: null,
    access: null,
    actual_access: null,
    is_const: false,
    span,
  });
  const kernel = {
    family: 'amdgpu',
    name: 'k',
    descriptor: 0xc0,
    entry: null,
    group_segment: 512,
    private_segment: 0,
    kernarg_size: 360,
    explicit_size: 24,
    rsrc1: 0xaf0100,
    rsrc2: null,
    rsrc3: 1,
    wave32: false,
    wave_size: 64,
    max_threads: 256,
    vgprs: 8,
    sgprs: 40,
    agprs: 4,
    vgprs_used: null,
    sgprs_used: 34,
    agprs_used: null,
    accum_offset: 4,
    vgpr_spills: 2,
    sgpr_spills: 0,
    initial: [
      // ENABLE_SGPR_KERNARG_SEGMENT_PTR is bit 3 of kernel_code_properties, which is at byte 56; ENABLE_SGPR_WORKGROUP_ID_X bit 7 of
      // COMPUTE_PGM_RSRC2, which is at byte 52.
      { registers: 's[0:1]', name: 'kernarg segment pointer', note: '', is_user: true, bit: 451 },
      { registers: 's2', name: 'workgroup ID x', note: 'in the grid', is_user: false, bit: 423 },
    ],
    occupancy: {
      waves: 8,
      most: 10,
      by_vgprs: 10,
      by_sgprs: 10,
      by_lds: 8,
      by_workgroups: 10,
      workgroup: 256,
      workgroups: 8,
      limits: ['lds'],
      fewer_vgprs: null,
      fewer_sgprs: null,
      fewer_lds: 96,
    },
    non_zero: [{ field: 'reserved1', offset: 0xcd8, raw: 1 }],
    args: [argument('a', 'global_buffer', 0), argument(null, 'hidden_block_count_x', 24)],
    code: { offset: 0x1000, size: 4 },
    descriptor_span: { offset: 0xcc0, size: 64 },
  } as unknown as KernelDetail;
  expect(facts(kernel).map(({ title, value }) => [title, value])).toEqual([
    ['VGPRs', '8'],
    ['SGPRs', '34'],
    ['LDS', '512'],
    ['Scratch', '0'],
    ['Kernarg', '360'],
    ['Waves', '8'],
  ]);
  expect(facts(kernel).map(({ note }) => note)).toEqual([
    'allocated a lane, 4 AGPRs among them',
    'used of 40 a wave',
    'bytes a workgroup',
    'bytes a work-item',
    'bytes, 24 explicit',
    'of 10 a SIMD, limited by LDS',
  ]);
  expect(lead(kernel)).toBe(
    'Waves of 64 lanes, workgroups of at most 256 work-items. Registers are spilled: 2 vector. ' +
      'Descriptor at 0xc0 of the image, first instruction not in the image.',
  );
  const kernarg = { fields: [{ bits: [223, 192], note: 'workgroups along x' }] } as unknown as StructRecord;
  const all = lists(kernel, null, kernarg);
  expect(all.map((list) => [list.title, list.rows.map((row) => row.cells[0])])).toEqual([
    ['Arguments', ['a']],
    ['Waves that a SIMD holds', ['VGPRs', 'SGPRs', 'LDS', 'workgroups of 256']],
    ['User SGPRs', ['s[0:1]']],
    ['Registers of the system', ['s2']],
    ['Program resources', ['COMPUTE_PGM_RSRC1', 'COMPUTE_PGM_RSRC3']],
    ['Set, though they must be zero', ['reserved1']],
    ['Hidden arguments', ['block_count_x']],
  ]);
  const rows = (title: string) => all.find((list) => list.title === title)?.rows ?? [];
  expect(rows('Hidden arguments')[0]?.cells[1]).toBe('workgroups along x');
  expect(rows('Program resources')[1]?.place).toEqual({ offset: 0xcc0 + 44, size: 4 });
  expect(rows('Waves that a SIMD holds')[2]?.cells).toEqual([
    'LDS',
    '8',
    'reached · 96 bytes fewer: one workgroup more',
  ]);
  // What asks for a register is a bit of the descriptor: the byte is selected, and in it the field.
  const [pointer] = rows('User SGPRs');
  expect(pointer?.place).toEqual({ offset: 0xcc0 + 56, size: 1 });
  const field = (bits: [number, number], name = '') => ({ bits, name, alternative_of: null }) as unknown as Field;
  expect([field([450, 450]), field([451, 451]), field([452, 452])].map((one) => pointer?.field?.(one))).toEqual([
    false,
    true,
    false,
  ]);
  const [set] = rows('Set, though they must be zero');
  expect(set?.place).toEqual({ offset: 0xcd8, size: 1 });
  expect([field([351, 192], 'reserved1'), field([191, 128], 'reserved1')].map((one) => set?.field?.(one))).toEqual([
    true,
    false,
  ]);
});

test('of a processor that is not known, a kernel has no waves', () => {
  const kernel = { family: 'amdgpu', max_threads: 1024, occupancy: null, vgprs_used: 5, agprs_used: 7 };
  const [vgprs, , , , , last] = facts({ ...kernel, accum_offset: null } as unknown as KernelDetail);
  expect(vgprs).toMatchObject({ value: '5', note: 'used of — a lane, and 7 AGPRs' });
  expect(last).toEqual({ title: 'Max threads', value: '1,024', note: 'a workgroup' });
});
