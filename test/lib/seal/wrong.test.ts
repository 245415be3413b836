/** What a digest and its lines say that is not so, though the key signed it. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Digest, digestName, entriesName, signDigest } from '../../../lib/seal/digest.ts';
import { lineOf, markLate, sha256 } from '../../../lib/seal/line.ts';
import { sealWindows } from '../../../lib/seal/sealer.ts';
import { isFault } from '../../../lib/seal/verification.ts';
import {
  digestsOf,
  makeTrail,
  sealedTrail,
  type Trail,
  verifyAll,
  verifyOf,
} from '../../support/sealed-trail.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const iso = (time: number) => new Date(time).toISOString();

/** A trail whose newest window has three entries. */
const sealed = async () => {
  const { trail, seal } = await sealedTrail(3);
  for (let entry = 0; entry < 2; entry += 1) trail.add({}, trail.now - 10 * 1000 - entry);
  trail.now += minute;
  await seal();
  const digest = digestsOf(trail).at(-1);
  if (!digest) throw new Error('Nothing was sealed');
  const lines = gunzipSync(trail.archive.files.get(digest.entries.file) ?? '')
    .toString()
    .split('\n')
    .slice(0, -1);
  return { trail, digest, lines };
};

/** Signs a digest anew, as only the holder of the key can. */
const sign = async ({ archive, signer }: Trail, digest: Digest, changes: Partial<Digest>) => {
  const { signature: _, sha256: __, ...body } = { signature: '', sha256: '', ...digest };
  archive.files.set(digestName(digest.from), await signDigest({ ...body, ...changes }, signer));
};

const faultsOf = async (trail: Trail) => (await verifyOf(trail)).findings.filter(isFault);

describe('A digest that the key signed', () => {
  it.each([
    ['count', { count: 4 }, 'count is 3, not 4'],
    ['late', { late: 1 }, 'late is 0, not 1'],
    ['oldest', { oldest: '2026-01-01T00:00:00.000Z' }, 'oldest is '],
    ['newest', { newest: '2099-01-01T00:00:00.000Z' }, 'newest is '],
  ])('is wrong where its %s is not that of its lines', async (_, changes, before) => {
    const { trail, digest } = await sealed();
    await sign(trail, digest, { entries: { ...digest.entries, ...changes } });

    expect(await faultsOf(trail)).toEqual([
      { kind: 'wrong', subject: digestName(digest.from), before: expect.stringContaining(before) },
    ]);
  });
});

describe('A file of entries that is not lines to its end', () => {
  it('is not compared at all, so that nothing is said of entries but what the gap leaves open', async () => {
    const { trail, digest, lines } = await sealed();
    const [first = '', ...rest] = lines;
    const file = gzipSync([markLate(first), ...rest, '{'].join('\n'));
    const hash = sha256(file).toString('hex');
    const name = entriesName(digest.from, hash);
    trail.archive.files.set(name, file);
    await sign(trail, digest, { entries: { ...digest.entries, file: name, sha256: hash } });

    const { findings } = await verifyOf(trail);

    const kinds = ['unreadable', 'unclear', 'unclear', 'unclear'];
    expect(findings.map(({ kind }) => kind)).toEqual(kinds);
  });
});

describe('A setting of the archive’s days that was changed', () => {
  /** Sixty days of windows, of which those before the last thirty have left. */
  const shortened = async () => {
    const { trail, seal } = await sealedTrail(60, { interval: day / 1000, archiveDays: 30 });
    for (const { from, until, entries } of digestsOf(trail)) {
      if (Date.parse(until) >= trail.now - 30 * day) continue;
      trail.archive.files.delete(digestName(from));
      trail.archive.files.delete(entries.file);
    }
    return { trail, seal };
  };

  it.each([
    ['raised', 365],
    ['switched off', 0],
  ])('calls nothing missing that had left before it was %s', async (_, archiveDays) => {
    const { trail, seal } = await shortened();
    Object.assign(trail, { archiveDays });
    for (let windows = 0; windows < 10; windows += 1) {
      trail.add();
      await seal();
    }

    expect(await faultsOf(trail)).toEqual([]);
  });

  it('names a window that no digest ever allowed to leave', async () => {
    const { trail } = await shortened();
    const [first] = digestsOf(trail);
    trail.archive.files.delete(digestName(digestsOf(trail)[3]?.from ?? ''));

    const [fault] = await faultsOf(trail);

    expect(fault).toMatchObject({ kind: 'missing', subject: digestsOf(trail)[2]?.until });
    expect(first?.previous).not.toBeNull();
  });
});

describe('An entry that was changed, sealed again and put back', () => {
  it('is told with what was sealed first as the true content', async () => {
    const { trail, ids, seal } = await sealedTrail(4);
    const [id = 0] = ids;
    const item = trail.source.items.get(id) ?? {};
    const created_at = iso(trail.now + 1000);
    const changed = { ...item, ip_address: '192.0.2.66', created_at };
    const key = `${created_at}#${String(id).padStart(16, '0')}`;
    trail.source.items.set(id, { ...changed, created_at_id: key });
    for (let windows = 0; windows < 2; windows += 1) await seal();
    trail.source.items.set(id, item);

    expect(await faultsOf(trail)).toEqual([
      { kind: 'resealed', subject: String(id), before: lineOf(item), after: lineOf(changed) },
    ]);

    trail.source.items.set(id, { ...changed, created_at_id: key });
    expect(await faultsOf(trail)).toEqual([
      { kind: 'changed', subject: String(id), before: lineOf(item), after: lineOf(changed) },
    ]);
  });

  it('is counted as one entry however often it is sealed', async () => {
    const trail = makeTrail();
    const [id = 0] = [trail.add({}, trail.now - 10 * minute)];
    const sealAfter = async (later: number) => {
      trail.now += later;
      await sealWindows(trail, new Date(trail.now));
    };
    await sealAfter(minute);
    const hash = sha256(lineOf(trail.source.items.get(id) ?? {})).toString('hex');
    for (let replay = 0; replay < 2; replay += 1) {
      await sealAfter(20 * minute);
      const details = { entries: [{ id, sha256: hash }] };
      trail.add({ action: 'CREATE', resource: 'audit-logs', details });
    }
    await sealAfter(20 * minute);

    const { entries } = await verifyOf(trail);
    const alone = await verifyAll({
      archive: trail.archive,
      publicKey: trail.signer.publicKey,
      now: trail.now,
    });

    const lines = digestsOf(trail).reduce((sum, digest) => sum + digest.entries.count, 0);
    expect([lines, entries, alone.entries]).toEqual([4, 3, 3]);
  });
});
