import { describe, expect, it } from 'vitest';
import { fileName } from '../../../lib/seal/header.ts';
import { type Reading, readTrail } from '../../../lib/seal/read.ts';
import { sealedTrail } from '../../support/sealed-trail.ts';

const minute = 60_000;
const { trail, ids } = await sealedTrail(6);
const replayed = trail.replay([trail.now - 9 * minute]);
await trail.seal(2 * minute);
const iso = (minutes: number) => new Date(Date.UTC(2026, 10, 22, 12, minutes)).toISOString();

const read = async (
  reading: Partial<Reading>,
): Promise<readonly (readonly [number, unknown])[]> => {
  const found: (readonly [number, unknown])[] = [];
  const all = {
    archive: trail.archive,
    publicKey: trail.signer.publicKey,
    now: trail.now,
    ...reading,
  };
  for await (const { number, item } of readTrail(all)) found.push([number, item.id]);
  return found;
};

describe('Reading a trail', () => {
  it('gives each line with the number of its file', async () => {
    const found = await read({});

    expect(found.slice(0, 6)).toEqual(ids.map((id, i) => [i + 1, id]));
    expect(found.slice(6).map(([number]) => number)).toEqual([7, 7]);
  });

  it('of a time reads only files that have entries of it, late ones too', async () => {
    const found = await read({ since: iso(2), until: iso(5) });

    expect(found.map(([number]) => number)).toEqual([2, 3, 7, 7]);
    expect(found.map(([, id]) => id)).toContain(replayed[0]);
  });

  it.each([
    ['is not there', (name: string) => void trail.archive.files.delete(name)],
    [
      'is cut',
      (name: string) =>
        void trail.archive.files.set(
          name,
          trail.archive.files.get(name)?.subarray(0, -1) ?? Buffer.of(),
        ),
    ],
    ['is junk', (name: string) => void trail.archive.files.set(name, Buffer.from('x'))],
  ])('fails where a file %s, unless the wanted time leaves it out', async (_, damage) => {
    const name = fileName(3);
    const before = trail.archive.files.get(name) ?? Buffer.of();
    damage(name);

    await expect(read({})).rejects.toMatchObject({
      name: 'BrokenTrail',
      message: expect.stringContaining('file 3'),
    });
    await expect(read({ until: iso(1) })).resolves.toHaveLength(1);
    await expect(read({ since: iso(8), until: iso(9) })).resolves.toHaveLength(3);
    trail.archive.files.set(name, before);
  });

  it('says how much is read', async () => {
    const fractions: number[] = [];

    await read({ progress: (fraction) => fractions.push(fraction) });

    expect(fractions.at(-1)).toBe(1);
    expect(fractions).toHaveLength(7);
  });
});
