import { describe, expect, it } from 'vitest';
import { listDigests } from '../../../../lib/audit/archive/archive.ts';
import { type Reading, readTrail } from '../../../../lib/audit/archive/read.ts';
import { sealWindow } from '../../../../lib/audit/seal/sealer.ts';
import { makeTrail } from '../../../support/sealed-trail.ts';

const minute = 60_000;
const iso = (time: number) => new Date(time).toISOString();

/** Windows of a minute with an entry each; the index shows that of the second four minutes late. */
const sealedTrail = async (windows: number) => {
  const trail = makeTrail();
  const ids: number[] = [];
  const start = trail.now;
  for (let window = 0; window < windows; window += 1) {
    const id = trail.add();
    if (window === 1) trail.source.lagging.set(id, trail.now + 4 * minute);
    ids.push(id);
    trail.now += minute;
    await sealWindow(trail, new Date(trail.now));
  }
  const read = async (range: Partial<Reading> = {}): Promise<readonly unknown[]> => {
    const found: unknown[] = [];
    const { archive, signer } = trail;
    const lines = readTrail({ archive, publicKey: signer.publicKey, ...range });
    for await (const { id } of lines) found.push(id);
    return found;
  };
  return { trail, start, ids, read };
};

describe('The entries of an archive', () => {
  it('are read with what was sealed late, also in a window after the time that is asked for', async () => {
    const { start, ids, read } = await sealedTrail(10);
    const [, late] = ids;

    const all = await read();
    const some = await read({ since: iso(start), until: iso(start + 2 * minute) });

    expect([...all].sort()).toEqual(ids.slice(0, all.length));
    expect(all.indexOf(late)).toBeGreaterThan(1);
    expect(some).toContain(late);
    expect(some.length).toBeLessThan(all.length);
  });

  it('are read from the first window on that must be there, where the beginning has left', async () => {
    const { trail, start, ids, read } = await sealedTrail(10);
    const digests = await listDigests(trail.archive, '');
    for (const { name } of digests.slice(0, 4)) trail.archive.files.delete(name);

    const kept = await read({ keptSince: iso(start + 6 * minute) });

    expect(kept).toEqual(expect.arrayContaining(ids.slice(6, 8)));
    await expect(read()).rejects.toThrow('The window of 0000-01-01T00:00:00.000Z is missing');
  });
});
