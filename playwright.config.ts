// End-to-end tests on the built site, in the machine's own Chromium.

import { defineConfig } from '@playwright/test';
import { launchOptions } from './scripts/browser.mjs';

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: 'target/e2e',
  forbidOnly: !!process.env.CI,
  fullyParallel: true,
  workers: 2,
  // What hangs ends; how long a test takes is the machine's.
  timeout: 90_000,
  reporter: 'list',
  use: {
    browserName: 'chromium',
    screenshot: 'only-on-failure',
    launchOptions,
  },
});
