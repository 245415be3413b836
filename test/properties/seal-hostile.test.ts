/** Whatever somebody writes to the audit table, the sealer goes on and each window verifies. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shards } from '../../lib/audit/index-keys.ts';
import { maxHeader } from '../../lib/seal/header.ts';
import { idText, keyOf } from '../../lib/seal/line.ts';
import { counted, seed } from '../support/runs.ts';
import { headersOf, makeTrail, verifyAll } from '../support/sealed-trail.ts';
import { type Hostile, hostile, put } from './hostile-items.ts';

const minute = 60_000;
const runs = 200;
const itemsPerRun = 10;

it('2,000 hostile items in 200 runs stop no run, are sealed, and cause no finding about a file', async () => {
  const trail = Object.assign(makeTrail(), { size: 7 });
  const items = fc.sample(hostile, { seed, numRuns: runs * itemsPerRun });
  const seen = new Set<string>();
  const run = counted(async (some: readonly Hostile[]) => {
    const before = new Set(trail.source.items.keys());
    for (const each of some) put(trail, each);
    trail.add();
    const since = new Date(trail.now - 9 * minute).toISOString();
    const until = new Date(trail.now + minute).toISOString();
    for (const [key, item] of trail.source.items) {
      const isShown =
        shards.includes(String(item.shard)) && keyOf(item) >= since && keyOf(item) < until;
      if (isShown && !before.has(key)) seen.add(idText(item.id));
    }
    return trail.seal(minute);
  });

  for (let at = 0; at < items.length; at += itemsPerRun) {
    await run(items.slice(at, at + itemsPerRun));
  }
  await trail.seal(10 * minute);
  const { archive, now } = trail;
  const verified = await trail.verify();
  const alone = await verifyAll({ archive, publicKey: trail.signer.publicKey, now });

  for (const { line } of headersOf(trail)) expect(line.length).toBeLessThan(maxHeader);
  expect(alone.findings).toEqual([]);
  // What the index did not show in its time, as its key says, is named by its id, and nothing else is.
  for (const { kind, subject } of verified.findings) {
    expect([kind, seen.has(subject)]).toEqual(['inserted', false]);
  }
  expect(verified.entries).toBeGreaterThanOrEqual(seen.size);
  console.log(`${verified.entries} are sealed, ${verified.findings.length} were not shown`);
  expect(verified.entries + verified.findings.length + verified.waiting).toBe(
    trail.source.items.size,
  );
});
