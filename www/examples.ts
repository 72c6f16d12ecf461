// Files that come with the page, for whoever has none at hand.

import broken from '../tests/fixtures/amdgpu/mal/note-descsz-too-big.co?url';
import args from '../tests/fixtures/amdgpu/out/args.gfx90a.v5.co?url';
import vadd from '../tests/fixtures/nvidia/cubin/vadd.sm_90a.13.0.cubin?url';
import ada from '../tests/fixtures/nvidia/own/vadd.sm_89.13.5.nvcc.cubin?url';

export interface Example {
  name: string;
  url: string;
  title: string;
  text: string;
}

export const EXAMPLES: Example[] = [
  {
    name: 'vadd.sm_90a.13.0.cubin',
    url: vadd,
    title: 'NVIDIA cubin',
    text: 'one kernel that adds two vectors, for sm_90a',
  },
  {
    name: 'vadd.sm_89.13.5.nvcc.cubin',
    url: ada,
    title: 'NVIDIA cubin of Ada',
    text: 'the same kernel for sm_89, whose launch descriptor is version 03.00',
  },
  {
    name: 'args.gfx90a.v5.co',
    url: args,
    title: 'AMD code object',
    text: 'a kernel with arguments of every kind, for gfx90a',
  },
  {
    name: 'note-descsz-too-big.co',
    url: broken,
    title: 'A broken file',
    text: 'a note that claims more bytes than the file has',
  },
];
