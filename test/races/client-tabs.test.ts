/** Tabs of one browser that share a session, at times that nobody chooses. */
import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserForThisFile } from '../browser/browser.ts';
import { clientPageForThisFile, openClient } from '../browser/client/page.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { outlived, signToken } from '../support/tokens.ts';

const { url, api, jwtSecret, adminToken } = await serviceForThisFile({ SESSION_DAYS: '90' });
const app = await clientPageForThisFile(() => url);
const browser = await browserForThisFile();
const key = `accounts-client.${url}`;

const run = (page: Page, script: string) => page.evaluate<unknown>(script);

/** Tabs of one context, which share the session of a new user. */
const openTabs = async (count: number) => {
  const context = await browser.newContext();
  const tabs = await Promise.all(Array.from({ length: count }, () => openClient(context, app)));
  const user = await register(api);
  const { token, refreshToken } = user;
  await run(tabs[0] as Page, `accounts.setSession(${JSON.stringify({ token, refreshToken })})`);
  return { context, tabs, user };
};

const sign = (claims: object, header: object) => signToken(claims, jwtSecret, header);

/** Has the token end that the storage has. */
const expire = async (tab: Page) => {
  const kept = JSON.parse(String(await run(tab, `localStorage.getItem('${key}')`)));
  const text = JSON.stringify({ ...kept, token: outlived(kept.token, sign), ahead: 0 });
  await run(tab, `localStorage.setItem('${key}', ${JSON.stringify(text)})`);
};

/** Has the browser wait with the lock in a tab, as one that hangs would. */
const holdLock = (tab: Page) =>
  run(
    tab,
    `new Promise((held) => navigator.locks.request('${key}.page', () => { held(); return new Promise(() => {}); }))`,
  );

/** The refreshes of a service that tabs of a context send. */
const refreshesOf = (context: BrowserContext) => {
  const all: string[] = [];
  context.on('request', (request) => {
    if (request.url().endsWith('/api/refresh')) all.push(request.url());
  });
  return all;
};

describe('Five tabs', () => {
  it('continue after the end of each of twenty tokens, with about one refresh each time', async () => {
    const { context, tabs } = await openTabs(5);
    const refreshes = refreshesOf(context);

    for (let count = 0; count < 20; count += 1) {
      await expire(tabs[count % 5] as Page);
      const calls = tabs.flatMap((tab) =>
        [1, 2, 3].map(() => run(tab, 'accounts.getProfile().then(({ error }) => error?.code)')),
      );
      expect(await Promise.all(calls)).toEqual(Array(15).fill(undefined));
    }

    // On a busy machine a tab may see too late what another one has stored.
    expect(refreshes.length).toBeLessThan(25);
    expect(await run(tabs[4] as Page, 'reasons')).toEqual(['read', 'loggedIn']);
  });

  it('continue although the tab that holds the lock hangs', async () => {
    const { tabs } = await openTabs(5);
    await holdLock(tabs[0] as Page);
    await expire(tabs[1] as Page);

    const calls = tabs
      .slice(1)
      .map((tab) => run(tab, 'accounts.getProfile().then(({ error }) => error?.code)'));

    expect(await Promise.all(calls)).toEqual(Array(4).fill(undefined));
    expect(await run(tabs[1] as Page, 'reasons')).toEqual(['read', 'loggedIn']);
  });

  it('continue although the responses to the first two refreshes are lost', async () => {
    const { context, tabs } = await openTabs(5);
    await expire(tabs[0] as Page);
    let lost = 0;
    await context.route('**/api/refresh', async (route) => {
      lost += 1;
      if (lost > 2) return route.continue();
      await route.fetch();
      return route.abort();
    });

    const call = (tab: Page) => run(tab, 'accounts.getProfile().then(({ error }) => error?.code)');
    await Promise.all(tabs.map(call));
    const after = await Promise.all(tabs.map(call));

    expect(after).toEqual(Array(5).fill(undefined));
  });
});

it('A tab that sleeps past the end of the session asks to log in again when it wakes', async () => {
  const { context, tabs, user } = await openTabs(2);
  const [tab] = tabs as [Page];
  const debugging = await context.newCDPSession(tab);
  await expire(tab);
  await debugging.send('Page.setWebLifecycleState', { state: 'frozen' });
  await api('DELETE', `/api/users/${user.id}/sessions`, { token: adminToken });
  await debugging.send('Page.setWebLifecycleState', { state: 'active' });

  await run(tab, `void document.dispatchEvent(new Event('visibilitychange'))`);

  await tab.waitForFunction(`reasons.at(-1) === 'ended'`);
  expect(await run(tab, 'accounts.user')).toBeNull();
});
