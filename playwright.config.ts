// End-to-end tests on the built site, in the machine's own Chromium.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { defineConfig } from '@playwright/test';

/** The first of some commands that is on PATH. */
function onPath(...commands: string[]): string {
  for (const command of commands) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      const file = join(folder, command);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {}
    }
  }
  throw new Error(`none of ${commands.join(', ')} is on PATH; CHROME_BIN may name one`);
}

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: 'target/e2e',
  forbidOnly: !!process.env.CI,
  fullyParallel: true,
  workers: 2,
  timeout: 30_000,
  reporter: 'list',
  use: {
    browserName: 'chromium',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env.CHROME_BIN ?? onPath('chromium', 'chromium-browser', 'google-chrome'),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
