/** What somebody may do to a trail that was sealed, and what is to be found of it. */
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { toItem } from '../../lib/audit/store.ts';
import {
  type Digest,
  digestName,
  entriesName,
  readDigest,
  signDigest,
} from '../../lib/seal/digest.ts';
import { localSigner, makeKey } from '../../lib/seal/folder.ts';
import { type Item, indexKeyNames, lineOf, sha256 } from '../../lib/seal/line.ts';
import { sealWindows } from '../../lib/seal/sealer.ts';
import type { Finding } from '../../lib/seal/verification.ts';
import { makeTrail, memoryArchive, memoryTable, type Trail } from '../support/sealed-trail.ts';

const minute = 60_000;
const iso = (time: number) => new Date(time).toISOString();

/** A trail of some windows with entries, late and replayed ones, and then some without. */
const makeSound = async (): Promise<Trail> => {
  const trail = makeTrail();
  const seal = async () => {
    trail.now += minute;
    await sealWindows(trail, new Date(trail.now));
  };
  for (let window = 0; window < 8; window += 1) {
    for (const [entry, result] of (['SUCCESS', 'FAILURE', 'SUCCESS'] as const).entries()) {
      trail.add({ user_id: entry, resource_id: entry, result });
    }
    if (window === 3) trail.source.lagging.set(trail.add(), trail.now + 3 * minute);
    if (window === 5) trail.replay([trail.now - 9 * minute, trail.now - 30 * minute]);
    await seal();
  }
  for (let window = 0; window < 10; window += 1) await seal();
  return trail;
};

export const sound = await makeSound();
const ids = [...sound.source.items.keys()];
const digests = [...sound.archive.files.keys()]
  .filter((name) => name.endsWith('.digest.json'))
  .sort();
const publicKey = sound.signer.publicKey;

export const digestOf = (files: ReadonlyMap<string, Buffer>, name: string) => {
  const digest = readDigest(files.get(name) ?? Buffer.from(''), publicKey);
  if (typeof digest === 'string') throw new Error(`${name} is ${digest}`);
  return digest;
};
const entriesOf = new Map(
  digests.map((name) => [name, digestOf(sound.archive.files, name).entries.file]),
);

/** Digest and entries of the window that sealed an entry. */
export const windowOf = (id: number): readonly string[] => {
  const text = (name: string) => gunzipSync(sound.archive.files.get(name) ?? '').toString();
  const found = [...entriesOf].find(([, file]) => text(file).includes(`{"id":${id},`));
  return found ?? [];
};

export const copy = (trail: Trail): Trail => {
  const [archive, source] = [memoryArchive(), memoryTable(() => trail.now)];
  for (const [name, file] of trail.archive.files) archive.files.set(name, file);
  for (const [id, item] of trail.source.items) source.items.set(id, item);
  return { ...trail, archive, source };
};

/** What is to be found of something that was done to a trail. */
export interface Expected {
  /** By subject, the kinds of which one must be found. */
  readonly found?: Readonly<Record<string, readonly Finding['kind'][]>>;
  /** Files that are no longer as they were. */
  readonly files?: readonly string[];
  /** An entry that was changed, or taken away, or is new. */
  readonly id?: number;
}
export type Tamper = (trail: Trail) => Expected | Promise<Expected>;

/** The newest digest. */
export const last = digests.at(-1) ?? '';

const names = [...new Set([...sound.source.items.values()].flatMap((item) => Object.keys(item)))];
const notInLine: readonly string[] = indexKeyNames;

const edited = (value: unknown, at: number): unknown => {
  if (typeof value !== 'string') return value === null ? 'x' : Number(value) + 1;
  const place = at % (value.length + 1);
  const char = value[place] === 'x' ? 'y' : 'x';
  return value.slice(0, place) + char + value.slice(place + 1);
};

const anyId = fc.constantFrom(...ids);
const anyDigest = fc.constantFrom(...digests);
const anyFile = fc.constantFrom(...[...entriesOf].flat());

const editEntry = fc
  .record({ id: anyId, name: fc.constantFrom(...names), at: fc.nat(200), drop: fc.boolean() })
  .filter(({ id, name }) => name !== 'id' && Object.hasOwn(sound.source.items.get(id) ?? {}, name))
  .map(
    ({ id, name, at, drop }): Tamper =>
      ({ source }) => {
        const item = source.items.get(id);
        if (!item) return {};
        const { [name]: value, ...rest } = item;
        source.items.set(id, drop ? rest : { ...rest, [name]: edited(value, at) });
        return { id, found: { [id]: [notInLine.includes(name) ? 'hidden' : 'changed'] } };
      },
  );

const addAttribute = anyId.map(
  (id): Tamper =>
    ({ source }) => {
      const item = source.items.get(id);
      if (!item) return {};
      source.items.set(id, { ...item, note: 'new' });
      return { id, found: { [id]: ['changed'] } };
    },
);

const removeEntry = anyId.map(
  (id): Tamper =>
    ({ source }) => {
      source.items.delete(id);
      return { id, found: { [id]: ['deleted'] } };
    },
);

const insertEntry = fc.integer({ min: 20 * minute, max: 90 * minute }).map(
  (age): Tamper =>
    (trail) => {
      const before = new Set(trail.source.items.keys());
      const made = makeTrail();
      const id = made.add({ action: 'DELETE' }, trail.now - age);
      if (before.has(id)) return {};
      trail.source.items.set(id, made.source.items.get(id) as Item);
      return { id, found: { [id]: ['inserted'] } };
    },
);

/** Times that no entry can have that is not sealed yet: to come, or of another form. */
const insertUntimely = fc
  .oneof(
    fc.integer({ min: 2 * minute, max: 90 * minute }).map((ahead) => iso(sound.now + ahead)),
    fc.constantFrom('9999-12-31T23:59:59.999Z', 'zzzz', '2099', '2026-11-22T12:17:59Z', '~'),
  )
  .map(
    (created_at): Tamper =>
      ({ source }) => {
        const made = makeTrail();
        const id = made.add({ action: 'DELETE' }, sound.now + 1);
        const item = made.source.items.get(id) as ReturnType<typeof toItem>;
        const entry = { ...item, created_at };
        source.items.set(id, toItem(entry, { writeId: 'forged' }));
        return { id, found: { [id]: ['inserted'] } };
      },
  );

/** Has an entry of the past sealed as if it were of a window in which it is not. */
const sealElsewhere = fc.integer({ min: 20 * minute, max: 90 * minute }).map(
  (age): Tamper =>
    async ({ archive, source, signer, now }) => {
      const made = makeTrail();
      const id = made.add({ action: 'DELETE' }, now - age);
      if (source.items.has(id)) return {};
      const item = made.source.items.get(id) as Item;
      const { signature: _, sha256: __, ...body } = digestOf(sound.archive.files, last);
      const file = gzipSync(`${lineOf(item)}\n`);
      const hash = sha256(file).toString('hex');
      const name = entriesName(body.from, hash);
      const entries = { ...body.entries, file: name, sha256: hash, count: 1 };
      source.items.set(id, item);
      archive.files.set(name, file);
      archive.files.set(last, await signDigest({ ...body, entries }, signer));
      return { id, found: { [id]: ['misplaced'] } };
    },
);

const flipByte = fc.record({ file: anyFile, at: fc.nat(), bit: fc.nat(7) }).map(
  ({ file, at, bit }): Tamper =>
    ({ archive }) => {
      const content = Buffer.from(archive.files.get(file) ?? '');
      if (content.length === 0) return {};
      const place = at % content.length;
      content[place] = (content[place] ?? 0) ^ (1 << bit);
      archive.files.set(file, content);
      return { files: [file], found: { [file]: ['unreadable', 'wrongly signed', 'moved'] } };
    },
);

const appendGzip = anyDigest.map(
  (digest): Tamper =>
    ({ archive }) => {
      const file = entriesOf.get(digest) ?? '';
      const more = gzipSync('{"id":1,"beside":{}}\n');
      archive.files.set(file, Buffer.concat([archive.files.get(file) ?? more, more]));
      return { files: [file], found: { [file]: ['unreadable'] } };
    },
);

const removeFile = fc.constantFrom(...entriesOf.values()).map(
  (file): Tamper =>
    ({ archive }) => {
      archive.files.delete(file);
      return { files: [file], found: { [file]: ['unreadable'] } };
    },
);

const removeDigest = anyDigest.map(
  (digest): Tamper =>
    ({ archive }) => {
      archive.files.delete(digest);
      const { from } = digestOf(sound.archive.files, digest);
      const found: Expected['found'] =
        digest === last ? { [last]: ['shorter'] } : { [from]: ['missing'] };
      return { files: [digest], found };
    },
);

const removeTail = fc.integer({ min: 1, max: digests.length }).map(
  (count): Tamper =>
    ({ archive }) => {
      const files = digests.slice(-count);
      for (const digest of files) archive.files.delete(digest);
      return { files, found: { [last]: ['shorter'] } };
    },
);

/** Takes the tail away and has it sealed otherwise, by the same key; then puts the old one back. */
const fork = fc
  .record({ at: fc.integer({ min: 1, max: digests.length - 2 }), back: fc.boolean() })
  .map(
    ({ at, back }): Tamper =>
      async (trail) => {
        const [first = '', ...rest] = digests.slice(at);
        for (const digest of [first, ...rest]) trail.archive.files.delete(digest);
        await sealWindows(trail, new Date(trail.now));
        const [restored = ''] = rest;
        if (back)
          trail.archive.files.set(restored, sound.archive.files.get(restored) ?? Buffer.from(''));
        const found: Expected['found'] = back
          ? { [restored]: ['forked'] }
          : { [last]: ['shorter', 'different'] };
        return { files: digests.slice(at), found };
      },
  );

const swapDigests = fc.tuple(anyDigest, anyDigest).map(
  ([a, b]): Tamper =>
    ({ archive }) => {
      const [one, other] = [archive.files.get(a), archive.files.get(b)];
      if (a === b || !one || !other || one.equals(other)) return {};
      archive.files.set(a, other);
      archive.files.set(b, one);
      return {
        files: [a, b],
        found: {
          [a]: ['moved', 'unreadable', 'wrongly signed'],
          [b]: ['moved', 'unreadable', 'wrongly signed'],
        },
      };
    },
);

/** Lays a copy of a digest under a name that no window has. */
const copyDigest = fc.record({ digest: anyDigest, minutes: fc.integer({ min: -60, max: 60 }) }).map(
  ({ digest, minutes }): Tamper =>
    ({ archive }) => {
      const name = digestName(iso(sound.now + minutes * minute + 30_000));
      archive.files.set(name, sound.archive.files.get(digest) ?? Buffer.from(''));
      return { files: [name], found: { [name]: ['moved'] } };
    },
);

const editPair = anyDigest.map(
  (digest): Tamper =>
    async ({ archive }) => {
      const { signature, sha256: _, ...body } = digestOf(sound.archive.files, digest);
      const text = gunzipSync(sound.archive.files.get(body.entries.file) ?? '');
      if (text.length === 0) return {};
      const file = gzipSync(text.toString().replaceAll('LOGIN', 'LOGOUT'));
      const hash = sha256(file).toString('hex');
      const entries = { ...body.entries, file: entriesName(body.from, hash), sha256: hash };
      archive.files.set(entries.file, file);
      const forged = JSON.stringify({ ...body, entries, signature });
      archive.files.set(digest, Buffer.from(`${forged}\n`));
      return { files: [digest], found: { [digest]: ['wrongly signed'] } };
    },
);

const otherKey = localSigner(makeKey());
const signAgain = fc.constant<Tamper>(async ({ archive }) => {
  for (const digest of digests) {
    const { signature: _, sha256: __, ...body } = digestOf(sound.archive.files, digest);
    archive.files.set(digest, await signDigest(body, otherKey));
  }
  const found = Object.fromEntries(digests.map((digest) => [digest, ['wrongly signed' as const]]));
  return { files: digests, found };
});

/** A digest as whoever holds the key can sign it, with other lines. */
const forgeLines =
  (change: (lines: readonly string[]) => readonly string[]) =>
  (digest: string): Tamper =>
  async ({ archive, signer }) => {
    const { signature: _, sha256: __, ...body } = digestOf(sound.archive.files, digest);
    const text = gunzipSync(sound.archive.files.get(body.entries.file) ?? '').toString();
    const lines = text.split('\n').slice(0, -1);
    const changed = change(lines);
    if (changed.join() === lines.join()) return {};
    const file = gzipSync(changed.map((line) => `${line}\n`).join(''));
    const hash = sha256(file).toString('hex');
    const name = entriesName(body.from, hash);
    const count = changed.length;
    const late = changed.filter((line) => line.endsWith(',"late":true}')).length;
    const entries = { ...body.entries, file: name, sha256: hash, count, late };
    archive.files.set(name, file);
    archive.files.set(digest, await signDigest({ ...body, entries }, signer));
    return { files: [digest], found: { [name]: ['wrong'] } };
  };

/** A digest as whoever holds the key can sign it, with another statement. */
const forgeDigest =
  (change: (digest: Digest) => Partial<Digest>) =>
  (name: string): Tamper =>
  async ({ archive, signer }) => {
    const { signature: _, sha256: __, ...body } = digestOf(sound.archive.files, name);
    archive.files.set(name, await signDigest({ ...body, ...change(body) }, signer));
    return { files: [name], found: { [name]: ['wrong'] } };
  };

const future = '2099-01-01T00:00:00.000Z';
const entriesWith = (changes: Partial<Digest['entries']>) => (digest: Digest) => ({
  entries: { ...digest.entries, ...changes },
});

/** Only whoever holds the key can do that; the document says how it is found all the same. */
export const withKey = [
  anyDigest.map(forgeLines((lines) => [...lines].reverse())),
  anyDigest.map(forgeLines(([first, ...rest]) => (first ? [first, first, ...rest] : []))),
  anyDigest.map(forgeDigest(entriesWith({ count: 1000 }))),
  anyDigest.map(forgeDigest(entriesWith({ oldest: future, newest: future }))),
  anyDigest.map(forgeDigest(() => ({ until: future, at: future }))),
  anyDigest.map(forgeDigest(({ until }) => ({ from: until }))).map(
    (tamper): Tamper =>
      async (trail) => ({ files: (await tamper(trail)).files ?? [] }),
  ),
];

export const withEntries = [
  editEntry,
  editEntry,
  addAttribute,
  removeEntry,
  insertEntry,
  insertUntimely,
  sealElsewhere,
];
export const withFiles = [
  flipByte,
  flipByte,
  appendGzip,
  removeFile,
  removeDigest,
  swapDigests,
  copyDigest,
  editPair,
];
export const withAll = [removeTail, fork, signAgain];
