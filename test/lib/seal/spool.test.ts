import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Archive } from '../../../lib/seal/archive.ts';
import { bucketArchive } from '../../../lib/seal/aws.ts';
import { folderArchive } from '../../../lib/seal/folder.ts';
import { maxInMemory, spool } from '../../../lib/seal/spool.ts';
import { startAwsArchive } from '../../support/aws-archive.ts';

const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

async function* partsOf(content: Buffer) {
  for (let at = 0; at < content.length; at += 10_000) yield content.subarray(at, at + 10_000);
}

const sizes = [0, maxInMemory, maxInMemory + 1, 3 * maxInMemory];

beforeAll(() => {
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
});

const archives: readonly [string, () => Promise<Archive>][] = [
  ['a folder', async () => folderArchive(makeFolder())],
  [
    'a bucket',
    async () => {
      const aws = await startAwsArchive();
      onTestFinished(() => aws.stop());
      Object.assign(process.env, aws.environment);
      return bucketArchive('trail');
    },
  ],
];

describe('Bytes that are held', () => {
  it.each(sizes)('are read as they came, as often as wanted: %i of them', async (size) => {
    const content = randomBytes(size);

    const held = await spool(partsOf(content));

    onTestFinished(() => held.close());
    expect(held.size).toBe(size);
    expect(held.sha256).toEqual(createHash('sha256').update(content).digest());
    for (let time = 0; time < 2; time += 1) {
      const parts: Uint8Array[] = [];
      for await (const part of held.read()) parts.push(part);
      expect(Buffer.concat(parts).equals(content)).toBe(true);
    }
  });

  it('leave no file under a name, however many they are', async () => {
    const temporary = makeFolder();
    const before = process.env.TMPDIR;
    process.env.TMPDIR = temporary;
    onTestFinished(() => {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    });

    const held = await spool(partsOf(randomBytes(2 * maxInMemory)));

    expect(readdirSync(temporary)).toEqual([]);
    await held.close();
  });

  describe.each(archives)('in %s', (_, open) => {
    it.each(sizes)('lie as they came: %i of them', async (size) => {
      const archive = await open();
      const content = randomBytes(size);
      const held = await spool(partsOf(content));
      onTestFinished(() => held.close());

      const isNew = await archive.create('a-file', held);

      expect(isNew).toBe(true);
      const stored = await buffer((await archive.open('a-file', 0, size + 1)) ?? Readable.from([]));
      expect(stored.equals(content)).toBe(true);
    });
  });

  it.each([1, maxInMemory])(
    'lie in a bucket though the first connection failed, where they are no more than %i',
    async (size) => {
      const aws = await startAwsArchive();
      onTestFinished(() => aws.stop());
      Object.assign(process.env, aws.environment);
      const held = await spool(partsOf(randomBytes(size)));
      aws.impose('reset', 'firstAttempt');

      expect(await bucketArchive('trail').create('a-file', held)).toBe(true);
    },
  );
});
