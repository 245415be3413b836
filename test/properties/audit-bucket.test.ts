/** A bucket whose lock keeps the first version of each file, and a sealer that goes on meanwhile. */
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { archivePrefix } from '../../lib/seal/archive.ts';
import { bucketArchive, kmsSigner } from '../../lib/seal/aws.ts';
import { numberOf } from '../../lib/seal/header.ts';
import { seal as sealTrail } from '../../lib/seal/sealer.ts';
import { startAwsArchive } from '../support/aws-archive.ts';
import { counted, holds } from '../support/runs.ts';
import { makeTrail, verifyAll } from '../support/sealed-trail.ts';

const aws = await startAwsArchive();
afterAll(() => aws.stop());
Object.assign(process.env, aws.environment, {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
});
const signer = await kmsSigner('key');

/** What may happen, one thing after another; `at` chooses a file. */
const step = fc.record({
  kind: fc.constantFrom('seal', 'seal', 'overwrite', 'mark as deleted', 'new process'),
  at: fc.nat(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const live = counted(async (steps: readonly Step[]) => {
  aws.objects.clear();
  const { source, ...trail } = makeTrail();
  let now = trail.now;
  const open = () => ({
    source,
    signer,
    interval: 60,
    archive: bucketArchive('trail'),
  });
  let sealing = open();
  const seal = async () => {
    trail.add({}, now);
    now += 60_000;
    await sealTrail(sealing, new Date(now));
  };
  const touched = new Set<number>();
  const touch = (at: number, content?: Buffer) => {
    const keys = [...aws.objects.keys()];
    const key = keys[at % keys.length] ?? '';
    aws.overwrite(key, content);
    touched.add(Number(numberOf(key.slice(archivePrefix.length))));
  };
  await seal();
  for (const { kind, at } of steps) {
    if (kind === 'seal') await seal();
    if (kind === 'overwrite') touch(at, Buffer.from('{}'));
    if (kind === 'mark as deleted') touch(at);
    if (kind === 'new process') sealing = open();
  }
  now += 10 * 60_000;
  await sealTrail(sealing, new Date(now));
  const { publicKey } = signer;
  const verified = await verifyAll({ archive: bucketArchive('trail'), source, publicKey, now });
  return { verified, touched, entries: source.items.size };
});

it('The sealer continues whatever overwrites files, and exactly the overwritten files are named', async () => {
  await holds(
    40,
    fc.asyncProperty(fc.array(step, { maxLength: 12, size: 'max' }), async (steps) => {
      const { verified, touched, entries } = await live(steps);

      const named = verified.findings.flatMap(({ kind, subject, count = 0 }) => {
        const [first] = subject.match(/\d+/) ?? [];
        return Array.from({ length: count }, (_, i) => `${kind} ${Number(first) + i}`);
      });
      expect(named).toEqual([...touched].sort((a, b) => a - b).map((each) => `altered ${each}`));
      expect([verified.entries, verified.waiting]).toEqual([entries, 0]);
    }),
  );
});
