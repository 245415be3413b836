import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Archive, findDigest, listWindows } from '../../../lib/seal/archive.ts';
import { archivePrefix, bucketArchive, kmsSigner } from '../../../lib/seal/aws.ts';
import type { Signer } from '../../../lib/seal/digest.ts';
import { readTrail } from '../../../lib/seal/read.ts';
import { sealWindows } from '../../../lib/seal/sealer.ts';
import { compareRemembered, remember } from '../../../lib/seal/verification.ts';
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

/** A trail of windows with an entry each, sealed into the bucket. */
const sealedTrail = async (windows: number) => {
  const { source, ...trail } = makeTrail();
  let now = trail.now;
  for (let window = 0; window < windows; window += 1) {
    trail.add({}, now);
    now += 60_000;
    await sealWindows({ archive, source, signer, interval: 60 }, new Date(now));
  }
  const { publicKey } = signer;
  return { source, verify: () => verifyAll({ archive, source, publicKey, now }) };
};

describe('A trail in a bucket, signed by a key of KMS', () => {
  it('is intact when nobody touched it, over any number of pages of a list', async () => {
    const { verify } = await sealedTrail(9);

    const { findings, windows } = await verify();

    expect(findings).toEqual([]);
    expect(windows).toBe(9);
    expect(signer.publicKey.equals(aws.publicKey)).toBe(true);
  });

  it('is written once: each put says so, and the second of a name is refused', async () => {
    await sealedTrail(2);
    const [name = ''] = [...aws.objects.keys()].map((key) => key.slice(archivePrefix.length));

    const isNew = await archive.create(name, Buffer.from('other'));

    expect(isNew).toBe(false);
    const puts = aws.requests.filter(({ line }) => line.startsWith('PUT '));
    expect(new Set(puts.map(({ ifNoneMatch }) => ifNoneMatch))).toEqual(new Set(['*']));
    expect([...aws.objects.values()].map(({ length }) => length)).toEqual([1, 1, 1, 1]);
  });

  it.each([
    ['overwritten', Buffer.from('{}')],
    ['marked as deleted', undefined],
  ])('still has the newest digest that was seen before where that is %s', async (_, content) => {
    await sealedTrail(2);
    const newest = (await listWindows(archive)).digests.at(-1);
    const sealed = newest && (await findDigest({ archive, publicKey: signer.publicKey }, newest));
    if (!newest || !sealed) throw new Error('Nothing was sealed');
    aws.overwrite(`${archivePrefix}${newest}`, content);

    const finding = await compareRemembered(archive, remember(sealed));

    expect(finding).toBeUndefined();
  });

  it('is listed from a name on without what lies before it', async () => {
    await sealedTrail(9);
    const names = [...aws.objects.keys()].map((key) => key.slice(archivePrefix.length)).sort();
    const [from = '', last] = names.slice(-2);
    const before = String.fromCharCode(from.charCodeAt(from.length - 1) - 1);
    aws.overwrite(`${archivePrefix}${from.slice(0, -1)}${before}~`, Buffer.of());
    const asked = aws.requests.length;
    const found: string[] = [];

    for await (const { name } of archive.list(from)) found.push(name);

    expect(found).toEqual([from, last]);
    expect(aws.requests).toHaveLength(asked + 1);
  });

  it('has no file where there is none, or nothing but a mark of deletion', async () => {
    await sealedTrail(1);
    aws.overwrite(`${archivePrefix}marked`);
    const marked: unknown[] = [];
    for await (const file of archive.list('marked')) marked.push(file);

    expect(await archive.open('another')).toBeUndefined();
    expect(marked).toEqual([{ name: 'marked', altered: true }]);
    expect(await archive.open('marked')).toBeUndefined();
  });

  it('has no file any more whose first version has left since it was listed', async () => {
    await sealedTrail(1);
    const [name = ''] = (await listWindows(archive)).digests;
    aws.objects.delete(`${archivePrefix}${name}`);

    expect(await archive.open(name)).toBeUndefined();
  });

  it('misses no file that S3 fails to read', async () => {
    await sealedTrail(1);
    const [name = ''] = (await listWindows(archive)).digests;
    aws.impose('internal error');

    await expect(archive.open(name)).rejects.toThrow();
  });

  it('is read by first versions when its entries are exported', async () => {
    const { source } = await sealedTrail(4);
    for (const key of aws.objects.keys()) aws.overwrite(key, Buffer.from('{}'));
    const found: unknown[] = [];

    for await (const { id } of readTrail({ archive, publicKey: signer.publicKey })) found.push(id);

    expect(found).toEqual([...source.items.keys()].slice(0, 3));
  });

  it('is read by first versions when late entries are looked for', async () => {
    const { source } = await sealedTrail(4);
    for (const key of aws.objects.keys()) aws.overwrite(key);

    const now = new Date(makeTrail().now + 5 * 60_000);
    const digest = await sealWindows({ archive, source, signer, interval: 60 }, now);

    expect(digest?.entries).toMatchObject({ late: 0 });
  });
});
