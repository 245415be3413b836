import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { archivePrefix } from '../../../lib/seal/archive.ts';
import { bucketArchive, kmsSigner } from '../../../lib/seal/aws.ts';
import { BoundedTrail } from '../../../lib/seal/bounded-trail.ts';
import { bucketReader } from '../../../lib/seal/bucket-reader.ts';
import { findLine } from '../../../lib/seal/find-line.ts';
import { fileName, type SignedHeader, type Signer } from '../../../lib/seal/header.ts';
import { keyOf } from '../../../lib/seal/line.ts';
import { type AwsArchive, startAwsArchive } from '../../support/aws-archive.ts';
import { makeTrail, type TestTrail } from '../../support/sealed-trail.ts';

let aws: AwsArchive;
let signer: Signer;
let trail: TestTrail;
let known: SignedHeader;
let ids: number[];

const keyOfFile = (number: number) => archivePrefix + fileName(number);

/** The files of a bucket whose lists have a few or many versions, with one entry each. */
const fillBucket = async (pageSize: number) => {
  aws = await startAwsArchive({ pageSize });
  Object.assign(process.env, aws.environment, {
    ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
  });
  signer = await kmsSigner('key');
  trail = Object.assign(makeTrail({ signer, interval: 300 }), { archive: bucketArchive('trail') });
  ids = [];
  for (let file = 1; file <= 30; file += 1) {
    ids.push(trail.add());
    known = await trail.seal(300_000);
  }
};

const find = (id: number) => {
  const archive = bucketReader(`${aws.environment.AWS_ENDPOINT_URL_S3}/trail`);
  const bounded = new BoundedTrail({ archive, publicKey: signer.publicKey }, known);
  const key = keyOf(trail.source.items.get(id) ?? {});
  return findLine(bounded, { id, key, now: trail.now });
};

afterEach(() => aws.stop());

describe('An entry in a bucket whose list has a thousand versions', () => {
  beforeEach(() => fillBucket(1000));

  it('is found by one list, which has the prefix that the policy allows and starts before the name', async () => {
    for (const [at, id] of ids.entries()) {
      aws.requests.length = 0;

      expect((await find(id)).sealed).toMatchObject({ item: { id }, file: at + 1 });
      const lists = aws.requests.filter(({ line }) => line === 'GET /trail');
      expect(lists).toHaveLength(1);
      expect(aws.requests.length).toBeLessThanOrEqual(5);
    }
  });

  it('is found in the first version of its file, whoever wrote a later one or a mark', async () => {
    aws.overwrite(keyOfFile(4), Buffer.from('x'));
    aws.overwrite(keyOfFile(5));
    for (const at of [3, 4]) {
      expect((await find(ids[at] ?? 0)).sealed).toMatchObject({ file: at + 1 });
    }
  });

  it.each(['reset', 'internal error', 'lost answer'] as const)(
    'is found although the first attempt of each request fails: %s',
    async (fault) => {
      aws.impose(fault, 'firstAttempt');
      expect((await find(ids[7] ?? 0)).sealed).toMatchObject({ file: 8 });
    },
  );

  it('is not looked for in vain if the bucket does not respond: the error is thrown', async () => {
    aws.impose('internal error');
    await expect(find(ids[7] ?? 0)).rejects.toMatchObject({ name: 'Http500' });
  });

  it('is out of reach if its file is encrypted by a key of its writer, or only a mark is left', async () => {
    aws.encrypt(keyOfFile(8));
    aws.objects.delete(keyOfFile(12));
    aws.overwrite(keyOfFile(12));

    for (const file of [8, 12]) {
      const id = ids[file - 1] ?? 0;
      await expect(find(id)).rejects.toMatchObject({
        state: 'not_found',
        file,
        finding: 'foreign',
      });
    }
  });
});

describe('An entry in a bucket whose list has five versions', () => {
  beforeEach(() => fillBucket(5));

  it('is found wherever it is', async () => {
    for (const [at, id] of ids.entries()) {
      expect((await find(id)).sealed).toMatchObject({ item: { id }, file: at + 1 });
    }
  });
});
