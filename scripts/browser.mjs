// The machine's own Chromium, for end-to-end tests, benchmarks and screenshots.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The first of some commands that is on PATH.
 * @param {string[]} commands
 */
function onPath(...commands) {
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

/** What Playwright launches. */
export const launchOptions = {
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
};
