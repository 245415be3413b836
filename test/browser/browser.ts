import type { Browser } from 'playwright-core';
import { afterAll, afterEach } from 'vitest';
import { startBrowser } from './chromium.ts';

/** A browser for the tests of a file. Everything that a test opens in it is closed after the test. */
export const browserForThisFile = async (): Promise<Browser> => {
  const browser = await startBrowser();
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
  });
  afterAll(() => browser.close());
  return browser;
};
