// What every end-to-end test stands on: `page.goto('./')` opens the built site, from a server of the test's own worker process;
// a test fails where the page asks another site for anything, breaks the content security policy or throws.

import { test as base, expect } from '@playwright/test';
import { serve } from '../../scripts/serve.mjs';

export { expect };

export const test = base.extend<{ wrongs: string[] }, { site: string }>({
  site: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants a pattern here
    async ({}, use) => {
      const server = await serve({ folder: 'dist', below: '/some/where/' });
      await use(server.url);
      server.close();
    },
    { scope: 'worker' },
  ],
  baseURL: async ({ site }, use) => use(site),
  // A test that wants one of these takes it out of the list.
  wrongs: [
    async ({ context, site }, use) => {
      const { origin } = new URL(site);
      const wrongs: string[] = [];
      context.on('request', (request) => {
        const url = new URL(request.url());
        if (url.protocol.startsWith('http') && url.origin !== origin) wrongs.push(`asked for ${url}`);
      });
      context.on('weberror', (error) => wrongs.push(`threw ${error.error().stack}`));
      context.on('console', (message) => {
        if (message.type() === 'error') wrongs.push(`said ${message.text()} (${message.location().url})`);
      });
      await use(wrongs);
      expect(wrongs, 'what the page must not do').toEqual([]);
    },
    { auto: true },
  ],
});
