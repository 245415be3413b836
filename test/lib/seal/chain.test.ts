import { describe, expect, it } from 'vitest';
import {
  beginning,
  type Digest,
  digestName,
  readDigest,
  signDigest,
} from '../../../lib/seal/digest.ts';
import { lineOf } from '../../../lib/seal/line.ts';
import type { Finding } from '../../../lib/seal/verification.ts';
import { forge, sealedTrail, type Trail, verifyAll, verifyOf } from '../../support/sealed-trail.ts';

type Sealed = Awaited<ReturnType<typeof sealedTrail>>;

/** The same findings of entries in the order of their ids. */
const bySubject = (findings: readonly Finding[]) =>
  findings.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));

/** What is found of an entry of the table, as that has it. */
const entryIs = (kind: Finding['kind'], { source }: Trail, id = 0): Finding => ({
  kind,
  subject: String(id),
  after: lineOf(source.items.get(id) ?? {}),
});
const nameOf = ({ from }: Digest) => digestName(from);
const spoil = ({ trail, window }: Sealed, ...windows: number[]) => {
  for (const each of windows) trail.archive.files.set(nameOf(window(each)), Buffer.from('{}'));
};
const remove = ({ trail, window }: Sealed, ...windows: number[]) => {
  for (const each of windows) trail.archive.files.delete(nameOf(window(each)));
};

/** Signs another digest of a window, as only the holder of the key can. */
const signAgain = async ({ archive, signer }: Trail, digest: Digest, changes: Partial<Digest>) => {
  const name = nameOf(digest);
  const read = readDigest(archive.files.get(name) ?? Buffer.of(), signer.publicKey);
  if (typeof read === 'string') throw new Error(`${name} is ${read}`);
  const { signature, sha256, ...unsigned } = read;
  archive.files.set(name, await signDigest({ ...unsigned, ...changes }, signer));
};

describe('The verification of a chain of windows', () => {
  it('tells how much was verified, and how far it is', async () => {
    const { trail, window } = await sealedTrail(4);
    const told: unknown[] = [];

    const outcome = await verifyOf(trail, { progress: (...done) => told.push(done) });

    expect(outcome).toEqual({
      findings: [],
      windows: 4,
      entries: 3,
      expired: 0,
      unsealed: 1,
      unproven: 0,
      newest: expect.objectContaining(window(3)),
      left: '',
      unsealedSince: new Date(trail.now - 60_000).toISOString(),
    });
    const ofTable = [1, 2, 3, 4].map((entries) => [undefined, entries]);
    const ofWindows = [1, 2, 3, 4].map((windows) => [windows / 4, windows - 1]);
    expect(told).toEqual([...ofTable, ...ofWindows]);
  });

  it('needs no table', async () => {
    const { trail, window } = await sealedTrail(4);
    const { archive, signer } = trail;

    expect(await verifyAll({ archive, publicKey: signer.publicKey })).toMatchObject({
      findings: [],
      windows: 4,
      entries: 3,
      expired: 0,
      unsealed: 0,
      unproven: 0,
      newest: window(3),
    });
  });
});

/** What is to be found of windows; entry N is in window N + 1. */
const missing = ({ window }: Sealed, from: number, until: number): Finding => {
  const before = `until ${window(until).from}`;
  return { kind: 'missing', subject: from === 0 ? beginning : window(from).from, before };
};
const digestIs = (kind: Finding['kind'], { window }: Sealed, number: number): Finding => ({
  kind,
  subject: nameOf(window(number)),
});
const unclear = ({ trail, ids }: Sealed, ...entries: number[]): Finding[] =>
  entries.map((entry) => entryIs('unclear', trail, ids[entry]));

interface Case {
  readonly tamper: (sealed: Sealed) => unknown;
  readonly found: (sealed: Sealed) => readonly Finding[];
  readonly part?: (sealed: Sealed) => { readonly since?: string; readonly until: string };
}

/** From the first of some windows until one after them. */
const part =
  (first: number, after: number) =>
  ({ window }: Sealed) => ({ since: window(first).from, until: window(after).from });

const cases: Readonly<Record<string, Case>> = {
  'windows that are missing, from their beginning to their end': {
    tamper: (sealed) => remove(sealed, 2, 3, 7),
    found: (sealed) => [missing(sealed, 2, 4), missing(sealed, 7, 8), ...unclear(sealed, 1, 2, 6)],
  },
  'the beginning where that is missing': {
    tamper: (sealed) => remove(sealed, 0, 1),
    found: (sealed) => [missing(sealed, 0, 2), ...unclear(sealed, 0)],
  },
  'each digest that cannot be read, and no window as missing between them': {
    tamper: (sealed) => spoil(sealed, 4, 5),
    found: (sealed) => [
      digestIs('unreadable', sealed, 4),
      digestIs('unreadable', sealed, 5),
      ...unclear(sealed, 3, 4),
    ],
  },
  'a window that is missing before one that cannot be read': {
    tamper: (sealed) => {
      remove(sealed, 4);
      spoil(sealed, 5);
    },
    found: (sealed) => [
      digestIs('unreadable', sealed, 5),
      missing(sealed, 4, 5),
      ...unclear(sealed, 3, 4),
    ],
  },
  'a digest as moved that lies under the name of another': {
    tamper: ({ trail, window }) => {
      const { files } = trail.archive;
      files.set(nameOf(window(4)), files.get(nameOf(window(3))) ?? Buffer.of());
    },
    found: (sealed) => [digestIs('moved', sealed, 4), ...unclear(sealed, 3)],
  },
  'a digest as forked that does not follow the one before it': {
    tamper: ({ trail, window }) => signAgain(trail, window(3), { interval: 61 }),
    found: (sealed) => [digestIs('forked', sealed, 4)],
  },
  'a digest as forked whose window begins before the end of the one before it': {
    tamper: ({ trail, window }) =>
      signAgain(trail, window(3), { until: window(4).until, at: window(4).at }),
    found: (sealed) => [digestIs('forked', sealed, 4)],
  },
  'what is missing at the end of a part': {
    tamper: (sealed) => remove(sealed, 5),
    part: part(3, 6),
    found: (sealed) => [missing(sealed, 5, 6), ...unclear(sealed, 4)],
  },
  'what is missing at the end of a part and beyond': {
    tamper: (sealed) => remove(sealed, 5, 6),
    part: part(3, 6),
    found: (sealed) => [missing(sealed, 5, 7), ...unclear(sealed, 4, 5)],
  },
  'nothing of what is missing after a part': {
    tamper: (sealed) => remove(sealed, 5, 8),
    part: part(3, 6),
    found: (sealed) => [missing(sealed, 5, 6), ...unclear(sealed, 4)],
  },
  'all of a part as missing that begins with the first window': {
    tamper: (sealed) => remove(sealed, 0, 1, 2),
    part: ({ window }) => ({ until: window(3).from }),
    found: (sealed) => [missing(sealed, 0, 3), ...unclear(sealed, 0, 1)],
  },
  'no window as missing at the end of a part where a digest cannot be read': {
    tamper: (sealed) => spoil(sealed, 5),
    part: part(3, 6),
    found: (sealed) => [digestIs('unreadable', sealed, 5), ...unclear(sealed, 4)],
  },
  'nothing at the end of a part where junk of a time to come follows': {
    tamper: ({ trail }) =>
      trail.archive.files.set('20991231T000000000Z.digest.json', Buffer.from('{}')),
    part: ({ window }) => ({ since: window(3).from, until: '2026-11-23T00:00:00.000Z' }),
    found: () => [],
  },
};

describe('The verification of windows names', () => {
  it.each(Object.entries(cases))('%s', async (_, { tamper, found, part }) => {
    const sealed = await sealedTrail(12);
    await tamper(sealed);

    const { findings } = await verifyOf(sealed.trail, part?.(sealed));

    expect(findings).toEqual(found(sealed));
  });
});

describe('What may have been sealed late', () => {
  const findingsOf = async (trail: Trail) =>
    bySubject((await verifyOf(trail)).findings.filter(({ kind }) => kind !== 'hidden'));

  it.each([
    ['is missing', remove],
    ['cannot be read', spoil],
  ])('is unclear where it is of before a window that %s', async (_, tamper) => {
    const sealed = await sealedTrail(16);
    const { trail, window } = sealed;
    tamper(sealed, 4);
    const before = forge(trail, window(2).from);
    const after = forge(trail, window(4).until);
    const timeless = forge(trail, window(4).until);
    const { created_at, ...item } = trail.source.items.get(timeless) ?? {};
    trail.source.items.set(timeless, item);

    const found = await findingsOf(trail);

    const entries = found.filter(({ subject }) => /^\d+$/.test(subject));
    expect(entries).toEqual(
      bySubject([
        ...unclear(sealed, 3),
        ...[timeless, before].map((id) => entryIs('unclear', trail, id)),
        entryIs('inserted', trail, after),
      ]),
    );
    expect(found).toHaveLength(entries.length + 1);
  });

  it('is not unclear where a file of entries without late ones is not there', async () => {
    const sealed = await sealedTrail(16);
    const { trail, window } = sealed;
    const { file } = window(4).entries;
    trail.archive.files.delete(file);
    const others = [forge(trail, window(3).from), forge(trail, window(5).from)];

    expect(await findingsOf(trail)).toEqual(
      bySubject([
        { kind: 'unreadable', subject: file },
        ...unclear(sealed, 3),
        ...others.map((id) => entryIs('inserted', trail, id)),
      ]),
    );
  });

  it('is unclear where a file of entries with late ones is not there', async () => {
    const { trail, window, seal } = await sealedTrail(4);
    const [late] = trail.replay([trail.now - 60 * 60_000]);
    const replay = [...trail.source.items.keys()].at(-1);
    for (let windows = 4; windows < 16; windows += 1) await seal();
    const { file } = window(5).entries;
    expect(window(5).entries.late).toBe(1);
    trail.archive.files.delete(file);
    const before = forge(trail, window(2).from);
    const after = forge(trail, window(5).until);

    expect(await findingsOf(trail)).toEqual(
      bySubject([
        { kind: 'unreadable', subject: file },
        ...[late, before, replay].map((id) => entryIs('unclear', trail, id)),
        entryIs('inserted', trail, after),
      ]),
    );
  });
});

describe('What may have left the archive', () => {
  const days = 24 * 60 * 60_000;
  const keptForDays = () => sealedTrail(10, { interval: 86_400, archiveDays: 4 });

  it('is not missing from a part, though only a digest after it says so', async () => {
    const sealed = await keptForDays();
    remove(sealed, 0, 1, 2);
    sealed.trail.source.items.clear();

    const { findings } = await verifyOf(sealed.trail, { until: sealed.window(4).from });

    expect(findings.filter(({ kind }) => kind === 'missing')).toEqual([]);
  });

  it('is not missing where the newest digest allows it by now', async () => {
    const sealed = await keptForDays();
    const { trail, window } = sealed;
    const left = Date.parse(window(9).at) - 4 * days;
    const numbers = Array.from({ length: 10 }, (_, number) => number);
    const leaving = numbers.filter((number) => Date.parse(window(number).until) <= left + 2 * days);
    remove(sealed, ...leaving);

    const before = await verifyOf(trail);
    trail.now += 2 * days;
    const after = await verifyOf(trail);

    const missing = ({ kind }: Finding) => kind === 'missing';
    expect(before.findings.filter(missing)).toHaveLength(1);
    expect(after.findings.filter(missing)).toEqual([]);
  });

  it('may be marked as deleted, also in a part that says nothing of it', async () => {
    const { trail, window } = await keptForDays();
    const [gone, kept] = [nameOf(window(2)), nameOf(window(8))];
    const { list } = trail.archive;
    trail.archive.list = async function* (from) {
      for await (const file of list(from)) {
        yield { ...file, altered: [gone, kept].includes(file.name) };
      }
    };

    const whole = await verifyOf(trail);
    const part = await verifyOf(trail, { until: window(4).from });

    expect(whole.findings).toEqual([{ kind: 'altered', subject: kept }]);
    expect(part.findings).toEqual([]);
  });
});
