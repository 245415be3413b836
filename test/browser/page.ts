/** Opens pages of the service, and collects everything that the browser reports about them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

export interface OpenPage {
  readonly page: Page;
  /** The errors that the browser reported, and requests to other origins. */
  readonly complaints: readonly string[];
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface PageOptions extends BrowserContextOptions {
  /** The time of the browser's clock when the page opens, in milliseconds since 1970. */
  readonly clock?: number;
}

/** @param url the address of the page; the page may send requests only to its own origin */
export const openPage = async (
  browser: Browser,
  url: string,
  { clock, ...options }: PageOptions = {},
): Promise<OpenPage> => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options });
  if (clock !== undefined) await context.clock.install({ time: clock });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(`${new URL(url).origin}/`);
    if (!isOwn && !request.url().startsWith('data:')) complaints.push(request.url());
  });
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    console.error('forbidden:', event.violatedDirective, event.blockedURI));`);
  await page.goto(url);
  return { page, complaints };
};

export const button = (page: Page | Locator, name: string) =>
  page.getByRole('button', { name, exact: true });

/** The title of the screen that is shown. */
export const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

const widths = [360, 1280] as const;
/** Options of axe-core. In the dark, a page differs only in its colours. */
const axeOptions = {
  light: {},
  dark: { runOnly: ['color-contrast', 'link-in-text-block'] },
} as const;
/** A deployed page has the same files as the local page, so that a single look at it is enough. */
const looks = (['dark', 'light'] as const)
  .flatMap((colorScheme) => widths.map((width) => ({ colorScheme, width })))
  .slice(process.env.SERVICE_URL ? -1 : 0);

/**
 * Runs in the page: waits until tables have noticed its size, and too wide tables have become cards. A machine that
 * stalls takes more than the usual three frames; a table that never fits is checked as it is.
 */
export const drawn = `(async () => {
  const fits = () => document.documentElement.scrollWidth <= innerWidth;
  for (let frame = 0; frame < 3 || (frame < 300 && !fits()); frame += 1)
    await new Promise(requestAnimationFrame);
})()`;

/** Runs in the page: the elements that overflow a narrow window when the text has twice its size. */
const overflow = `(async () => {
  const root = document.documentElement;
  root.style.fontSize = '187.5%';
  await ${drawn};
  const outside = [...document.querySelectorAll('body *')].filter((element) => {
    const { right, width } = element.getBoundingClientRect();
    return width > 1 && right > innerWidth + 1 && !element.closest('thead, pre, .bars');
  });
  const found = root.scrollWidth > innerWidth ? outside.map((element) => element.outerHTML) : [];
  root.style.fontSize = '';
  return found.slice(0, 3).map((html) => 'overflow: ' + html.slice(0, 120));
})()`;

/**
 * @returns the violations that axe-core finds in the present state of a page, light and dark, narrow and wide, and the
 *   elements that overflow if the window is narrow and the text large
 */
export const violationsIn = async (page: Page): Promise<readonly string[]> => {
  // The policy of the page forbids scripts of others, but the debugger may run them.
  const debugging = await page.context().newCDPSession(page);
  const evaluate = async (expression: string) => {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await debugging.send('Runtime.evaluate', options);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description);
    return result.value;
  };
  await evaluate(axe);
  const found: string[] = [];
  for (const { colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const violations: readonly { id: string; nodes: readonly { html: string }[] }[] =
      await evaluate(
        `axe.run(${JSON.stringify({ ...axeOptions[colorScheme], resultTypes: ['violations'] })})
          .then(({ violations }) => violations)`,
      );
    found.push(
      ...violations.map(({ id, nodes }) => `${colorScheme} ${width}: ${id} ${nodes[0]?.html}`),
    );
  }
  await page.setViewportSize({ width: Math.min(...widths), height: 800 });
  found.push(...(await evaluate(overflow)));
  await page.setViewportSize({ width: Math.max(...widths), height: 800 });
  return found;
};

/** @returns a function that counts the nodes of a page, after collecting garbage until that frees nothing more */
export const nodesIn = async (page: Page): Promise<() => Promise<number>> => {
  const debugging = await page.context().newCDPSession(page);
  await debugging.send('Performance.enable');
  return async () => {
    let [before, nodes] = [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER];
    while (nodes < before) {
      before = nodes;
      await debugging.send('HeapProfiler.collectGarbage');
      const { metrics } = await debugging.send('Performance.getMetrics');
      nodes = metrics.find(({ name }) => name === 'Nodes')?.value ?? 0;
    }
    return nodes;
  };
};

/** Gives a page an authenticator whose user is always present. */
export const authenticatorOf = async (page: Page) => {
  const debugging = await page.context().newCDPSession(page);
  await debugging.send('WebAuthn.enable');
  const { authenticatorId } = await debugging.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    refuse: () =>
      debugging.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false }),
    credentials: async () =>
      (await debugging.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
  };
};
