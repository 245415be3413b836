/** Whatever somebody writes to the audit table, the sealer goes on and each window verifies. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sealWindows } from '../../lib/seal/sealer.ts';
import { isFault } from '../../lib/seal/verification.ts';
import { counted, seed } from '../support/runs.ts';
import { makeTrail, verifyOf } from '../support/sealed-trail.ts';
import { type Hostile, hostile, put } from './hostile-items.ts';

const minute = 60_000;
const windows = 200;
const itemsPerWindow = 10;

it('2,000 hostile items in 200 windows stop no run, and every window verifies', async () => {
  const trail = Object.assign(makeTrail(), { windowSize: 7 });
  const items = fc.sample(hostile, { seed, numRuns: windows * itemsPerWindow });
  let newest: Awaited<ReturnType<typeof sealWindows>>;
  const run = counted(async (some: readonly Hostile[]) => {
    for (const each of some) put(trail, each);
    trail.add();
    trail.now += minute;
    return sealWindows(trail, new Date(trail.now));
  });

  for (let window = 0; window < windows; window += 1) {
    const some = items.slice(window * itemsPerWindow, (window + 1) * itemsPerWindow);
    newest = (await run(some)) ?? newest;
  }
  const { archive, now } = trail;
  const verified = await verifyOf(trail);
  const alone = await verifyOf(trail, { scan: false });

  expect(newest?.until).toBe(new Date(now - minute).toISOString());
  for (const [name, content] of archive.files) {
    if (name.endsWith('.json')) expect(content.length).toBeLessThan(2000);
  }
  // What no sealer can seal in its time is named by its id, and nothing else is.
  const kinds = new Set(verified.findings.filter(isFault).map(({ kind }) => kind));
  expect([...kinds].filter((kind) => !['inserted', 'hidden'].includes(kind))).toEqual([]);
  expect(
    alone.findings.filter(({ kind }) => ['wrong', 'unreadable', 'missing'].includes(kind)),
  ).toEqual([]);
  expect(verified.windows).toBeGreaterThan(windows);
});
