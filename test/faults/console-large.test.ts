/** The console with as long a trail as a year may leave. */
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { makeEntry } from '../../lib/audit/entry.ts';
import { toItem } from '../../lib/audit/store.ts';
import { startBrowser } from '../browser/chromium.ts';
import { openConsole } from '../browser/console.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { writeBatches } from '../support/write-batches.ts';

const service = await serviceForThisFile();
const browser = await startBrowser();
afterAll(() => browser.close());

const minutes = 60_000;

let made = 0;
/** Leaves entries, the last of them now, each some milliseconds after the one before. */
const leave = (count: number, apart: number) => {
  const now = Date.now();
  const items = Array.from({ length: count }, (_, index) => {
    made += 1;
    const entry = makeEntry(
      {
        ...{ user_id: 1, action: 'LOGIN', resource: 'users', resource_id: 1 },
        ...{ result: index % 10 ? 'SUCCESS' : 'FAILURE', user_agent: 'curl/8.5.0' },
      },
      { now: new Date(now - (count - 1 - index) * apart), random: (below) => made % below },
    );
    return toItem(entry, { writeId: `write-${made}` });
  });
  return writeBatches(inject('engine'), service.environment.AUDIT_TABLE ?? '', items);
};

/** Bytes that the page's script holds, and its nodes. */
const memoryOf = async (debugging: CDPSession) => {
  for (let times = 0; times < 3; times += 1) await debugging.send('HeapProfiler.collectGarbage');
  const { usedSize } = await debugging.send('Runtime.getHeapUsage');
  const { nodes } = await debugging.send('Memory.getDOMCounters');
  return { usedSize, nodes };
};

const rowsOf = (page: Page) => page.locator('main tbody tr').count();

describe('With a trail of 100,000 entries, the console', () => {
  beforeAll(() => leave(100_000, 1000), 10 * minutes);

  it(
    'takes no more memory after 500 rounds of following than after 50',
    async () => {
      const { page } = await openConsole(browser, service, '#/audit');
      await page.clock.install();
      const debugging = await page.context().newCDPSession(page);
      for (let rows = await rowsOf(page); rows < 2000; rows = await rowsOf(page)) {
        await page.evaluate('scrollTo(0, document.body.scrollHeight)');
        await expect.poll(() => rowsOf(page), { timeout: minutes }).toBeGreaterThan(rows);
      }
      await page.getByRole('button', { name: 'Follow' }).click();
      await page.mouse.move(0, 0);
      const follow = async (rounds: number) => {
        for (let round = 0; round < rounds; round += 1) {
          await leave(5, 1);
          const looked = page.waitForResponse(/audit-logs\?since=/);
          await page.clock.fastForward(5000);
          await looked;
        }
        await page.waitForTimeout(1000);
        return memoryOf(debugging);
      };

      const early = await follow(50);
      const late = await follow(450);

      expect(await rowsOf(page)).toBe(2000);
      const said = `first ${JSON.stringify(early)}, then ${JSON.stringify(late)}`;
      expect(late.usedSize / early.usedSize, said).toBeLessThan(1.2);
      expect(late.nodes / early.nodes, said).toBeLessThan(1.2);
    },
    20 * minutes,
  );
});
