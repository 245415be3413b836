import { describe, expect, it } from 'vitest';
import { fileName } from '../../../lib/seal/header.ts';
import { type Item, lineOf } from '../../../lib/seal/line.ts';
import { type Replay, replay } from '../../../lib/seal/replay.ts';
import { makeTrail, sealedTrail, type TestTrail } from '../../support/sealed-trail.ts';

/** Puts back the entries since a time that a trail lacks. @returns what was done and what was left */
const putBack = async (trail: TestTrail, restored: number, other: Partial<Replay> = {}) => {
  const { archive, signer, source } = trail;
  const done = { files: 0, written: 0, present: 0 };
  const left: string[] = [];
  const by: Replay = {
    archive,
    publicKey: signer.publicKey,
    restored: new Date(restored).toISOString(),
    now: trail.now,
    put: async (item: Item) => {
      if (source.items.has(Number(item.id))) return false;
      source.items.set(Number(item.id), item);
      return true;
    },
    seen: () => undefined,
    left: (subject, why) => left.push(`${subject}: ${why}`),
    ...other,
  };
  await replay(by, done);
  return { ...done, left };
};

/** A trail of files with one entry each, whose table was restored to half a minute before one of the entries. */
const restoredTrail = async (files: number, kept: number, settings = {}) => {
  const trail = makeTrail(settings);
  const ids: number[] = [];
  for (let file = 0; file < files; file += 1) {
    trail.now += 60_000;
    ids.push(trail.add());
    await trail.seal(120_000);
  }
  const lost = ids.slice(kept).map((id) => trail.source.items.get(id) as Item);
  for (const { id } of lost) trail.source.items.delete(Number(id));
  return { trail, ids, lost, restored: Date.parse(String(lost[0]?.created_at)) - 30_000 };
};

const found = async (trail: TestTrail) =>
  (await trail.verify()).findings.map(({ kind, subject }) => `${kind} ${subject}`);

describe('A replay of the archive', () => {
  it('writes byte by byte the entries that the table has lost, so that the trail is intact', async () => {
    const { trail, lost, restored } = await restoredTrail(6, 3);
    expect(await found(trail)).toHaveLength(3);

    const done = await putBack(trail, restored);

    expect(done).toEqual({ files: 3, written: 3, present: 0, left: [] });
    const lines = lost.map(({ id }) => lineOf(trail.source.items.get(Number(id)) ?? {}));
    expect(lines).toEqual(lost.map(lineOf));
    expect(await found(trail)).toEqual([]);
    trail.add();
    await trail.seal(120_000);
    expect(await found(trail)).toEqual([]);
  });

  it('can be interrupted and repeated', async () => {
    const { trail, restored } = await restoredTrail(6, 2);
    trail.archive.crash({ at: 8, done: false });

    await expect(putBack(trail, restored)).rejects.toThrow('The store is down');
    trail.archive.crash(undefined);
    const { written, present } = await putBack(trail, restored);

    expect(written + present).toBe(4);
    expect(await found(trail)).toEqual([]);
  });

  it('leaves entries that were missing or changed before the restore as findings', async () => {
    const { trail, ids, lost, restored } = await restoredTrail(6, 3);
    const [deleted = 0, , , changed = 0] = ids;
    trail.source.items.delete(deleted);
    trail.source.items.set(changed, { ...lost[0], id: changed, user_agent: 'another' });

    expect(await putBack(trail, restored)).toMatchObject({ written: 2, present: 1 });

    expect((await found(trail)).sort()).toEqual([`changed ${changed}`, `deleted ${deleted}`]);
  });

  it('writes no entry that has expired', async () => {
    const { trail, restored } = await restoredTrail(4, 2, { retentionDays: 90 });
    trail.now += 91 * 86_400_000;

    expect(await putBack(trail, restored)).toMatchObject({ files: 2, written: 0, present: 0 });
    expect(await found(trail)).toEqual([]);
  });

  it('writes entries that were recorded before the restored time and sealed after it', async () => {
    const { trail } = await sealedTrail(2);
    const restored = trail.now;
    const late = trail.replay([trail.now - 86_400_000]);
    await trail.seal(120_000);
    for (const id of late) trail.source.items.delete(id);

    expect(await putBack(trail, restored)).toMatchObject({ written: 1 });

    expect(await found(trail)).toEqual([]);
    const day = new Date(trail.now - 86_400_000 - 3_600_000).toISOString().slice(0, 10);
    const { findings } = await trail.verify({ since: `${day}T00:00:00.000Z` });
    expect(findings, 'of a part of the archive').toEqual([]);
  });

  it('names files that it cannot read and entries that the table cannot store, and continues', async () => {
    const { trail, ids, restored } = await restoredTrail(6, 2);
    const [junk, altered] = [fileName(4), fileName(5)];
    trail.archive.files.set(junk, Buffer.from('x'));
    trail.archive.files.set(
      altered,
      trail.archive.files.get(altered)?.subarray(0, -9) ?? Buffer.of(),
    );
    const put = async ({ id }: Item) => {
      if (id === ids[2]) throw new SyntaxError('No item has this line');
      return true;
    };

    const { written, left } = await putBack(trail, restored, { put });

    expect([written, left]).toEqual([
      1,
      [
        'file 4: It is not signed by the key',
        `entry ${ids[2]}: No item has this line`,
        'file 5: Its lines are not those of its header',
      ],
    ]);
  });
});
