// Owns the wasm module.

import init, { version } from '../pkg/kernelscope.js';
import type { FromWorker } from './protocol.ts';

await init();
const hello: FromWorker = { version: version() };
self.postMessage(hello);
