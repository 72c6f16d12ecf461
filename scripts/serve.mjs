// Serves a folder on 127.0.0.1, every file with the content security policy that its index.html states.
// As a program: `node scripts/serve.mjs [FOLDER]` (default dist), from PORT (default 8080) on the first port that is free.

import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @type {Record<string, string>} */
const types = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
};

/**
 * Port 0 is any free port. `below` is the path that the site is put below.
 * @param {{ folder: string, port?: number, below?: string }} options
 */
export async function serve({ folder, port = 0, below = '/' }) {
  const index = await readFile(join(folder, 'index.html'), 'utf8');
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(index)?.[1];
  if (!policy) throw new Error(`${folder}/index.html states no content security policy`);

  const server = createServer(async (request, response) => {
    try {
      const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
      const file = posix.normalize(path.endsWith('/') ? `${path}index.html` : path);
      if (!file.startsWith(below)) throw new Error('not below the site');
      const body = await readFile(join(folder, file.slice(below.length)));
      response.writeHead(200, {
        'content-type': types[extname(file)] ?? 'application/octet-stream',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
      });
      response.end(body);
    } catch {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
    }
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve(undefined));
  });
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}${below}`, close };
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? 'dist';
  for (let port = Number(process.env.PORT ?? 8080); ; port++) {
    try {
      const { url } = await serve({ folder, port });
      console.log(`Kernelscope: ${url}   (Ctrl-C ends it)`);
      break;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
      console.log(`port ${port} is taken`);
    }
  }
}
