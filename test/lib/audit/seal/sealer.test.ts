import { describe, expect, it } from 'vitest';
import { readTrail } from '../../../../lib/audit/seal/read.ts';
import { sealWindow } from '../../../../lib/audit/seal/sealer.ts';
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
