import { afterEach, describe, expect, it, vi } from 'vitest';
import { DomainError } from '../../../lib/errors.ts';
import { beginning, digestName, isDigestName, timeInName } from '../../../lib/seal/digest.ts';
import { logFailure, sealAndVerify } from '../../../lib/seal/round.ts';
import { digestsOf, makeTrail } from '../../support/sealed-trail.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const iso = (time: number) => new Date(time).toISOString();

const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined);
afterEach(() => logged.mockClear());
const events = () => logged.mock.calls.map(([line]) => JSON.parse(String(line)));

/** A trail on which rounds are made each minute, from the day before its time. */
const makeRounds = () => {
  const trail = makeTrail();
  const round = async (later = minute) => {
    trail.now += later;
    await sealAndVerify(trail, new Date(trail.now));
  };
  return { trail, round };
};

/** A trail of which entries leave after 30 days, and windows after 40. */
const makeKept = () => makeTrail({ interval: 3600, retentionDays: 30, archiveDays: 40 });

/** What DynamoDB and the rule of the bucket do, where a window is sealed each day. */
const leaveByRule = ({ source, archive, now }: ReturnType<typeof makeKept>): void => {
  const age = (time: unknown) => now - Date.parse(String(time));
  for (const [id, { created_at }] of source.items) {
    if (age(created_at) > 30 * day) source.items.delete(id);
  }
  for (const name of archive.files.keys()) {
    const begun = timeInName(name);
    const written = begun === beginning ? makeTrail().now : Date.parse(begun) + day;
    if (now - written > 40 * day + 2 * hour) archive.files.delete(name);
  }
};

describe('A round of the sealer', () => {
  it('says nothing of a trail that nobody touched, nor of what came late', async () => {
    const { trail, round } = makeRounds();
    for (let i = 0; i < 5; i += 1) {
      trail.add();
      if (i === 2) trail.replay([trail.now - hour]);
      await round();
    }
    await round(day);

    expect(events()).toEqual([]);
  });

  it('names in one log line what was changed within two days, by the next day at the latest', async () => {
    const { trail, round } = makeRounds();
    const id = trail.add();
    await round(3 * minute);
    await round();
    trail.source.items.set(id, { ...trail.source.items.get(id), ip_address: '192.0.2.66' });

    await round(day);

    expect(events()).toEqual([
      expect.objectContaining({
        event: 'audit-trail-broken',
        faults: 1,
        findings: [{ kind: 'changed', subject: String(id) }],
      }),
    ]);
  });

  it('counts all that it finds, and names twenty', async () => {
    const { trail, round } = makeRounds();
    const ids = Array.from({ length: 21 }, () => trail.add());
    await round(3 * minute);
    trail.source.items.clear();

    await round(day);

    const findings = ids.slice(0, 20).map((id) => ({ kind: 'deleted', subject: String(id) }));
    expect(events()).toEqual([
      { level: 'error', event: 'audit-trail-broken', faults: 21, findings },
    ]);
  });

  it('names in a young chain what was deleted, when midnight has passed', async () => {
    const trail = makeTrail({ interval: 300 });
    const midnight = Date.UTC(2026, 10, 24);
    trail.now = midnight - 2 * hour;
    const id = trail.add();
    for (trail.now += minute; trail.now <= midnight + minute; trail.now += 5 * minute) {
      if (trail.now > midnight) trail.source.items.delete(id);
      await sealAndVerify(trail, new Date(trail.now));
    }

    expect(events()).toMatchObject([
      { event: 'audit-trail-broken', findings: [{ kind: 'deleted', subject: String(id) }] },
    ]);
  });

  it('names what it has found also where it cannot verify to the end', async () => {
    const { trail, round } = makeRounds();
    const id = trail.add();
    await round(3 * minute);
    trail.add();
    await round(day);
    trail.source.items.delete(id);
    const { between } = trail.source;
    // What is read last of the last part: replays after the newest window.
    trail.source.between = async function* (from, until) {
      yield* between(from, until);
      if (until === '~') throw new Error('The store is down');
    };

    await expect(round(20 * hour)).rejects.toThrow('The store is down');

    expect(events()).toMatchObject([{ findings: [{ kind: 'deleted', subject: String(id) }] }]);
  });

  it('has nothing to verify in a time in which no window begins', async () => {
    const { trail, round } = makeRounds();
    for (let i = 0; i < 3; i += 1) await round(i * 4 * day + minute);
    trail.add();

    for (let i = 0; i < 10; i += 1) await round();

    expect(events()).toEqual([]);
  });

  it('says nothing of what has left by rule, and names what has left before its time', async () => {
    const trail = makeKept();
    const round = async () => {
      trail.add();
      trail.now += day;
      await sealAndVerify(trail, new Date(trail.now));
      leaveByRule(trail);
    };
    for (let days = 0; days < 90; days += 1) await round();
    expect(events()).toEqual([]);
    expect(trail.archive.files.size).toBeLessThan(90);

    const early = [...trail.source.items.keys()].at(-1) ?? 0;
    trail.source.items.delete(early);
    await round();

    expect(events()).toMatchObject([{ findings: [{ kind: 'deleted', subject: String(early) }] }]);
  });

  it('seals past a digest that no sealer signed, and names it each time', async () => {
    const { trail, round } = makeRounds();
    const subject = '20991231T000000000Z.digest.json';
    await round();
    trail.archive.files.set(subject, Buffer.from('{}'));

    for (let i = 0; i < 2; i += 1) await round();

    const broken = { event: 'audit-trail-broken', faults: 1, findings: [{ subject }] };
    expect(events()).toMatchObject([broken, broken]);
    expect(trail.archive.files.size).toBe(7);
  });

  it('counts all digests that no sealer signed, and names twenty', async () => {
    const { trail, round } = makeRounds();
    await round();
    const names = Array.from({ length: 21 }, (_, i) =>
      digestName(iso(Date.UTC(2099, 0, 1) + i * day)),
    );
    for (const name of names) trail.archive.files.set(name, Buffer.from('{}'));

    await round();

    const findings = names.toReversed().map((subject) => ({ kind: 'unreadable', subject }));
    expect(events()).toEqual([
      {
        level: 'error',
        event: 'audit-trail-broken',
        faults: 21,
        findings: findings.slice(0, 20),
      },
    ]);
  });

  it.each([
    ['whose beginning has left', makeKept, 41],
    ['that has all of them', () => makeTrail({ interval: 3600 }), 50],
  ] as const)('reads few of the windows of an archive %s', async (_, make, windows) => {
    const trail = { archiveDays: 0, ...make() };
    const read = new Set<string>();
    const { open } = trail.archive;
    trail.archive.open = async (name) => {
      if (isDigestName(name)) read.add(name);
      return open(name);
    };
    const sizes: number[] = [];
    for (let days = 0; days < 50; days += 1) {
      trail.now += day;
      read.clear();
      await sealAndVerify(trail, new Date(trail.now));
      sizes.push(read.size);
      if (trail.archiveDays > 0) leaveByRule(trail);
    }

    expect([...trail.archive.files.keys()].filter(isDigestName)).toHaveLength(windows);
    expect(Math.max(...sizes.slice(-31))).toBeLessThan(10);
  });

  it('checks, when it is the second, what the first has sealed', async () => {
    const { trail, round } = makeRounds();
    const id = trail.add();
    trail.source.items.set(id, { ...trail.source.items.get(id), action_shard: 'x' });

    for (let rounds = 0; rounds < 2; rounds += 1) await round(2 * minute);

    expect(events()).toMatchObject([
      { faults: 1, findings: [{ kind: 'hidden', subject: String(id) }] },
    ]);
  });

  it('checks all within thirty days, past a digest that is missing, and says how far it is', async () => {
    const trail = makeTrail({ interval: 6 * 3600 });
    const ids: number[] = [];
    const round = async () => {
      ids.push(trail.add());
      trail.now += 6 * hour;
      await sealAndVerify(trail, new Date(trail.now));
    };
    for (let i = 0; i < 20; i += 1) await round();
    trail.archive.files.delete(digestName(digestsOf(trail)[4]?.from ?? ''));
    trail.source.items.delete(ids[6] ?? 0);

    for (let rounds = 0; rounds < 4 * 31; rounds += 1) await round();

    const found = events().flatMap(({ findings = [] }) => findings);
    expect(found).toContainEqual({ kind: 'deleted', subject: String(ids[6]) });
    const { verified, until } = digestsOf(trail).at(-1) ?? {};
    expect(verified).toMatchObject({ faults: expect.any(Number) });
    expect((verified?.until ?? '') < (until ?? '')).toBe(true);
  });

  it('says so when it cannot go on, because the newest digest is not as it was', async () => {
    const { trail, round } = makeRounds();
    await round();
    const name = digestName('0000-01-01T00:00:00.000Z');
    trail.archive.files.set(name, Buffer.from('{}'));

    await round().catch(logFailure);

    expect(events()).toMatchObject([
      { event: 'audit-trail-broken', findings: [{ subject: name }] },
    ]);
  });
});

describe('A round that fails', () => {
  it('is logged with what failed, and no more of the message than may be told', () => {
    const cause = Object.assign(new Error('Rate exceeded'), {
      name: 'ThrottlingException',
      $fault: 'client',
    });

    logFailure(new DomainError('STORAGE_FAULT', { cause }));
    logFailure(new Error('what an entry says'));

    const stack = expect.any(Array);
    const failed = { level: 'error', event: 'audit-seal-failed', stack };
    expect(events()).toEqual([
      { ...failed, fault: 'ThrottlingException', message: 'Rate exceeded' },
      { ...failed, fault: 'Error' },
    ]);
  });
});
