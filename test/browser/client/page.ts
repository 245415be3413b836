/** A page of another origin that uses the client of apps, bundled as its authors would bundle it. */
import { buildSync } from 'esbuild';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { appForThisFile } from '../app.ts';

/** The bundle of a script, which may import the entries of the client by their files. */
export const bundled = (script: string): string => {
  const { outputFiles } = buildSync({
    stdin: { contents: script, resolveDir: 'functions/client', loader: 'ts' },
    bundle: true,
    format: 'esm',
    write: false,
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles[0]?.text ?? '';
};

/**
 * Serves a page with a client as `accounts` and the reasons of changes as `reasons`, for the tests of one file.
 * @param url returns the address of the service, at each request
 * @param more further code for the script
 * @returns the origin of the page
 */
export const clientPageForThisFile = (url: () => string, more = ''): Promise<string> => {
  const script = bundled(`
import { createClient, readLink } from './index.ts';
import { passkeys } from './passkeys.ts';
const name = new URLSearchParams(location.search).get('name') ?? undefined;
const accounts = createClient({ url: SERVICE, name });
const reasons = [];
accounts.onChange((user, reason) => reasons.push(reason));
const sent = [];
const own = fetch;
window.fetch = (...request) => {
  sent.push(new URL(request[0].url ?? request[0], location.href).pathname);
  return own(...request);
};
${more}
Object.assign(window, { accounts, createClient, readLink, passkeys, reasons, sent });`);
  const files = () => ({ '/app.js': script.replaceAll('SERVICE', JSON.stringify(url())) });
  return appForThisFile(files, "import './app.js';");
};

/** Opens the page, by default in a context of its own. */
export const openClient = async (
  browser: Browser | BrowserContext,
  address: string,
  script?: string,
): Promise<Page> => {
  const page = await browser.newPage();
  if (script) await page.addInitScript(script);
  await page.goto(address);
  await page.waitForFunction('window.accounts');
  return page;
};
