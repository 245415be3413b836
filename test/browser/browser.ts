import type { Browser } from 'playwright-core';
import { afterAll, afterEach } from 'vitest';
import { startBrowser } from './chromium.ts';

/** A browser for the tests of a file. Everything that a test opens in it is closed after the test. */
export const browserForThisFile = async (): Promise<Browser> => {
  const browser = await startBrowser();
  afterEach(async () => {
    for (const context of browser.contexts()) {
      // The page may still be sending a request that the test answers.
      for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    }
  });
  afterAll(() => browser.close());
  return browser;
};
