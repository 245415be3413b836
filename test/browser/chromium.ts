import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** The first is the same browser without the windows around its pages, and takes two thirds of the work. */
const names = ['chromium-headless-shell', 'chromium', 'google-chrome'];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Milliseconds that every page waits: for what hangs, not for what is slow. */
const timeout = 150_000;

/**
 * Features of Chromium that are off: the two pages that it draws for the address bar of each window,
 * which take half of the time of a new one, and what asks other servers. Of several such lists
 * Chromium takes the last one, and so not Playwright's.
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
 * Starts the browser that this machine has.
 * @throws where none of them is on the PATH
 */
export const startBrowser = async (): Promise<Browser> => {
  const folders = process.env.PATH?.split(delimiter) ?? [];
  const executablePath = names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(isProgram);
  if (!executablePath) throw new Error(`These tests need one of ${names.join(', ')} on the PATH.`);
  // A page of our own alone is opened; the sandbox does not work for root, nor in many containers.
  const args = ['--no-sandbox', `--disable-features=${unused}`];
  const browser = await chromium.launch({ executablePath, args });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    // The headless shell tells no server its language.
    const context = await newContext({ locale: 'en-US', ...options });
    context.setDefaultTimeout(timeout);
    const newPage = context.newPage.bind(context);
    context.newPage = async () => {
      const page = await newPage();
      // Each action waits for what a screen still loads, as `openConsole` does.
      await page.addLocatorHandler(page.locator('.busy').first(), async () => undefined);
      return page;
    };
    return context;
  };
  return browser;
};
