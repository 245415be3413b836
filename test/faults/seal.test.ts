/** The sealer under each fault: of its table, and of its archive and its key. */
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { makeEntry } from '../../lib/audit/entry.ts';
import { writeEntry } from '../../lib/audit/record.ts';
import { faultName } from '../../lib/ground/errors.ts';
import { bucketArchive, kmsSigner } from '../../lib/seal/aws.ts';
import { runSealer } from '../../lib/seal/check.ts';
import type { Sealing } from '../../lib/seal/sealer.ts';
import { auditEntries } from '../../lib/seal/table.ts';
import * as whole from '../../lib/seal/whole-check.ts';
import { awsFaults, startAwsArchive } from '../support/aws-archive.ts';
import { useOwnTables } from '../support/own-tables.ts';
import { proxyForThisFile } from '../support/proxied-service.ts';
import { faults } from '../support/proxy.ts';
import { verifyAll } from '../support/sealed-trail.ts';
import { groups } from './proxied.ts';

const [minute, day] = [60_000, 86_400_000];

const proxy = await proxyForThisFile();
const aws = await startAwsArchive();
const { users } = await useOwnTables(proxy.url);
Object.assign(process.env, aws.environment);
const signer = await kmsSigner('key');
const sealing = { archive: bucketArchive('trail'), source: auditEntries, signer, interval: 60 };
const { publicKey } = signer;
const countFiles = async () => (await Readable.from(sealing.archive.list()).toArray()).length;
afterAll(() => aws.stop());

let now = Date.UTC(2026, 5, 1);
let written = 0;

interface Round {
  readonly isSealed: boolean;
  readonly fault: string | undefined;
}

/** Leaves an entry, and has the sealer run while something is wrong, a minute later. */
const roundUnder = async (
  begin: () => void,
  end: () => void,
  sealer: Sealing = sealing,
): Promise<Round> => {
  const action = { action: 'LOGIN', resource: 'users', result: 'SUCCESS' } as const;
  written += 1;
  await writeEntry(makeEntry(action, { now: new Date(now) }), { writeId: `write-${written}` });
  now += 2 * minute;
  const before = await countFiles();
  begin();
  const fault = await runSealer(sealer, new Date(now)).then(() => undefined, faultName);
  end();
  return { isSealed: (await countFiles()) > before, fault };
};

interface Wrong {
  readonly once: () => void;
  readonly always: () => void;
  readonly none: () => void;
}

/** Runs while something fails once, always and not any more. */
const tryFault = async ({ once, always, none }: Wrong) => ({
  once: await roundUnder(once, none),
  always: await roundUnder(always, none),
  afterwards: await roundUnder(none, none),
});

const expectSound = async () => {
  const { archive, source } = sealing;
  const { findings, waiting, entries } = await verifyAll({ archive, source, publicKey, now });
  expect([findings, waiting, entries]).toEqual([[], 0, written]);
};

describe('The sealer', () => {
  it.each(groups.flat())(
    'seals although first attempts at the table fail, or after the end of the fault: $name',
    async ({ fault, hits, isRetried }) => {
      const wrong = {
        once: () => proxy.impose({ fault, firstAttempt: true }),
        always: () => proxy.impose({ fault }),
        none: () => proxy.impose(),
      };
      const isHit = hits('read audit');

      const { once, always, afterwards } = await tryFault(wrong);

      // Half an answer may take all the time of a call: then there is no second attempt.
      if (fault !== faults.stallMidway) {
        expect(once.isSealed).toBe(isRetried || !isHit);
      }
      expect(always.isSealed).toBe(!isHit);
      expect([afterwards.isSealed, afterwards.fault]).toEqual([true, undefined]);
      await expectSound();
    },
  );

  it.each(awsFaults)(
    'seals although first attempts at archive or key fail, and after a lasting fault: %s',
    async (fault) => {
      const wrong = {
        once: () => aws.impose(fault, 'firstAttempt'),
        always: () => aws.impose(fault),
        none: () => aws.impose(),
      };

      const { once, always, afterwards } = await tryFault(wrong);

      expect(once.isSealed).toBe(true);
      expect(always.isSealed).toBe(false);
      expect([afterwards.isSealed, afterwards.fault]).toEqual([true, undefined]);
      await expectSound();
    },
  );

  let asking = Date.UTC(2026, 0, 1);

  it.each(groups.flat())(
    'seals although the item of a whole check cannot be written, which goes on after the end of the fault: $name',
    async ({ fault, hits }) => {
      const withWhole = { ...sealing, whole };
      const none = () => proxy.impose();
      const always = () => proxy.impose({ fault, operation: 'PutItem', table: users });
      // The second run of a sealer checks, and only then a whole check begins.
      for (let run = 0; run < 2; run += 1) await roundUnder(none, none);
      asking += 2 * day;
      await whole.ask(new Date(asking));

      const during = await roundUnder(always, none, withWhole);
      const progress = await whole.read();
      const afterwards = await roundUnder(none, none, withWhole);

      const sealed = { isSealed: true, fault: undefined };
      expect([during, afterwards]).toEqual([sealed, sealed]);
      expect(progress?.ended_at === null).toBe(hits('write'));
      const ended = await whole.read();
      expect(ended).toMatchObject({ checked: ended?.of, ended_at: expect.any(String) });
      await expectSound();
    },
  );
});
