import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** The first program is the same browser without the windows around its pages, and takes two thirds of the work. */
const names = ['chromium-headless-shell', 'chromium', 'google-chrome'];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Milliseconds that every page waits: the limit ends waits that hang, not waits that are slow. */
const timeout = 150_000;

/**
 * Features of Chromium that are turned off: the two pages that it draws for the address bar of each window, which take
 * half of the time of a new window, and features that send requests to other servers. Chromium uses only the last of
 * several such lists, and so not the list of Playwright.
 */
const unused = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'HttpsUpgrades',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PreconnectToSearch',
];

/**
 * Starts the first of these browsers that is installed.
 * @throws {Error} if no browser is on the PATH
 */
export const startBrowser = async (): Promise<Browser> => {
  const folders = process.env.PATH?.split(delimiter) ?? [];
  const executablePath = names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(isProgram);
  if (!executablePath) throw new Error(`These tests need one of ${names.join(', ')} on the PATH.`);
  // Only our own pages are opened; the sandbox does not work for root, nor in many containers.
  const args = ['--no-sandbox', `--disable-features=${unused}`];
  const browser = await chromium.launch({ executablePath, args });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    // By default, the headless shell sends no language to servers.
    const context = await newContext({ locale: 'en-US', ...options });
    context.setDefaultTimeout(timeout);
    const newPage = context.newPage.bind(context);
    context.newPage = async () => {
      const page = await newPage();
      // Each action waits until the screen has loaded its data, as `openConsole` does.
      await page.addLocatorHandler(page.locator('.busy').first(), async () => undefined);
      return page;
    };
    return context;
  };
  return browser;
};
