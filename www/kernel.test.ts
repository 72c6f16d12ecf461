import { expect, test } from 'vitest';
import { facts, lead, lists } from './kernel.ts';
import type { KernelDetail, Window } from './protocol.ts';

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
  barriers: null,
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
    ['Barriers', '—'],
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
    max_threads: 256,
    vgprs: 8,
    sgprs: 40,
    agprs: 4,
    args: [argument('a', 'global_buffer', 0), argument(null, 'hidden_block_count_x', 24)],
    code: { offset: 0x1000, size: 4 },
    descriptor_span: { offset: 0xcc0, size: 64 },
  } as unknown as KernelDetail;
  expect(facts(kernel).map(({ title, value }) => [title, value])).toEqual([
    ['VGPRs', '8'],
    ['SGPRs', '40'],
    ['LDS', '512'],
    ['Scratch', '0'],
    ['Kernarg', '360'],
    ['Max threads', '256'],
  ]);
  expect(lead(kernel)).toBe('Descriptor at 0xc0 of the image, first instruction not in the image.');
  expect(lists(kernel).map((list) => [list.title, list.rows.map((row) => row.cells[0])])).toEqual([
    ['Arguments', ['a']],
    ['Hidden arguments', ['block_count_x']],
    ['Program resources', ['COMPUTE_PGM_RSRC1', 'COMPUTE_PGM_RSRC3']],
  ]);
  expect(lists(kernel)[2]?.rows[1]?.place).toEqual({ offset: 0xcc0 + 44, size: 4 });
});
