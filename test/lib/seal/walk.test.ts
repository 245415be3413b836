import { describe, expect, it } from 'vitest';
import {
  beginning,
  type Digest,
  digestName,
  readDigest,
  signDigest,
} from '../../../lib/seal/digest.ts';
import { lineOf } from '../../../lib/seal/line.ts';
import { forge, sealedTrail, type Trail, verifyAll, verifyOf } from '../../support/sealed-trail.ts';

/** The same findings of entries in the order of their ids. */
const byId = <F extends { readonly subject: string }>(findings: readonly F[]) =>
  findings.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));

const iso = (time: number) => new Date(time).toISOString();

/** What is found of an entry of the table, as that has it. */
const entryIs = (kind: string, { source }: Trail, id = 0) => ({
  ...{ kind, subject: String(id) },
  after: lineOf(source.items.get(id) ?? {}),
});
const nameOf = ({ from }: Digest) => digestName(from);
const spoil = ({ archive }: Trail, ...digests: Digest[]) => {
  for (const digest of digests) archive.files.set(nameOf(digest), Buffer.from('{}'));
};
const remove = ({ archive }: Trail, ...digests: Digest[]) => {
  for (const digest of digests) archive.files.delete(nameOf(digest));
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
      ...{ findings: [], windows: 4, entries: 3, expired: 0, unsealed: 1, unproven: 0 },
      newest: expect.objectContaining(window(3)),
      left: '',
      unsealedSince: iso(trail.now - 60_000),
    });
    const ofTable = [1, 2, 3, 4].map((entries) => [undefined, entries]);
    const ofWindows = [1, 2, 3, 4].map((windows) => [windows / 4, windows - 1]);
    expect(told).toEqual([...ofTable, ...ofWindows]);
  });

  it('needs no table', async () => {
    const { trail, window } = await sealedTrail(4);
    const { archive, signer } = trail;

    expect(await verifyAll({ archive, publicKey: signer.publicKey })).toMatchObject({
      ...{ findings: [], windows: 4, entries: 3, expired: 0, unsealed: 0, unproven: 0 },
      newest: window(3),
    });
  });

  it('names what is missing, from its beginning to its end, and what cannot be told of it', async () => {
    const { trail, ids, window } = await sealedTrail(12);
    remove(trail, window(2), window(3));
    remove(trail, window(7));

    const { findings } = await verifyOf(trail);

    expect(findings).toEqual([
      { kind: 'missing', subject: window(2).from, before: `until ${window(4).from}` },
      { kind: 'missing', subject: window(7).from, before: `until ${window(8).from}` },
      ...[1, 2, 6].map((entry) => entryIs('unclear', trail, ids[entry])),
    ]);
  });

  it('names the beginning where that is missing, and goes on', async () => {
    const { trail, ids, window } = await sealedTrail(4);
    remove(trail, window(0), window(1));

    const { findings, unproven } = await verifyOf(trail);

    expect(findings).toEqual([
      { kind: 'missing', subject: beginning, before: `until ${window(2).from}` },
      entryIs('unclear', trail, ids[0]),
    ]);
    expect(unproven).toBe(0);
  });

  it('names each digest that cannot be read, and no window as missing between them', async () => {
    const { trail, ids, window } = await sealedTrail(12);
    spoil(trail, window(4), window(5));

    const { findings } = await verifyOf(trail);

    expect(findings).toEqual([
      { kind: 'unreadable', subject: nameOf(window(4)) },
      { kind: 'unreadable', subject: nameOf(window(5)) },
      entryIs('unclear', trail, ids[3]),
      entryIs('unclear', trail, ids[4]),
    ]);
  });

  it('names a window that is missing before one that cannot be read', async () => {
    const { trail, ids, window } = await sealedTrail(12);
    remove(trail, window(4));
    spoil(trail, window(5));

    const { findings } = await verifyOf(trail);

    expect(findings).toEqual([
      { kind: 'unreadable', subject: nameOf(window(5)) },
      { kind: 'missing', subject: window(4).from, before: `until ${window(5).from}` },
      entryIs('unclear', trail, ids[3]),
      entryIs('unclear', trail, ids[4]),
    ]);
  });

  it.each([
    ['is missing', remove],
    ['cannot be read', spoil],
  ])('calls unclear what may have been sealed late in a window that %s', async (_, tamper) => {
    const { trail, ids, window } = await sealedTrail(16);
    tamper(trail, window(4));
    const before = forge(trail, window(2).from);
    const after = forge(trail, window(4).until);
    const timeless = forge(trail, window(4).until);
    const { created_at, ...item } = trail.source.items.get(timeless) ?? {};
    trail.source.items.set(timeless, item);

    const { findings } = await verifyOf(trail);

    expect(byId(findings.filter(({ kind }) => kind !== 'hidden').slice(1))).toEqual(
      byId([
        entryIs('unclear', trail, timeless),
        entryIs('unclear', trail, before),
        entryIs('unclear', trail, ids[3]),
        entryIs('inserted', trail, after),
      ]),
    );
  });

  it('calls unclear what a file of entries may have that is not there, and nothing else', async () => {
    const { trail, ids, window } = await sealedTrail(16);
    trail.archive.files.delete(window(4).entries.file);
    const before = forge(trail, window(3).from);
    const after = forge(trail, window(5).from);

    const { findings } = await verifyOf(trail);

    expect(byId(findings)).toEqual(
      byId([
        { kind: 'unreadable', subject: window(4).entries.file },
        entryIs('inserted', trail, before),
        entryIs('unclear', trail, ids[3]),
        entryIs('inserted', trail, after),
      ]),
    );
  });

  it('calls unclear what a file may have as late that has late entries and is not there', async () => {
    const { trail, window, seal } = await sealedTrail(4);
    const [late] = trail.replay([trail.now - 60 * 60_000]);
    const replay = [...trail.source.items.keys()].at(-1);
    for (let windows = 4; windows < 16; windows += 1) await seal();
    expect(window(5).entries.late).toBe(1);
    trail.archive.files.delete(window(5).entries.file);
    const before = forge(trail, window(2).from);
    const after = forge(trail, window(5).until);

    const { findings } = await verifyOf(trail);

    expect(byId(findings)).toEqual(
      byId([
        { kind: 'unreadable', subject: window(5).entries.file },
        entryIs('unclear', trail, late),
        entryIs('unclear', trail, before),
        entryIs('unclear', trail, replay),
        entryIs('inserted', trail, after),
      ]),
    );
  });

  it('names a digest as moved that lies under the name of another', async () => {
    const { trail, ids, window } = await sealedTrail(8);
    const { files } = trail.archive;
    files.set(nameOf(window(4)), files.get(nameOf(window(3))) ?? Buffer.of());

    const { findings } = await verifyOf(trail);

    expect(findings).toEqual([
      { kind: 'moved', subject: nameOf(window(4)) },
      entryIs('unclear', trail, ids[3]),
    ]);
  });

  it('names a digest as forked that does not follow the one before it', async () => {
    const { trail, window } = await sealedTrail(8);
    await signAgain(trail, window(3), { interval: 61 });

    const { findings } = await verifyOf(trail);

    expect(findings).toEqual([{ kind: 'forked', subject: nameOf(window(4)) }]);
  });

  it('names a digest as forked whose window begins before the end of the one before it', async () => {
    const { trail, window } = await sealedTrail(8);
    await signAgain(trail, window(3), { until: window(4).until, at: window(4).at });

    const { findings } = await verifyOf(trail);

    expect(findings).toEqual([{ kind: 'forked', subject: nameOf(window(4)) }]);
  });
});

describe('The verification of a part of the windows', () => {
  it('names what is missing at its end', async () => {
    const { trail, ids, window } = await sealedTrail(12);
    remove(trail, window(5));

    const part = { since: window(3).from, until: window(6).from };
    const { findings, windows } = await verifyOf(trail, part);

    expect(findings).toEqual([
      { kind: 'missing', subject: window(5).from, before: `until ${window(6).from}` },
      entryIs('unclear', trail, ids[4]),
    ]);
    expect(windows).toBe(2);
  });

  it('names all of a part as missing that begins with the first window', async () => {
    const { trail, ids, window } = await sealedTrail(12);
    remove(trail, window(0), window(1), window(2));

    const { findings } = await verifyOf(trail, { until: window(3).from });

    expect(findings).toEqual([
      { kind: 'missing', subject: beginning, before: `until ${window(3).from}` },
      entryIs('unclear', trail, ids[0]),
      entryIs('unclear', trail, ids[1]),
    ]);
  });

  it('names no window as missing at its end where a digest cannot be read', async () => {
    const { trail, ids, window } = await sealedTrail(12);
    spoil(trail, window(5));

    const part = { since: window(3).from, until: window(6).from };
    const { findings } = await verifyOf(trail, part);

    expect(findings).toEqual([
      { kind: 'unreadable', subject: nameOf(window(5)) },
      entryIs('unclear', trail, ids[4]),
    ]);
  });
});
