/** The rows of the sealer in the table of faults: of its table, and of its archive and its key. */
import { Readable } from 'node:stream';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { makeEntry } from '../../lib/audit/entry.ts';
import { writeEntry } from '../../lib/audit/record.ts';
import { faultName } from '../../lib/errors.ts';
import { bucketArchive, kmsSigner } from '../../lib/seal/aws.ts';
import { runSealer } from '../../lib/seal/check.ts';
import { auditEntries } from '../../lib/seal/table.ts';
import { awsFaults, startAwsArchive } from '../support/aws-archive.ts';
import { useOwnTables } from '../support/own-tables.ts';
import { faults, startProxy } from '../support/proxy.ts';
import { verifyAll } from '../support/sealed-trail.ts';
import type { Column, Outcome } from './experiment.ts';
import { groups } from './proxied.ts';
import { writeReport } from './report.ts';

const minute = 60_000;

const proxy = await startProxy(inject('engine'));
const aws = await startAwsArchive();
await useOwnTables(proxy.url);
Object.assign(process.env, aws.environment);
const signer = await kmsSigner('key');
const sealing = { archive: bucketArchive('trail'), source: auditEntries, signer, interval: 60 };
const { publicKey } = signer;
const countFiles = async () => (await Readable.from(sealing.archive.list()).toArray()).length;
afterAll(async () => {
  await proxy.stop();
  await aws.stop();
});

let now = Date.UTC(2026, 5, 1);
let written = 0;

const rows: Record<'once' | 'always', Map<string, Column>> = { once: new Map(), always: new Map() };
afterAll(() => {
  const sections = new Map([
    ['The first attempt of each request fails', rows.once],
    ['Every request fails', rows.always],
  ]);
  writeReport('.reports/faults-sealer.md', inject('engineName'), sections);
});

/** Leaves an entry, and has the sealer run while something is wrong, a minute later. */
const roundUnder = async (begin: () => void, end: () => void): Promise<Outcome> => {
  const action = { action: 'LOGIN', resource: 'users', result: 'SUCCESS' } as const;
  written += 1;
  await writeEntry(makeEntry(action, { now: new Date(now) }), { writeId: `write-${written}` });
  now += 2 * minute;
  const before = await countFiles();
  begin();
  const begun = performance.now();
  const fault = await runSealer(sealing, new Date(now)).then(() => undefined, faultName);
  const milliseconds = performance.now() - begun;
  end();
  const answer = (await countFiles()) > before ? 'sealed' : 'nothing sealed ()';
  return { answer, fault, milliseconds, stored: [], logged: [], kept: [] };
};

/** Milliseconds: of a run with all its attempts. */
const longestRun = 60_000;

interface Wrong {
  readonly once: () => void;
  readonly always: () => void;
  readonly none: () => void;
}

/** Runs while something fails once, always and not any more. */
const tryFault = async (name: string, { once, always, none }: Wrong) => {
  const outcomes = {
    once: await roundUnder(once, none),
    always: await roundUnder(always, none),
    afterwards: await roundUnder(none, none),
  };
  rows.once.set(name, new Map([['seal-audit', outcomes.once]]));
  rows.always.set(name, new Map([['seal-audit', outcomes.always]]));
  return outcomes;
};

const expectSound = async () => {
  const { archive, source } = sealing;
  const { findings, waiting, entries } = await verifyAll({ archive, source, publicKey, now });
  expect([findings, waiting, entries]).toEqual([[], 0, written]);
};

describe('The sealer', () => {
  it.each(groups.flat())(
    'seals after a first attempt at the table that fails, or not at all, and goes on afterwards: $name',
    async ({ name, fault, hits, isRetried }) => {
      const wrong = {
        once: () => proxy.impose({ fault, firstAttempt: true }),
        always: () => proxy.impose({ fault }),
        none: () => proxy.impose(),
      };
      const isHit = hits('read audit');

      const { once, always, afterwards } = await tryFault(`table: ${name}`, wrong);

      // Half an answer may take all the time of a call: then there is no second attempt.
      if (fault !== faults.stallMidway) {
        expect(once.answer === 'sealed').toBe(isRetried || !isHit);
      }
      expect(always.answer === 'sealed').toBe(!isHit);
      expect([afterwards.answer, afterwards.fault]).toEqual(['sealed', undefined]);
      expect(Math.max(once.milliseconds, always.milliseconds)).toBeLessThan(longestRun);
      await expectSound();
    },
    3 * longestRun,
  );

  it.each(awsFaults)(
    'seals after a first attempt at archive or key that fails, and goes on after lasting ones: %s',
    async (fault) => {
      const wrong = {
        once: () => aws.impose(fault, 'firstAttempt'),
        always: () => aws.impose(fault),
        none: () => aws.impose(),
      };

      const { once, always, afterwards } = await tryFault(`archive and key: ${fault}`, wrong);

      expect(once.answer).toBe('sealed');
      expect(always.answer).not.toBe('sealed');
      expect([afterwards.answer, afterwards.fault]).toEqual(['sealed', undefined]);
      await expectSound();
    },
    3 * longestRun,
  );
});
