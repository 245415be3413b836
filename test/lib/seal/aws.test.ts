import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Archive, archivePrefix } from '../../../lib/seal/archive.ts';
import { bucketArchive, kmsSigner } from '../../../lib/seal/aws.ts';
import { fileName, type Signer } from '../../../lib/seal/header.ts';
import type { Verification } from '../../../lib/seal/verify.ts';
import { type AwsArchive, startAwsArchive } from '../../support/aws-archive.ts';
import { makeTrail, verifyAll } from '../../support/sealed-trail.ts';

let aws: AwsArchive;
let archive: Archive;
let signer: Signer;
beforeAll(async () => {
  aws = await startAwsArchive();
  Object.assign(process.env, aws.environment, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
  signer = await kmsSigner('key');
});
afterAll(() => aws.stop());
afterEach(() => aws.impose());
beforeEach(() => {
  aws.objects.clear();
  archive = bucketArchive('trail');
});

const keyOf = (number: number) => `${archivePrefix}${fileName(number)}`;

/** A trail of files with one entry each, sealed into the bucket. */
const sealedTrail = async (files: number) => {
  const trail = Object.assign(makeTrail({ signer }), { archive });
  const run = () => {
    trail.add();
    return trail.seal(120_000);
  };
  for (let file = 0; file < files; file += 1) await run();
  return { run, verify: () => trail.verify() };
};

describe('A trail in a bucket, signed by a key of KMS', () => {
  it('is intact if nobody has changed it, however many pages its list of files has', async () => {
    const { verify } = await sealedTrail(9);

    const { findings, files } = await verify();

    expect([findings, files]).toEqual([[], 9]);
    expect(signer.publicKey.equals(aws.publicKey)).toBe(true);
  });

  it('has each file written only once: a second put under the same name is refused', async () => {
    await sealedTrail(2);

    const isNew = await archive.create(fileName(2), Buffer.from('x'));

    expect(isNew).toBe(false);
    const puts = aws.requests.filter(({ line }) => line.startsWith('PUT '));
    expect(new Set(puts.map(({ ifNoneMatch }) => ifNoneMatch))).toEqual(new Set(['*']));
    expect([...aws.objects.values()].map(({ length }) => length)).toEqual([1, 1]);
  });

  it('continues behind delete markers on its newest files and junk under the next names', async () => {
    const { run, verify } = await sealedTrail(12);
    for (let number = 3; number <= 12; number += 1) aws.overwrite(keyOf(number));
    for (let number = 13; number <= 32; number += 1) aws.overwrite(keyOf(number), Buffer.from('x'));
    aws.overwrite(keyOf(9_999_999_999), Buffer.of());

    expect(await run()).toMatchObject({ number: 33, count: 1 });
    expect(await run()).toMatchObject({ number: 34, count: 1 });

    const { findings, entries } = await verify();
    expect(findings.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual([
      'altered files 3 to 12',
      'foreign files 13 to 32',
      'foreign file 9999999999 (0000000000.ndjson.gz)',
    ]);
    expect(entries).toBe(14);
  });

  it('takes a file of several MB although the first attempt of each request fails', async () => {
    const { verify } = await sealedTrail(1);
    const content = randomBytes(3 * 2 ** 20);
    aws.impose('reset', 'firstAttempt');

    expect(await archive.create(fileName(2), content)).toBe(true);
    expect((await archive.read(fileName(2), 0, 2 ** 25))?.equals(content)).toBe(true);
    expect((await verify()).findings).toHaveLength(1);
  });

  it('continues behind an object that is encrypted with a key of its writer', async () => {
    const { run } = await sealedTrail(1);
    aws.overwrite(keyOf(2), Buffer.from('x'));
    aws.encrypt(keyOf(2));

    expect(await run()).toMatchObject({ number: 3 });
  });

  it('can be sealed and verified although each response is slow', async () => {
    const { run, verify } = await sealedTrail(2);
    aws.impose('slow');

    expect(await run()).toMatchObject({ number: 3, count: 1 });
    expect(await verify()).toMatchObject({ findings: [], entries: 3 });
  });

  it('has no file under a name that has no object or only a delete marker', async () => {
    await sealedTrail(1);
    aws.overwrite(keyOf(2));

    expect(await Readable.from(archive.list()).toArray()).toMatchObject([
      { name: fileName(2), altered: true },
      { name: fileName(1), altered: false },
    ]);
    expect(await archive.read(fileName(3), 0, 9)).toBeUndefined();
    expect(await archive.read(fileName(2), 0, 9)).toBeUndefined();
    expect(await archive.read(fileName(1), 10_000, 10_001)).toBeUndefined();
  });

  it('no longer has a file whose first version has been deleted since it was listed', async () => {
    await sealedTrail(2);
    expect(await Readable.from(archive.list()).toArray()).toHaveLength(2);
    aws.objects.clear();
    aws.overwrite(keyOf(2), Buffer.from('{}'));

    expect(await archive.read(fileName(1), 0, 9)).toBeUndefined();
    expect(await archive.read(fileName(2), 0, 9)).toBeUndefined();
  });

  it('is read by ranges, up to the end of a file', async () => {
    await archive.create(fileName(1), Buffer.from('0123456789'));
    const read = async (start: number, end: number) =>
      String(await archive.read(fileName(1), start, end));

    expect(await read(2, 5)).toBe('234');
    expect(await read(8, 99)).toBe('89');
  });

  it('does not treat a file that S3 fails to read as missing', async () => {
    await sealedTrail(1);
    aws.impose('internal error');

    await expect(archive.read(fileName(1), 0, 9)).rejects.toThrow();
  });

  it('is exported from the first versions of its files', async () => {
    await sealedTrail(4);
    for (const key of aws.objects.keys()) aws.overwrite(key, Buffer.from('{}'));
    const found: unknown[] = [];

    const seen: Verification['seen'] = ({ item }) => found.push(item.id);
    await verifyAll({ archive, publicKey: signer.publicKey, seen });

    expect(found).toHaveLength(4);
  });
});
