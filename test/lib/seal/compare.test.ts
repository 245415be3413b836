import { describe, expect, it } from 'vitest';
import { digestName } from '../../../lib/seal/digest.ts';
import { lineOf } from '../../../lib/seal/line.ts';
import { isFault } from '../../../lib/seal/verification.ts';
import { sealedTrail, type Trail, verifyOf } from '../../support/sealed-trail.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

const lineIn = ({ source }: Trail, id = 0) => lineOf(source.items.get(id) ?? {});
const change = ({ source }: Trail, id: number, changes: object) =>
  source.items.set(id, { ...source.items.get(id), ...changes });

/** Counts what a verification asks for. */
const count = (trail: Trail) => {
  const asked = { files: [] as string[], ids: [] as number[] };
  const archive: Trail['archive'] = {
    ...trail.archive,
    open: (name) => {
      asked.files.push(name);
      return trail.archive.open(name);
    },
  };
  const source: Trail['source'] = {
    ...trail.source,
    byIds: (ids) => {
      asked.ids.push(...ids.map(Number));
      return trail.source.byIds(ids);
    },
  };
  return { asked, counted: { archive, source } };
};

describe('A sealed entry', () => {
  it('is hidden where it lacks keys of indexes, or has wrong ones', async () => {
    const { trail, ids } = await sealedTrail(4);
    const [id = 0] = ids;
    change(trail, id, { shard: 'x', action_shard: undefined });

    const { findings } = await verifyOf(trail);

    expect(findings).toEqual([
      { kind: 'hidden', subject: String(id), before: 'shard: x, action_shard: absent' },
    ]);
  });

  it('is told as it was sealed where it is deleted, and as it is, too, where it is changed', async () => {
    const { trail, ids, window } = await sealedTrail(8);
    const [, , deleted = 0, changed = 0] = ids;
    const [before, lost] = [lineIn(trail, changed), lineIn(trail, deleted)];
    trail.source.items.delete(deleted);
    change(trail, changed, { ip_address: '192.0.2.66' });
    const part = { since: window(2).from, until: window(5).from };

    for (const range of [{}, part]) {
      const { asked, counted } = count(trail);
      const { findings } = await verifyOf(trail, { ...counted, ...range });

      expect(findings).toEqual([
        { kind: 'deleted', subject: String(deleted), before: lost },
        { kind: 'changed', subject: String(changed), before, after: lineIn(trail, changed) },
      ]);
      expect(asked.ids).toEqual([deleted, changed]);
    }
  });

  it('may have left when its time was over, and is not looked for one by one then', async () => {
    const { trail, window } = await sealedTrail(6, { retentionDays: 30 });
    trail.source.items.clear();
    trail.now += 31 * day;
    const { asked, counted } = count(trail);

    const whole = await verifyOf(trail, counted);
    const part = await verifyOf(trail, {
      ...counted,
      since: window(2).from,
      until: window(4).from,
    });

    expect(whole).toMatchObject({ findings: [], windows: 6, entries: 5, expired: 5, unsealed: 0 });
    expect(part).toMatchObject({ findings: [], windows: 2, entries: 2, expired: 2, unsealed: 0 });
    expect(asked.ids).toEqual([]);
  });

  it('is not proven where it is older than the windows that are kept', async () => {
    const { trail, window } = await sealedTrail(8, { interval: day / 1000, archiveDays: 4 });
    for (const number of [0, 1, 2]) trail.archive.files.delete(digestName(window(number).from));

    const kept = await verifyOf(trail);
    const part = await verifyOf(trail, { since: window(3).from });

    expect(kept).toMatchObject({ findings: [], windows: 5, entries: 5, unsealed: 0, unproven: 3 });
    expect(part).toMatchObject({ findings: [], windows: 5, entries: 5, unsealed: 0, unproven: 0 });
  });
});

describe('The verification of a part', () => {
  it('reads no window besides where these have all entries of their time', async () => {
    const { trail, window } = await sealedTrail(8);
    const { asked, counted } = count(trail);

    const part = { since: window(3).from, until: window(5).from };
    const outcome = await verifyOf(trail, { ...counted, ...part });

    expect(outcome).toMatchObject({ findings: [], windows: 2, entries: 2, unsealed: 0 });
    const files = [3, 4].flatMap((i) => [digestName(window(i).from), window(i).entries.file]);
    expect(asked).toEqual({ files: expect.arrayContaining(files), ids: [] });
    expect(asked.files).toHaveLength(files.length);
  });

  it('tells hidden entries from its first time on, and none of the time after it', async () => {
    const { trail, ids, window } = await sealedTrail(8);
    const part = { since: window(3).from, until: window(5).from };
    for (const [id, created_at] of [...Object.values(part), window(6).from].entries()) {
      trail.source.items.set(id, {
        ...trail.source.items.get(ids[0] ?? 0),
        id,
        created_at,
        shard: 'x',
      });
    }

    const { findings } = await verifyOf(trail, part);

    expect(findings.map(({ kind, subject }) => [kind, subject])).toEqual([['hidden', '0']]);
  });

  /** A window without its entry, which the index shows late, so that the next but one has it. */
  const sealedLate = async () => {
    const { trail, window, seal } = await sealedTrail(3);
    const id = trail.add();
    trail.source.lagging.set(id, trail.now + 4 * minute);
    trail.replay([trail.now - 20 * minute]);
    for (let windows = 3; windows < 16; windows += 1) await seal();
    expect([window(4).entries.late, window(6).entries.late]).toEqual([1, 1]);
    const part = { since: window(4).from, until: window(5).from };
    const { asked, counted } = count(trail);
    const verify = async () => {
      const { findings } = await verifyOf(trail, { ...part, ...counted });
      return findings.filter(isFault);
    };
    const is = (kind: string) => [{ kind, subject: String(id), after: lineIn(trail, id) }];
    const [before, later, last] = [window(3), window(6), window(15)];
    return { trail, id, before, later, last, asked, verify, is };
  };

  it('finds entries of its time in later windows that sealed them late, and not in earlier ones', async () => {
    const { trail, before, last, asked, verify } = await sealedLate();
    trail.archive.files.set(digestName(last.from), Buffer.from('{}'));

    expect(await verify()).toEqual([]);

    expect(asked.files).not.toContain(digestName(before.from));
  });

  it('calls inserted what a later window has otherwise', async () => {
    const { trail, id, verify, is } = await sealedLate();
    change(trail, id, { ip_address: '192.0.2.66' });

    expect(await verify()).toEqual(is('inserted'));
  });

  it('calls unclear what a later window may have that cannot be read', async () => {
    const { trail, later, verify, is } = await sealedLate();

    trail.archive.files.delete(later.entries.file);
    expect(await verify()).toEqual(is('unclear'));

    trail.archive.files.set(digestName(later.from), Buffer.from('{}'));
    expect(await verify()).toEqual(is('unclear'));
  });

  it('looks for a late entry of another time in the table, even when its own is over', async () => {
    const { trail, window, seal } = await sealedTrail(4, { retentionDays: 30 });
    const [id = 0] = trail.replay([trail.now - 20 * minute]);
    await seal();
    await seal();
    const before = lineIn(trail, id);
    trail.now += 31 * day;

    const late = await verifyOf(trail, { since: window(5).from });
    change(trail, id, { ip_address: '192.0.2.66' });
    const changed = await verifyOf(trail, { since: window(5).from });

    expect(late.findings).toEqual([{ kind: 'late', subject: String(id) }]);
    expect(changed.findings).toEqual([
      { kind: 'late', subject: String(id) },
      { kind: 'changed', subject: String(id), before, after: lineIn(trail, id) },
    ]);
  });
});
