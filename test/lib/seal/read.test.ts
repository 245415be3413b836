import { describe, expect, it } from 'vitest';
import { BrokenTrail } from '../../../lib/seal/archive.ts';
import { beginning, type Digest, digestName } from '../../../lib/seal/digest.ts';
import { type Reading, readTrail } from '../../../lib/seal/read.ts';
import { memoryArchive, sealedTrail } from '../../support/sealed-trail.ts';

const minute = 60_000;

/** Windows of a minute, with what of their entries is read, and which files for that. */
const sealed = async (windows: number, settings?: Parameters<typeof sealedTrail>[1]) => {
  const { trail, ids, window, seal } = await sealedTrail(windows, settings);
  const read = async (range: Partial<Reading> = {}) => {
    const found: unknown[] = [];
    const files: string[] = [];
    const open: Reading['archive']['open'] = (name) => {
      files.push(name);
      return trail.archive.open(name);
    };
    const { publicKey } = trail.signer;
    const archive = { ...trail.archive, open };
    for await (const { id } of readTrail({ archive, publicKey, now: trail.now, ...range }))
      found.push(id);
    return { found, files };
  };
  /** In which windows an entry was sealed, and whether late. */
  const marksOf = async (wanted: number | undefined) => {
    const { archive, signer } = trail;
    const found: unknown[] = [];
    for await (const { id, window, late } of readTrail({ archive, publicKey: signer.publicKey })) {
      if (id === wanted) found.push({ window, late });
    }
    return found;
  };
  return { trail, ids, window, seal, read, marksOf };
};

describe('The entries of an archive', () => {
  it('are read from the window on in which a time lies, until another one begins', async () => {
    const { ids, window, read } = await sealed(10);
    const middle = window(3).from.replace(':00.000Z', ':30.000Z');

    const all = await read();
    const begun = await read({ since: window(3).from, until: window(6).from });
    const amid = await read({ since: middle, until: middle });

    expect(all.found).toEqual(ids.slice(0, 9));
    expect(begun.found).toEqual(ids.slice(2, 5));
    expect(amid.found).toEqual(ids.slice(2, 3));
  });

  it('are read with what was sealed late, also in a window after the time that is asked for', async () => {
    const { trail, ids, window, seal, read, marksOf } = await sealed(3);
    const late = trail.add();
    trail.source.lagging.set(late, trail.now + 4 * minute);
    for (let windows = 3; windows < 10; windows += 1) await seal();

    const { found, files } = await read({ since: window(4).from, until: window(5).from });

    expect(found).toEqual([late]);
    expect(await marksOf(late)).toEqual([{ window: window(6).from, late: true }]);
    expect(await marksOf(ids[1])).toEqual([{ window: window(2).from, late: false }]);
    const ofEntries = files.filter((name) => name.endsWith('.gz'));
    expect(ofEntries).toEqual([window(4).entries.file, window(6).entries.file]);
  });

  it('are read from the first window on that must be there, where the beginning has left', async () => {
    const { trail, ids, window, read } = await sealed(10, { interval: 86_400, archiveDays: 4 });
    for (const number of [0, 1, 2]) trail.archive.files.delete(digestName(window(number).from));

    const kept = await read();
    const some = await read({ since: window(5).from });

    expect(kept.found).toEqual(ids.slice(3));
    expect(some.found).toEqual(ids.slice(5));
  });

  it('are not read where the beginning has left that must be there', async () => {
    const { trail, window, read } = await sealed(10, { interval: 86_400, archiveDays: 400 });
    for (const number of [0, 1, 2]) trail.archive.files.delete(digestName(window(number).from));

    await expect(read()).rejects.toThrow(new BrokenTrail(`The window of ${beginning} is missing`));
  });

  it.each<readonly [string, (digest: Digest) => string, Buffer | undefined, RegExp]>([
    [
      'a window is missing',
      ({ from }) => digestName(from),
      undefined,
      /^The window of \S+ is miss/,
    ],
    ['a digest cannot be read', ({ from }) => digestName(from), Buffer.from('{}'), /not as it was/],
    ['a file of entries is missing', ({ entries }) => entries.file, undefined, /not as it was/],
  ])('are not read past where %s', async (_, nameOf, content, message) => {
    const { trail, window, read } = await sealed(6);
    const name = nameOf(window(2));
    trail.archive.files.delete(name);
    if (content) trail.archive.files.set(name, content);

    await expect(read()).rejects.toSatisfy(
      (error) => error instanceof BrokenTrail && message.test(error.message),
    );
  });

  it('are told how far they are read', async () => {
    const { read } = await sealed(40);
    const told: number[] = [];

    await read({ progress: (fraction) => told.push(fraction) });

    expect(told).toEqual(Array.from({ length: 40 }, (_, i) => (i + 1) / 40));
  });

  it('are none where nothing is sealed', async () => {
    const { read } = await sealed(1);
    const told: number[] = [];

    const { found } = await read({
      archive: memoryArchive(),
      progress: (fraction) => told.push(fraction),
    });

    expect([found, told]).toEqual([[], []]);
  });
});
