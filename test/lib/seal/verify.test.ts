import { describe, expect, it, vi } from 'vitest';
import { dueBefore } from '../../../lib/seal/finding.ts';
import { fileName } from '../../../lib/seal/header.ts';
import { seal } from '../../../lib/seal/sealer.ts';
import type { Verification } from '../../../lib/seal/verify.ts';
import {
  forge,
  headersOf,
  makeTrail,
  sealedTrail,
  type TestTrail,
} from '../../support/sealed-trail.ts';

const minute = 60_000;
const iso = (time: number) => new Date(time).toISOString();

const kinds = async (trail: TestTrail, part: Parameters<TestTrail['verify']>[0] = {}) =>
  (await trail.verify(part)).findings.map(({ kind, subject }) => `${kind} ${subject}`);

/** The time at which the run of a file began. */
const runOf = (trail: TestTrail, number: number) => headersOf(trail)[number - 1]?.at ?? '';

describe('Verification', () => {
  it('counts the files, each entry once, and the lines that were sealed late', async () => {
    const { trail } = await sealedTrail(6);
    const late = trail.replay([trail.now - 60 * minute]);
    await trail.seal(2 * minute);

    expect(await trail.verify()).toMatchObject({
      files: 7,
      last: 7,
      entries: 8,
      early: 1,
      earlyIds: late.map(String),
      expired: 0,
      waiting: 0,
      unproven: 0,
      left: '',
    });
  });

  it('reports since when entries wait, for replayed entries since their replay', async () => {
    const { trail } = await sealedTrail(3);
    trail.now += 20 * minute;
    const since = iso(trail.now);
    trail.replay([trail.now - 300 * minute]);
    trail.add({}, trail.now + 1);

    expect(await trail.verify()).toMatchObject({ findings: [], waiting: 3, waitingSince: since });
    expect(since < dueBefore(60, trail.now)).toBe(false);
    expect(since < dueBefore(60, trail.now + 5 * minute + 1)).toBe(true);
    expect(since < dueBefore(3600, trail.now + 3 * 60 * minute)).toBe(false);
  });

  it('proves nothing about an archive without a file', async () => {
    const trail = makeTrail();
    trail.add();

    expect(await trail.verify()).toMatchObject({ files: 0, newest: undefined, waiting: 1 });
  });

  it('of the archive alone judges entries only if they are sealed with two contents', async () => {
    const { trail, ids } = await sealedTrail(4);
    const { archive, signer, now } = trail;
    trail.source.items.clear();

    const alone = await makeTrail().verify({
      archive,
      publicKey: signer.publicKey,
      now,
      source: undefined as never,
    });

    expect(alone).toMatchObject({
      findings: [],
      files: 4,
      entries: ids.length,
      waiting: 0,
      expired: 0,
    });
  });

  it('reports altered files in a row as one finding, and counts their entries as unproven', async () => {
    const { trail } = await sealedTrail(8);
    await trail.seal(20 * minute);
    for (const number of [3, 4, 5]) {
      const file = trail.archive.files.get(fileName(number)) ?? Buffer.of();
      trail.archive.files.set(fileName(number), file.subarray(0, -1));
    }

    expect(await kinds(trail)).toEqual(['altered files 3 to 5']);
    const findings = [{ before: 'Its lines are not those of its header' }];
    expect(await trail.verify()).toMatchObject({ unproven: 3, entries: 5, files: 9, findings });
  });

  it('reports junk under several names in a row as one finding with one hash', async () => {
    const hashesOf = async (...junk: readonly string[]) => {
      const { trail } = await sealedTrail(2);
      for (const [i, text] of junk.entries()) {
        trail.archive.files.set(fileName(3 + i), Buffer.from(text));
      }
      return (await trail.verify()).findings.map(({ sha256 }) => sha256);
    };

    const [one, other] = [await hashesOf('a', 'b'), await hashesOf('a', 'c')];

    expect(one).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(other).not.toEqual(one);
  });

  it('counts entries that may have been in a missing file, and reports only the others as inserted', async () => {
    const { trail } = await sealedTrail(8);
    await trail.seal(20 * minute);
    trail.archive.files.delete(fileName(3));
    forge(trail, iso(trail.now - 35 * minute));
    forge(trail, iso(trail.now - 100 * minute));
    const later = forge(trail, iso(trail.now - 25 * minute));

    expect(await kinds(trail)).toEqual([`missing file 3 (${fileName(3)})`, `inserted ${later}`]);
    expect(await trail.verify()).toMatchObject({ unproven: 3 });
  });

  it('reports an entry that is older than all entries that an altered file can have held', async () => {
    const { trail } = await sealedTrail(8);
    await trail.seal(20 * minute);
    const file = trail.archive.files.get(fileName(3)) ?? Buffer.of();
    trail.archive.files.set(fileName(3), file.subarray(0, -1));
    const older = forge(trail, iso(trail.now - 100 * minute));

    expect(await kinds(trail)).toEqual([`altered file 3 (${fileName(3)})`, `inserted ${older}`]);
  });

  it('shows an entry as it was sealed and as it is, with a hash of the present item', async () => {
    const { trail, ids } = await sealedTrail(3);
    const [changed = 0, deleted = 0] = ids;
    trail.source.items.set(changed, { ...trail.source.items.get(changed), result: 'x' });
    trail.source.items.delete(deleted);

    const { findings } = await trail.verify();

    expect(findings).toEqual([
      {
        kind: 'changed',
        subject: String(changed),
        before: expect.stringContaining('"result":"SUCCESS"'),
        after: expect.stringContaining('"result":"x"'),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      { kind: 'deleted', subject: String(deleted), before: expect.any(String), sha256: null },
    ]);
  });

  it('reports a deleted entry although its file is missing when its line is read again', async () => {
    const { trail, ids } = await sealedTrail(2);
    trail.source.items.delete(Number(ids[0]));
    const seen = () => trail.archive.files.delete(fileName(1));

    const { findings } = await trail.verify({ seen });

    expect(findings).toEqual([{ kind: 'deleted', subject: String(ids[0]), sha256: null }]);
  });
});

describe('Verification that passes on lines', () => {
  const makeReplayed = async () => {
    const { trail, ids } = await sealedTrail(6);
    const [replayed] = trail.replay([trail.now - 9 * minute]);
    await trail.seal(2 * minute);
    const read = async (part: Parameters<TestTrail['verify']>[0]) => {
      const lines: (readonly [number, unknown])[] = [];
      const seen: Verification['seen'] = ({ item }, number) => lines.push([number, item.id]);
      const { findings, files } = await trail.verify({ ...part, seen });
      return { lines, findings, files };
    };
    return { trail, ids, replayed, read };
  };
  const at = (minutes: number) => iso(Date.UTC(2026, 10, 22, 12, minutes));

  it('passes on each line with the number of its file', async () => {
    const { ids, read } = await makeReplayed();

    const { lines } = await read({});

    expect(lines.slice(0, 6)).toEqual(ids.map((id, i) => [i + 1, id]));
    expect(lines.slice(6).map(([number]) => number)).toEqual([7, 7]);
  });

  it('reads, for a range of times, all files that may have its entries, and checks the files between', async () => {
    const { trail, replayed, read } = await makeReplayed();
    const part = { since: at(2), until: at(4) };

    const { lines, files } = await read(part);
    trail.archive.files.delete(fileName(5));
    const { findings } = await read(part);
    const elsewhere = await read({ until: at(1) });

    expect(lines.map(([number]) => number)).toEqual([2, 3, 7, 7]);
    // The files from the second to the seventh.
    expect(files).toBe(6);
    expect(lines.map(([, id]) => id)).toContain(replayed);
    expect(findings.map(({ subject }) => subject)).toEqual([`file 5 (${fileName(5)})`]);
    expect([elsewhere.findings, elsewhere.lines]).toEqual([[], [[1, expect.any(Number)]]]);
    expect(elsewhere.files).toBe(1);
  });
});

describe('Verification of a part', () => {
  /** A trail of 40 files; entries that the index shows late, and a replay, are sealed some files later. */
  const makeLong = async () => {
    const trail = makeTrail();
    for (let file = 0; file < 40; file += 1) {
      trail.add();
      if (file % 5 === 2) trail.source.lagging.set(trail.add(), trail.now + 7 * minute);
      if (file % 10 === 7) trail.replay([trail.now - 30 * minute]);
      await trail.seal(2 * minute);
    }
    for (let run = 0; run < 5; run += 1) await trail.seal(2 * minute);
    return trail;
  };

  it('finds nothing in a trail that nobody has changed, and does not read the whole table', async () => {
    const trail = await makeLong();
    const all = vi.spyOn(trail.source, 'all');

    for (let first = 1; first < 45; first += 4) {
      const last = first + 5;
      expect(await kinds(trail, { first, last })).toEqual([]);
      const [since, until] = [runOf(trail, first), runOf(trail, last)];
      expect(await kinds(trail, { since, until })).toEqual([]);
      expect(await kinds(trail, { since })).toEqual([]);
      expect(await kinds(trail, { until: since })).toEqual([]);
    }
    expect(all).not.toHaveBeenCalled();
  });

  it('from a time on reports the files after the newest one that nobody has signed', async () => {
    const { trail } = await sealedTrail(4);
    const since = runOf(trail, 3);
    trail.archive.files.set(fileName(5), Buffer.from('junk'));

    expect(await kinds(trail, { since })).toEqual([`foreign file 5 (${fileName(5)})`]);
    expect(await trail.verify({ since })).toMatchObject({ files: 1 });
  });

  it('finds changes in the part, and no changes elsewhere', async () => {
    const trail = await makeLong();
    const ids = [...trail.source.items.keys()];
    const at = (number: number) =>
      Number(
        ids.find(
          (id) =>
            Number(
              trail.source.items
                .get(id)
                ?.created_at?.toString()
                .localeCompare(runOf(trail, number)),
            ) >= 0,
        ),
      );
    const [deleted, changed, elsewhere] = [at(11), at(13), at(30)];
    trail.source.items.delete(deleted);
    trail.source.items.delete(elsewhere);
    trail.source.items.set(changed, { ...trail.source.items.get(changed), shard: 'x' });
    const inserted = forge(trail, runOf(trail, 14).replace('.000Z', '.001Z'));
    trail.archive.files.delete(fileName(16));
    const part = { since: runOf(trail, 9), until: runOf(trail, 20) };

    const found = await kinds(trail, part);

    expect(found).toEqual([
      `missing file 16 (${fileName(16)})`,
      `deleted ${deleted}`,
      `changed ${changed}`,
      // The inserted entry is not reported, because it may have been in the missing file.
    ]);
    expect(await trail.verify(part)).toMatchObject({ unproven: 3 });
    expect(await kinds(trail, { first: 1, last: 15 })).toContain(`inserted ${inserted}`);
  });

  it('finds an entry that was moved into the part from elsewhere', async () => {
    const trail = await makeLong();
    const [id = 0] = trail.source.items.keys();
    const item = trail.source.items.get(id);
    trail.source.items.set(id, { ...item, created_at_id: runOf(trail, 20) });

    expect(await kinds(trail, { first: 18, last: 24 })).toEqual([`changed ${id}`]);
  });

  it('finds the entries of files that wrong clocks have put out of order', async () => {
    const trail = await makeLong();
    trail.add();
    await seal(trail, new Date(trail.now + 45 * minute));
    await trail.seal(2 * minute);
    trail.add();
    await seal(trail, new Date(trail.now - 60 * minute));
    await trail.seal(2 * minute);
    await trail.seal(2 * minute);

    const last = headersOf(trail).length;
    for (let first = 38; first <= last; first += 1) {
      expect(await kinds(trail, { first, last: first + 1 })).toEqual([]);
    }
  });

  it('ends when its time is over, and returns the number of the last file', async () => {
    const trail = await makeLong();

    expect(await trail.verify({ first: 3, isOver: () => true })).toMatchObject({
      files: 1,
      last: 3,
      findings: [],
    });
  });
});

describe('A trail whose files are deleted by a rule', () => {
  const day = 86_400_000;
  /** Files of ten days, of which five may have been deleted by the rule; then the rule changes. */
  const makeLeaving = async (archiveDays: number) => {
    const trail = makeTrail({ interval: 3600, archiveDays: 5 });
    for (let run = 0; run < 10; run += 1) {
      trail.add();
      await trail.seal(day);
    }
    Object.assign(trail, { archiveDays });
    await trail.seal(3_600_000);
    return trail;
  };

  it.each([
    ['is as before', 5, 4],
    ['was shortened', 2, 7],
    ['was lengthened', 50, 4],
    ['was switched off', 0, 4],
  ])(
    'is intact without the files that the rule may have deleted, if the rule %s',
    async (_, days, files) => {
      const trail = await makeLeaving(days);
      for (let number = 1; number <= files; number += 1)
        trail.archive.files.delete(fileName(number));

      expect(await trail.verify()).toMatchObject({ findings: [], unproven: files });
      trail.archive.files.delete(fileName(files + 2));
      expect(await kinds(trail)).toEqual([`missing file ${files + 2} (${fileName(files + 2)})`]);
    },
  );

  it('may have delete markers and later versions of the files that the rule may have deleted', async () => {
    const trail = await makeLeaving(5);
    for (const number of [1, 2, 3]) trail.archive.altered.add(fileName(number));
    trail.archive.files.delete(fileName(1));
    trail.archive.files.delete(fileName(2));

    expect(await kinds(trail)).toEqual([]);
    trail.archive.altered.add(fileName(8));
    expect(await kinds(trail)).toEqual([`altered file 8 (${fileName(8)})`]);
  });
});
