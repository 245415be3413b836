import { describe, expect, it } from 'vitest';
import {
  type Archive,
  findDigest,
  linesOf,
  listWindows,
  readEntriesFile,
  readFile,
  windowAt,
} from '../../../lib/seal/archive.ts';
import { digestName } from '../../../lib/seal/digest.ts';
import { lineOf, sha256 } from '../../../lib/seal/line.ts';
import { memoryArchive, sealedTrail } from '../../support/sealed-trail.ts';

const name = digestName('2026-11-22T12:00:00.000Z');

/** An archive of one file, which fails when it is opened or while it is read. */
const failing = (error: Error, when: 'opened' | 'read'): Archive => ({
  ...memoryArchive(),
  open: async () => {
    if (when === 'opened') throw error;
    return (async function* () {
      yield Buffer.from('{');
      throw error;
    })();
  },
});
const failsWith = (code: string) => Object.assign(new Error('injected'), { code });

describe.each(['opened', 'read'] as const)('A file that fails when it is %s', (when) => {
  it.each([
    'EISDIR',
    'ENOTDIR',
    'ENXIO',
    'ELOOP',
    'EACCES',
    'EPERM',
    'EIO',
    'ENODEV',
    'EINVAL',
    'ERR_FS_FILE_TOO_LARGE',
  ])('is one that cannot be read where the file system says %s', async (code) => {
    expect(await readFile(failing(failsWith(code), when), name)).toBeUndefined();
  });

  it('is one that cannot be read where S3 has it in cold storage', async () => {
    const error = Object.assign(new Error('injected'), { name: 'InvalidObjectState' });

    expect(await readFile(failing(error, when), name)).toBeUndefined();
  });

  it.each([failsWith('ECONNREFUSED'), failsWith('ENOSPC'), new Error('EIO')])(
    'ends the reading where the store itself fails: %s',
    async (error) => {
      await expect(readFile(failing(error, when), name)).rejects.toBe(error);
    },
  );
});

describe('A file in place of a digest', () => {
  it('is read up to 64 KiB, far more than a digest has', async () => {
    const archive = memoryArchive();
    const most = Buffer.alloc(65_536, 'x');
    archive.files.set('most', most);
    archive.files.set('more', Buffer.alloc(65_537, 'x'));

    expect(await readFile(archive, 'most')).toEqual(most);
    expect(await readFile(archive, 'more')).toBeUndefined();
  });

  it('is one only under the name of its own window', async () => {
    const { trail, window } = await sealedTrail(3);
    const { archive, signer } = trail;
    const [one, other] = [digestName(window(1).from), digestName(window(2).from)];
    archive.files.set(other, archive.files.get(one) ?? Buffer.of());

    const found = [one, other].map((file) =>
      findDigest({ archive, publicKey: signer.publicKey }, file),
    );

    expect(await Promise.all(found)).toEqual([expect.objectContaining(window(1)), undefined]);
  });
});

describe('A file of entries', () => {
  it('has their lines, however long they are', async () => {
    const { trail, seal, window } = await sealedTrail(2);
    // What does not become short by compression, with characters of several bytes throughout.
    const details = Array.from({ length: 1000 }, (_, i) => `é${sha256(String(i)).toString('hex')}`);
    const ids = [trail.add({ details: details.join('😀') }), trail.add()];
    await seal();
    await seal();

    const content = await readEntriesFile(trail.archive, window(3));

    expect(content?.size).toBeGreaterThan(20_000);
    const lines: string[] = [];
    for await (const { line } of content ? linesOf(content) : []) lines.push(line);
    expect(lines).toEqual(ids.map((id) => lineOf(trail.source.items.get(id) ?? {})));
  });

  it('is none where it is not the one that the digest names', async () => {
    const { trail, window } = await sealedTrail(3);
    const { entries } = window(2);

    const other = { ...entries, sha256: window(1).entries.sha256 };

    expect(await readEntriesFile(trail.archive, { entries: other })).toBeUndefined();
  });
});

describe('In an archive', () => {
  it('digests are in the order of their windows, and a time has the window that begins last', async () => {
    const { trail, window } = await sealedTrail(4);
    const { archive } = trail;
    const [first, ...others] = [0, 1, 2, 3].map((i) => window(i).from);

    expect((await listWindows(archive)).digests).toEqual(
      [first, ...others].map((from) => digestName(from ?? '')),
    );
    expect(await windowAt(archive, window(2).from)).toBe(window(2).from);
    expect(await windowAt(archive, window(2).from.replace('000Z', '999Z'))).toBe(window(2).from);
    archive.files.delete(digestName(first ?? ''));
    expect(await windowAt(archive, '2026-01-01T00:00:00.000Z')).toBeUndefined();
  });
});
