import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { faultName } from '../../../lib/errors.ts';
import { BrokenTrail, linesOf, notAsSealed, readEntriesFile } from '../../../lib/seal/archive.ts';
import { digestName, entriesName } from '../../../lib/seal/digest.ts';
import { hashOf, sha256 } from '../../../lib/seal/line.ts';
import { readTrail } from '../../../lib/seal/read.ts';
import { sealWindows } from '../../../lib/seal/sealer.ts';
import { forge, makeTrail, sealedTrail, type Trail } from '../../support/sealed-trail.ts';

const minute = 60_000;
const iso = (time: number) => new Date(time).toISOString();

/** Seals what is over so many milliseconds later. */
const sealLater = (trail: Trail, later = minute) => {
  trail.now += later;
  return sealWindows(trail, new Date(trail.now));
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
    ['is the end of', '2026-11-22T12:01:00.000Z'],
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

describe('A window', () => {
  it('has each entry once, those of its time first, and says of which times they are', async () => {
    const { trail, window, seal } = await sealedTrail(12);
    const replayed = trail.replay([trail.now - 30 * minute, trail.now - 40 * minute]);
    const replay = [...trail.source.items.keys()].at(-1);
    await seal();
    await seal();

    const sealed = await sealedBy(trail);

    const onTime = [...trail.source.items.keys()].filter((id) => !replayed.includes(id));
    expect(sealed.filter(([, late]) => !late).map(([id]) => id)).toEqual(onTime);
    expect(sealed.slice(-3)).toEqual([
      [replay, false],
      [replayed[1], true],
      [replayed[0], true],
    ]);
    const at = window(13).from;
    expect(window(13).entries).toMatchObject({ count: 3, late: 2, newest: at });
    expect(window(13).entries.oldest).toBe(iso(Date.parse(at) - 40 * minute));
    expect(window(0).entries).toMatchObject({ count: 0, late: 0, oldest: null, newest: null });
  });

  it('says how new an entry is whose time lies after it', async () => {
    const { trail, window, seal } = await sealedTrail(2);
    const created_at = '2027-01-01T00:00:00.000Z';
    change(trail, trail.add(), { created_at });
    const oldest = iso(trail.now);
    trail.add();
    await seal();
    await seal();

    expect(window(3).entries).toMatchObject({ count: 2, late: 1, oldest, newest: created_at });
  });

  it('seals as late what came to the time that is read once more, and nothing older', async () => {
    const { trail, window, seal } = await sealedTrail(12);
    const bound = Date.parse(window(11).at) - 6 * minute;
    const [, late] = [forge(trail, iso(bound - 1)), forge(trail, iso(bound))];
    await seal();
    await seal();

    const sealed = await sealedBy(trail);

    expect(sealed.filter(([, isLate]) => isLate)).toEqual([[late, true]]);
  });

  it('seals once more what it reads of the time of a window that cannot be read', async () => {
    const { trail, ids, window, seal } = await sealedTrail(12);
    trail.archive.files.set(digestName(window(9).from), Buffer.from('{}'));
    await seal();

    const content = await readEntriesFile(trail.archive, window(12));

    const late: unknown[] = [];
    for await (const line of content ? linesOf(content) : []) if (line.late) late.push(line.id);
    expect(late).toEqual(ids.slice(6, 9));
  });

  it('seals nothing of the time of the first one, which has all that was there', async () => {
    const { trail, window, seal } = await sealedTrail(2);
    const old = iso(Date.parse(window(1).from) - 24 * 60 * minute);
    forge(trail, old);
    const { length } = await sealedBy(trail);

    for (let windows = 2; windows < 10; windows += 1) await seal();

    expect((await sealedBy(trail)).slice(length).filter(([, late]) => late)).toEqual([]);
  });
});

describe('An entry that a replay lists', () => {
  /** A replay, sealed, which lists an entry of some time; and whether that was sealed. */
  const listed = async (later: number, changes: object = {}) => {
    const { trail, seal } = await sealedTrail(2);
    const [id = 0] = trail.replay([trail.now + later]);
    change(trail, id, changes);
    const sealed = async () => (await sealedBy(trail)).filter(([each]) => each === id);
    await seal();
    await seal();
    return { id, seal, sealed };
  };

  it('is sealed in its own window, where that is the one of the replay', async () => {
    const { id, sealed } = await listed(0);

    expect(await sealed()).toEqual([[id, false]]);
  });

  it('is sealed in its own window, where that comes after the one of the replay', async () => {
    const { id, seal, sealed } = await listed(minute);

    expect(await sealed()).toEqual([]);
    await seal();
    expect(await sealed()).toEqual([[id, false]]);
  });

  it.each([
    ['before', ['0'.repeat(64), '']],
    ['after', ['', '0'.repeat(64)]],
  ])('is sealed where the replay lists another hash of it %s the right one', async (_, others) => {
    const { trail, seal } = await sealedTrail(2);
    const id = trail.add({}, trail.now - 30 * minute);
    const right = hashOf(trail.source.items.get(id) ?? {});
    const entries = others.map((other) => ({ id, sha256: other || right }));
    trail.add({ action: 'CREATE', resource: 'audit-logs', details: { entries } });

    await seal();
    await seal();

    expect(await sealedBy(trail)).toContainEqual([id, true]);
  });

  it('is not sealed where it is not what the replay wrote', async () => {
    const { sealed } = await listed(-30 * minute, { ip_address: '192.0.2.66' });

    expect(await sealed()).toEqual([]);
  });
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
      await sealWindows(trail, new Date(trail.now + minute));
      return create(name, content);
    };

    expect(await sealLater(trail)).toBeUndefined();
    expect(await sealLater(trail, 9 * minute)).toMatchObject({
      from: expect.stringMatching('^2026'),
    });
  });

  it('is its own where the response to the write was lost', async () => {
    const trail = makeTrail();
    const { create } = trail.archive;
    trail.archive.create = async (name, content) => (await create(name, content)) && false;

    const digest = await sealLater(trail);

    expect(digest).toMatchObject({ from: '0000-01-01T00:00:00.000Z', previous: null });
    expect([...trail.archive.files.keys()]).toEqual([
      digest?.entries.file,
      digestName(digest?.from ?? ''),
    ]);
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
    await sealLater(trail);
    const newest = await sealLater(trail);
    for (const name of [...junk, 'public-key.pem']) {
      trail.archive.files.set(name, Buffer.from('{}'));
    }
    const told: string[] = [];
    trail.now += minute;

    const next = await sealWindows(trail, new Date(trail.now), (names) => told.push(...names));

    expect(next?.from).toBe(newest?.until);
    expect(told.sort()).toEqual(junk);
  });

  it('writes nothing where a digest lies that comes next and that no sealer signed', async () => {
    const trail = makeTrail();
    const first = await sealLater(trail);
    const [next, later] = [digestName(first?.until ?? ''), '20991231T000000000Z.digest.json'];
    for (const name of [next, later]) trail.archive.files.set(name, Buffer.from('{}'));
    const { size } = trail.archive.files;
    const told: string[] = [];
    trail.add();
    trail.now += 5 * minute;

    const sealing = sealWindows(trail, new Date(trail.now), (names) => told.push(...names));

    await expect(sealing).rejects.toThrow(notAsSealed(next));
    expect(told).toEqual([later]);
    expect(trail.archive.files.size).toBe(size);
  });

  it('goes past a thousand digests that no sealer signed, and not past more', async () => {
    const trail = makeTrail();
    await sealLater(trail);
    const junk = Array.from({ length: 1001 }, (_, i) =>
      digestName(iso(Date.UTC(2099, 0, 1) + i * minute)),
    );
    const [first = '', ...others] = junk;
    for (const name of others) trail.archive.files.set(name, Buffer.from('{}'));

    expect(await sealLater(trail)).toBeDefined();

    trail.archive.files.set(first, Buffer.from('{}'));
    await expect(sealLater(trail)).rejects.toThrow(notAsSealed(junk.at(-1) ?? ''));
  });

  it('begins a chain though a digest of a time to come lies there that no sealer signed', async () => {
    const trail = makeTrail();
    trail.archive.files.set(digestName(iso(trail.now + 1)), Buffer.from('{}'));

    expect(await sealLater(trail, 0)).toMatchObject({ previous: null });
  });

  it.each([
    ['now', 0],
    ['before', -1],
  ])('begins no chain where a digest of %s lies there that no sealer signed', async (_, later) => {
    const trail = makeTrail();
    const name = digestName(iso(trail.now + later));
    trail.archive.files.set(name, Buffer.from('{}'));

    await expect(sealLater(trail, 0)).rejects.toThrow(notAsSealed(name));
  });

  it('has nothing to do before the next window is over', async () => {
    const trail = makeTrail();
    const newest = await sealLater(trail);
    const until = Date.parse(newest?.until ?? '');
    const at = (time: number) => sealWindows(trail, new Date(time));

    expect(await at(until + 2 * minute - 1)).toBeUndefined();
    expect(await at(until)).toBeUndefined();
    await expect(at(until - 1)).rejects.toSatisfy((error) => faultName(error) === 'ClockBehind');
    expect(await at(until + 2 * minute)).toMatchObject({ from: newest?.until });
  });

  it('looks at the files of the last days only', async () => {
    const trail = makeTrail({ interval: 3600 });
    const halfDay = 12 * 60 * minute;
    for (let windows = 0; windows < 20; windows += 1) await sealLater(trail, halfDay);
    const { list } = trail.archive;
    const listed = new Set<string>();
    trail.archive.list = async function* (from) {
      for await (const file of list(from)) {
        listed.add(file.name);
        yield file;
      }
    };

    await sealLater(trail, halfDay);

    expect(trail.archive.files.size).toBe(42);
    expect(listed.size).toBeLessThan(12);
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

  it('remembers the newest digest that it has found, also where there is nothing to seal', async () => {
    const trail = makeTrail();
    const first = await sealLater(trail);
    const another = { ...trail, memory: {} };
    expect(await sealWindows(another, new Date(trail.now))).toBeUndefined();
    trail.archive.files.clear();

    await expect(sealWindows(another, new Date(trail.now + minute))).rejects.toThrow(
      new BrokenTrail(`${digestName(first?.from ?? '')} is not there any more`),
    );
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
