import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { BrokenTrail, notAsSealed } from '../../../../lib/audit/archive/archive.ts';
import { digestName, entriesName } from '../../../../lib/audit/archive/digest.ts';
import { sha256 } from '../../../../lib/audit/archive/line.ts';
import { localSigner, makeKey } from '../../../../lib/audit/archive/local-key.ts';
import { readTrail } from '../../../../lib/audit/archive/read.ts';
import { sealWindow } from '../../../../lib/audit/seal/sealer.ts';
import { faultName } from '../../../../lib/errors.ts';
import { makeTrail, type Trail } from '../../../support/sealed-trail.ts';

const minute = 60_000;

/** Seals what is over so many milliseconds later. */
const sealLater = (trail: Trail, later = minute) => {
  trail.now += later;
  return sealWindow(trail, new Date(trail.now));
};

/** The entries that were sealed, with whether each counted as late. */
const sealedBy = async ({ archive, signer }: Trail) => {
  const found: (readonly [id: unknown, late: boolean])[] = [];
  for await (const { id, late } of readTrail({ archive, publicKey: signer.publicKey })) {
    found.push([id, late]);
  }
  return found;
};

const change = ({ source }: Trail, id: number, changes: object) =>
  source.items.set(id, { ...source.items.get(id), ...changes });

describe('An entry', () => {
  it.each([
    ['lies before', '2026-03-01T00:00:00.000Z'],
    ['lies after', '9999-12-31T23:59:59.999Z'],
    ['is not in', undefined],
  ])(
    'is sealed once, as late, where its time %s the window that its index key names',
    async (_, created_at) => {
      const trail = makeTrail();
      await sealLater(trail, 0);
      const [misdated, ordinary] = [trail.add(), trail.add()];
      change(trail, misdated, { created_at });

      for (let window = 0; window < 9; window += 1) await sealLater(trail);

      expect(await sealedBy(trail)).toEqual([
        [ordinary, false],
        [misdated, true],
      ]);
    },
  );
});

describe('A file of entries that lies there before the sealer writes it', () => {
  /** A trail whose next window is empty; its file of entries can be told before. */
  const sealedOnce = async () => {
    const trail = makeTrail();
    const first = await sealLater(trail);
    const file = gzipSync('');
    const name = entriesName(first?.until ?? '', sha256(file).toString('hex'));
    return { trail, file, name };
  };

  it('is used where it is what was to be written', async () => {
    const { trail, file, name } = await sealedOnce();
    trail.archive.files.set(name, file);

    expect((await sealLater(trail))?.entries.file).toBe(name);
  });

  it('is named and not signed where it is something else, and the next entry goes past it', async () => {
    const { trail, name } = await sealedOnce();
    trail.archive.files.set(name, gzipSync('junk'));

    await expect(sealLater(trail)).rejects.toThrow(
      new BrokenTrail(`${name} is not as it was sealed`),
    );

    const id = trail.add();
    await sealLater(trail, 2 * minute);
    expect(await sealedBy(trail)).toEqual([[id, false]]);
  });
});

describe('A digest that lies there before the sealer writes it', () => {
  it('is another sealer’s where it is signed', async () => {
    const trail = makeTrail();
    const { create } = trail.archive;
    trail.archive.create = async (name, content) => {
      trail.archive.create = create;
      if (!name.endsWith('.gz')) throw new Error('A digest goes first');
      await sealWindow(trail, new Date(trail.now + minute));
      return create(name, content);
    };

    expect(await sealLater(trail)).toBeUndefined();
    expect(await sealLater(trail, 9 * minute)).toMatchObject({
      from: expect.stringMatching('^2026'),
    });
  });

  it('is named where it is not signed', async () => {
    const trail = makeTrail();
    const { create } = trail.archive;
    const name = digestName('0000-01-01T00:00:00.000Z');
    trail.archive.create = async (...file) => {
      trail.archive.files.set(name, Buffer.from('{}'));
      return create(...file);
    };

    await expect(sealLater(trail)).rejects.toThrow(
      new BrokenTrail(`${name} is not as it was sealed`),
    );
  });
});

describe('The sealer', () => {
  it('goes past digests that no sealer signed, and tells their names', async () => {
    const trail = makeTrail();
    const junk = ['20261122T120030000Z.digest.json', '20991231T000000000Z.digest.json'];
    const first = await sealLater(trail);
    for (const name of junk) trail.archive.files.set(name, Buffer.from('{}'));
    const told: string[] = [];
    trail.now += minute;

    const next = await sealWindow(trail, new Date(trail.now), (names) => told.push(...names));

    expect(next?.from).toBe(first?.until);
    expect(told.sort()).toEqual(junk);
  });

  it('begins no new chain where digests are there that are not of its key', async () => {
    const trail = makeTrail();
    await sealLater(trail);
    const newest = await sealLater(trail);
    trail.archive.files.delete(digestName('0000-01-01T00:00:00.000Z'));
    const other = { ...trail, signer: localSigner(makeKey()) };

    await expect(sealLater(other)).rejects.toThrow(notAsSealed(digestName(newest?.from ?? '')));
  });

  it('begins no new chain where it has sealed before, however often it is run', async () => {
    const trail = { ...makeTrail(), memory: {} };
    await sealLater(trail);
    const newest = await sealLater(trail);
    trail.archive.files.clear();

    for (let run = 0; run < 3; run += 1) {
      const gone = `${digestName(newest?.from ?? '')} is not there any more`;
      await expect(sealLater(trail)).rejects.toThrow(new BrokenTrail(gone));
    }
    expect(trail.archive.files.size).toBe(0);
  });

  it('seals as late what was written after its clock had run ahead and was set right', async () => {
    const trail = makeTrail();
    await sealLater(trail, 0);
    trail.now += 20 * minute;
    await sealLater(trail, 0);
    await sealLater(trail);
    trail.now -= 21 * minute - 5000;
    const id = trail.add();
    await expect(sealLater(trail)).rejects.toSatisfy((error) => faultName(error) === 'ClockBehind');

    await sealLater(trail, 25 * minute);

    expect(await sealedBy(trail)).toEqual([[id, true]]);
  });
});
