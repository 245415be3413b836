/** Archives of which the document of the seal says whether they are intact, with whoever has the key. */
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { AuditEntry } from '../../lib/audit/entry.ts';
import { indexKeys } from '../../lib/audit/store.ts';
import { digestName, entriesName, type SignedDigest } from '../../lib/seal/digest.ts';
import { localSigner, makeKey } from '../../lib/seal/folder.ts';
import { hashOf, type Item, indexKeyNames, sha256 } from '../../lib/seal/line.ts';
import { findStart, sealFrom, sealWindows } from '../../lib/seal/sealer.ts';
import { digestsOf, makeTrail, type Trail } from '../support/sealed-trail.ts';
import { copy, sound } from './tampering.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** Three windows: two of entries that have left the table, one of them late, and one until today. */
const makeOld = async (archiveDays: number): Promise<Trail> => {
  const made = makeTrail({ interval: 3600, retentionDays: 30, archiveDays });
  const trail = Object.assign(made, { signer: sound.signer, now: sound.now - 40 * day });
  const seal = (after: number) => {
    trail.now += after;
    return sealWindows(trail, new Date(trail.now));
  };
  trail.add();
  trail.add();
  trail.source.lagging.set(trail.add(), trail.now + 3 * hour);
  await seal(2 * hour);
  trail.add();
  trail.add();
  await seal(2 * hour);
  await seal(sound.now - trail.now);
  trail.source.items.clear();
  return trail;
};
const kept = await makeOld(0);
const leaving = await makeOld(30);

type Changes = Readonly<Record<string, unknown>>;
interface Change {
  /** Of the lines of its entries. */
  readonly text?: (text: string) => string | Buffer;
  readonly gzip?: (file: Buffer) => Buffer;
  readonly entries?: Changes;
  readonly digest?: Changes;
  /** Of the digest as it is signed. */
  readonly unsigned?: (text: string) => string;
}

/** A digest as it is signed, with what is changed of its window. */
const changeWindow = ({ archive }: Trail, body: object, change: Change): string => {
  const { from, entries } = body as SignedDigest;
  const { text, gzip = (same) => same, unsigned = (same) => same } = change;
  const before = archive.files.get(entries.file) ?? Buffer.from('');
  const file = gzip(text ? gzipSync(text(gunzipSync(before).toString())) : before);
  const hash = sha256(file).toString('hex');
  const named = { file: entriesName(from, hash), sha256: hash };
  archive.files.set(named.file, file);
  const changed = { ...body, entries: { ...entries, ...named, ...change.entries } };
  return unsigned(JSON.stringify({ ...changed, ...change.digest }));
};

/** Signs the chain again, with one window changed. */
const signAgain = (at: number, change: Change) => async (trail: Trail) => {
  let previous: unknown = null;
  for (const [i, { signature: _, sha256: __, ...body }] of digestsOf(trail).entries()) {
    const linked = { ...body, previous };
    const line = i === at ? changeWindow(trail, linked, change) : JSON.stringify(linked);
    const signature = Buffer.from(await trail.signer.sign(sha256(line))).toString('hex');
    const content = Buffer.from(`${line.slice(0, -1)},"signature":"${signature}"}\n`);
    const file = digestName(body.from);
    trail.archive.files.set(file, content);
    previous = { file, sha256: sha256(content).toString('hex'), signature };
  }
};

/** A run that was ended after the first of several windows: two of three entries are not sealed. */
const makeInterrupted = async (): Promise<Trail> => {
  const trail = Object.assign(makeTrail(), { signer: sound.signer, now: sound.now - day });
  for (let entry = 0; entry < 3; entry += 1) {
    trail.add();
    trail.now += hour;
  }
  trail.now = sound.now;
  const sealing = { ...trail, windowSize: 1 };
  await sealFrom(sealing, await findStart(sealing, new Date(trail.now)), { isOver: () => true });
  return trail;
};

export interface FormatCase {
  readonly title: string;
  /** But for index keys. */
  readonly isIntact: boolean;
  /** Whether index keys are wrong. */
  readonly isHidden?: boolean;
  readonly trail: Trail;
  readonly change?: (trail: Trail) => Promise<void> | void;
  /** What is done to the folder of the archive. @param digests names, in order */
  readonly onDisk?: (folder: string, digests: readonly string[]) => void;
}

const signed = (title: string, isIntact: boolean, at: number, change: Change): FormatCase => ({
  title,
  isIntact,
  trail: kept,
  change: signAgain(at, change),
});

/** @param line with which the first line of a window is replaced */
const firstLine = (title: string, isIntact: boolean, edit: (line: string) => string) =>
  signed(`a line with ${title}`, isIntact, 1, {
    text: (text) => text.replace(/^.*\n/, (line) => `${edit(line.slice(0, -1))}\n`),
  });
const value = (written: string, isIntact: boolean) =>
  firstLine(`the value ${written}`, isIntact, (line) =>
    line.replace('"user_agent":null', () => `"user_agent":${written}`),
  );
const time = (written: string, isIntact: boolean) =>
  signed(`the time ${written}`, isIntact, 2, {
    digest: {
      verified: {
        from: '0000-01-01T00:00:00.000Z',
        until: written,
        at: '0000-01-01T00:00:00.000Z',
        faults: 0,
      },
    },
  });
const member = (written: string, isIntact: boolean, from: string) =>
  signed(`a digest with ${written}`, isIntact, 2, {
    unsigned: (text) => text.replace(from, () => written),
  });
const reversed = (text: string, count: number) => {
  const lines = text.split('\n').slice(0, -1);
  return `${[...lines.slice(0, count).reverse(), ...lines.slice(count)].join('\n')}\n`;
};
const stray = (name: string, isIntact: boolean): FormatCase => ({
  title: `a stray file ${name}`,
  isIntact,
  trail: kept,
  onDisk: (folder) => writeFileSync(join(folder, name), '{}\n'),
});

/** Puts something else in the place of a file. */
const inPlace = {
  'a folder': (path: string) => mkdirSync(path),
  'an empty file': (path: string) => writeFileSync(path, ''),
  'a named pipe': (path: string) => execFileSync('mkfifo', [path]),
  'a link to itself': (path: string) => symlinkSync(path, path),
  'a link to nothing': (path: string) => symlinkSync(`${path}.nothing`, path),
  'a link to a folder': (path: string) => symlinkSync(dirname(path), path),
  'a link to zeros without end': (path: string) => symlinkSync('/dev/zero', path),
  nothing: () => {},
  'another text': (path: string) => writeFileSync(path, '{}\n'),
};
const replaced = Object.entries(inPlace).flatMap(([what, put]) =>
  [kept, leaving].map(
    (trail, i): FormatCase => ({
      title: `${what} in place of the ${i ? 'digest of a window that may be gone' : 'digest'}`,
      isIntact: i === 1,
      trail,
      onDisk: (folder, digests) => {
        rmSync(join(folder, digests[0] ?? ''));
        put(join(folder, digests[0] ?? ''));
      },
    }),
  ),
);
const replacedEntries = Object.entries(inPlace).flatMap(([what, put]) =>
  [kept, leaving].map(
    (trail, i): FormatCase => ({
      title: `${what} in place of entries ${i ? 'that may be gone' : ''}`,
      isIntact: i === 1,
      trail,
      onDisk: (folder) => {
        const name = digestsOf(trail)[0]?.entries.file ?? '';
        rmSync(join(folder, name));
        put(join(folder, name));
      },
    }),
  ),
);

/** An item with the index keys that its fields make. */
export const withKeys = (item: Item): Item => {
  const others = Object.entries(item).filter(([name]) => !indexKeyNames.includes(name));
  const entry = { user_id: null, resource_id: null, ...item } as unknown as AuditEntry;
  return { ...Object.fromEntries(others), ...indexKeys(entry) };
};

/** @param at milliseconds @param fields of an entry that the table has besides, unsealed */
const entry = (
  title: string,
  isIntact: boolean,
  at: number,
  fields: Item = {},
  trail = leaving,
) => ({
  title: `an entry ${title}`,
  isIntact,
  trail,
  change: ({ source }: Trail) => {
    const made = makeTrail();
    const id = made.add({}, at);
    source.items.set(id, withKeys({ ...made.source.items.get(id), ...fields }));
  },
});

/** A replay of now that lists an entry of before. @param listing what it says of the entry's line */
const replay = (
  title: string,
  isIntact: boolean,
  listing: (id: number, hash: string) => string,
) => ({
  title: `a replay that lists ${title}`,
  isIntact,
  trail: sound,
  change: ({ source }: Trail) => {
    const made = makeTrail();
    const id = made.add({}, sound.now - 2_700_001);
    const item = made.source.items.get(id) ?? {};
    source.items.set(id, item);
    const other = made.add({ action: 'CREATE', resource: 'audit-logs' }, sound.now);
    const details = listing(id, hashOf(item));
    source.items.set(other, { ...made.source.items.get(other), details });
  },
});

/** Takes away the files of the first window. */
const withoutFirst = (each: FormatCase, what: string): FormatCase => ({
  ...each,
  title: `${each.title}, ${what} gone`,
  onDisk: (folder, [first = '']) => {
    const name = digestsOf(each.trail)[0]?.entries.file ?? '';
    rmSync(join(folder, what === 'entries' ? name : first));
  },
});
const times = ['2000-01-01T00:00:00.000Z', '2000', '2025-02-30', 7, null].map((created_at) => ({
  title: JSON.stringify(created_at),
  fields: { created_at },
  isHidden: typeof created_at !== 'string',
}));

/** @param change of an entry of now, with its keys */
const keys = (title: string, isRight: boolean, change: (item: Item) => Item): FormatCase => ({
  title: `index keys of an entry with ${title}`,
  isIntact: true,
  isHidden: !isRight,
  trail: sound,
  change: ({ source }) => {
    const made = makeTrail();
    const id = made.add({ user_id: 2, resource_id: 2, result: 'FAILURE' }, sound.now);
    source.items.set(id, change(made.source.items.get(id) ?? {}));
  },
});
const without = (item: Item, name: string): Item =>
  Object.fromEntries(Object.entries(item).filter(([each]) => each !== name));
const shown = (title: string, isIntact: boolean, put: (path: string) => void): FormatCase => ({
  title: `a public key in the archive that is ${title}`,
  isIntact,
  trail: kept,
  onDisk: (folder) => put(join(folder, 'public-key.pem')),
});
export const pemOf = ({ publicKey }: Trail['signer']) =>
  publicKey.export({ type: 'spki', format: 'pem' }).toString();

export const formatCases: readonly FormatCase[] = [
  { title: 'no change', isIntact: true, trail: kept },
  { title: 'no change, where windows may be gone', isIntact: true, trail: leaving },
  {
    title: 'entries that an interrupted run has not sealed',
    isIntact: true,
    trail: await makeInterrupted(),
  },
  firstLine('white space', false, (line) => line.replace(',', ', ')),
  firstLine('CR', false, (line) => `${line}\r`),
  firstLine('a byte order mark', false, (line) => `\ufeff${line}`),
  firstLine('its members in another order', false, (line) =>
    line.replace(/("action":[^,]*),("resource":[^,]*)/, '$2,$1'),
  ),
  firstLine('one more member', false, (line) => line.replace('"beside"', '"note":1,"beside"')),
  firstLine('a member twice', false, (line) => line.replace('{', '{"user_id":null,')),
  firstLine('late false', false, (line) => line.replace(/\}$/, ',"late":false}')),
  firstLine('nothing', false, () => ''),
  firstLine('null', false, () => 'null'),
  firstLine('an array', false, () => '[]'),
  firstLine('an index key beside', false, (line) =>
    line.replace('"beside":{', '"beside":{"shard":"0",'),
  ),
  firstLine('a field beside', false, (line) =>
    line.replace('"beside":{', '"beside":{"action":"A",'),
  ),
  firstLine('no beside', false, (line) => line.replace(/,"beside":.*/, '}')),
  firstLine('an attribute beside', true, (line) =>
    line.replace('"beside":{', '"beside":{"beside":1,'),
  ),
  firstLine('__proto__', true, (line) => line.replace('"beside":{', '"beside":{"__proto__":null,')),
  ...(['1.0', '1e3', '-0', '007', '1.5', '9007199254740992', '[1.5]'] as const).map((each) =>
    value(each, false),
  ),
  ...(['0', '-1', '9007199254740991', '"x"', '{"N":"1.5"}', '{"BOOL":true}'] as const).map((each) =>
    value(each, true),
  ),
  ...(
    ['"\\ud800"', '"\\u0000"', '"\\t"', '"\u007f"', '"\u2028"', '{"L":[{"S":"x"}]}'] as const
  ).map((each) => value(each, true)),
  ...(
    [
      '"\\uD800"',
      '"\\u0041"',
      '"\\/"',
      '"\\u0009"',
      '{"M":{"b":1,"a":1}}',
      '{"N": "1"}',
      'tru',
    ] as const
  ).map((each) => value(each, false)),
  signed('a last line that is not ended', false, 1, {
    text: (text) => `${text}{"id":1,"beside":{}}`,
  }),
  signed('bytes that are no UTF-8', false, 1, {
    text: (text) => Buffer.from(text.replace('"users"', '"\u00e9"'), 'latin1'),
  }),
  signed('an entries file of two members of gzip', true, 1, {
    gzip: (file) => Buffer.concat([file, gzipSync('')]),
  }),
  signed('zeros after the gzip', false, 1, {
    gzip: (file) => Buffer.concat([file, Buffer.alloc(8)]),
  }),
  signed('text after the gzip', false, 1, {
    gzip: (file) => Buffer.concat([file, Buffer.from('abc')]),
  }),
  signed('a gzip that is cut off', false, 1, { gzip: (file) => file.subarray(0, -4) }),
  signed('an entries file without a byte', false, 2, { gzip: () => Buffer.alloc(0) }),
  signed('lines in another order', false, 0, { text: (text) => reversed(text, 2) }),
  signed('a late line that is not the last', false, 1, { text: (text) => reversed(text, 3) }),
  signed('a late line twice', false, 1, {
    text: (text) => `${text + text.split('\n').at(-2)}\n`,
    entries: { count: 4, late: 2 },
  }),
  signed('a line that is late too', true, 1, {
    text: (text) => {
      const [first = '', second = '', late = ''] = text.split('\n');
      const again = second.replace(/\}$/, ',"late":true}');
      return `${[first, second, ...[late, again].sort()].join('\n')}\n`;
    },
    entries: { count: 4, late: 2 },
  }),
  signed('a wrong oldest', false, 1, { entries: { oldest: null, newest: null } }),
  ...['2024-02-29T00:00:00.000Z', '2000-02-29T23:59:59.999Z'].map((each) => time(each, true)),
  ...['2025-02-30T00:00:00.000Z', '1900-02-29T00:00:00.000Z', '2025-01-01T24:00:00.000Z'].map(
    (each) => time(each, false),
  ),
  ...['2016-12-31T23:59:60.000Z', '+010000-01-01T00:00:00.000Z', '2025-01-01T00:00:00Z'].map(
    (each) => time(each, false),
  ),
  ...['2025-01-01T00:00:00.000+00:00', '2025-01-01t00:00:00.000z', '2025-13-01T00:00:00.000Z'].map(
    (each) => time(each, false),
  ),
  ...['-1', '-0', '1.0', '"0"', '9007199254740992'].map((each) =>
    member(`"count":${each}`, false, '"count":0'),
  ),
  ...['"interval":0', '"interval":86401'].map((each) => member(each, false, '"interval":3600')),
  member('"interval":3600,"interval":3600', false, '"interval":3600'),
  ...['"archive_days":-1', '"archive_days":36501'].map((each) =>
    member(each, false, '"archive_days":0'),
  ),
  ...['"format":1', '"format":3', '"format": 2'].map((each) => member(each, false, '"format":2')),
  member('"x":1,"key"', false, '"key"'),
  signed('a previous of another kind of name', false, 2, {
    unsigned: (text) => text.replace(/("previous":\{"file":")[^"]*/, '$1x'),
  }),
  ...['x.digest.json', '.digest.json', '20250230T000000000Z.digest.json'].map((each) =>
    stray(each, false),
  ),
  ...['00000101T000000000Z.digest.json.bak', 'x.digest.JSON', 'x.ndjson.gz'].map((each) =>
    stray(each, true),
  ),
  {
    title: 'a folder of another name',
    isIntact: true,
    trail: kept,
    onDisk: (folder) => mkdirSync(join(folder, 'sub')),
  },
  ...[symlinkSync, linkSync].map((link) => ({
    title: `a ${link.name} in place of a digest, to its file`,
    isIntact: true,
    trail: kept,
    onDisk: (folder: string, [name = '']: readonly string[]) => {
      renameSync(join(folder, name), join(folder, 'elsewhere'));
      link(join(folder, 'elsewhere'), join(folder, name));
    },
  })),
  ...times.flatMap(({ title, fields, isHidden }) => [
    entry(`of ${title}`, false, sound.now - 60_000, fields),
    {
      ...withoutFirst(entry(`of ${title}`, true, sound.now - 60_000, fields), 'digest'),
      isHidden,
    },
    withoutFirst(entry(`of ${title}`, !isHidden, sound.now - 60_000, fields), 'entries'),
  ]),
  entry('of a minute ago', true, sound.now - 60_000),
  entry('of a minute ahead', true, sound.now + 60_000),
  entry('of two minutes ahead', false, sound.now + 120_000),
  entry('of six hours ago', true, sound.now - 6 * hour),
  replay('a line', true, (id, hash) => JSON.stringify({ entries: [{ id, sha256: hash }] })),
  replay('it anywhere', true, (id, hash) => `[[{"id":${id},"sha256":"${hash}"}`),
  replay('two hashes', true, (id, hash) =>
    JSON.stringify([
      { id, sha256: hash },
      { id, sha256: '0'.repeat(64) },
    ]),
  ),
  replay('it with a space', false, (id, hash) => `[{"id": ${id},"sha256":"${hash}"}]`),
  replay('it in another order', false, (id, hash) => `[{"sha256":"${hash}","id":${id}}]`),
  replay('it with more', false, (id, hash) => `[{"id":${id},"sha256":"${hash}","x":1}]`),
  replay('it in a text', false, (id, hash) =>
    JSON.stringify([JSON.stringify({ id, sha256: hash })]),
  ),
  replay('it in capitals', false, (id, hash) => `[{"id":${id},"sha256":"${hash.toUpperCase()}"}]`),
  replay('another hash', false, (id) => JSON.stringify([{ id, sha256: '0'.repeat(64) }])),
  ...replaced,
  ...replacedEntries,
  keys('nothing changed', true, (item) => item),
  ...indexKeyNames.map((name) => keys(`no ${name}`, false, (item) => without(item, name))),
  ...indexKeyNames.map((name) =>
    keys(`another ${name}`, false, (item) => ({ ...item, [name]: `${item[name]}x` })),
  ),
  keys('a key of another type', false, (item) => ({ ...item, shard: Number(item.shard) })),
  ...(
    [
      { user_id: null },
      { resource_id: null },
      { resource_id: '' },
      { result: 'SUCCESS' },
      { user_id: -1 },
    ] as const
  ).flatMap((fields) => [
    keys(`those of ${JSON.stringify(fields)}`, false, (item) => ({ ...item, ...fields })),
    keys(`${JSON.stringify(fields)} and its keys`, true, (item) =>
      withKeys({ ...item, ...fields }),
    ),
  ]),
  ...['user_id', 'resource_id'].map((name) =>
    keys(`no ${name}`, true, (item) => withKeys(without(item, name))),
  ),
  keys('no action', false, (item) => withKeys(without(item, 'action'))),
  ...[
    { id: -8 },
    { user_id: '2' },
    { user_id: { N: '1.5' } },
    { action: 7 },
    { resource_id: 2 },
  ].map((fields) =>
    keys(`${JSON.stringify(fields)}`, false, (item) => withKeys({ ...item, ...fields })),
  ),
  shown('not there', false, (path) => rmSync(path)),
  shown('no key', false, (path) => writeFileSync(path, '{}\n')),
  shown('another one', false, (path) => writeFileSync(path, pemOf(localSigner(makeKey())))),
  shown('written in another way', true, (path) =>
    writeFileSync(path, `\n${pemOf(kept.signer).replace(/(\w{20})\n/, '$1\n')}\n`),
  ),
];

/** A trail of its own, to be changed. */
export const trailOf = async ({ trail, change }: FormatCase): Promise<Trail> => {
  const changed = copy(trail);
  await change?.(changed);
  return changed;
};
