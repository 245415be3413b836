/**
 * What may be done to an archive and its table, and what verification is to tell of it. Nothing here knows
 * the names of our modules' findings but by the words of `told`, so that any verifier can be tried with it.
 */
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { AuditEntry } from '../../lib/audit/entry.ts';
import { indexKeys } from '../../lib/audit/index-keys.ts';
import { memberOf } from '../../lib/seal/archive.ts';
import { localSigner, makeKey } from '../../lib/seal/folder-archive.ts';
import {
  type Check,
  fileName,
  fingerprintOf,
  type SignedHeader,
  type Signer,
  type Tally,
  tallyLine,
} from '../../lib/seal/header.ts';
import { type Item, sha256 } from '../../lib/seal/line.ts';
import { headersOf, makeTrail, type TestTrail } from '../support/sealed-trail.ts';

const minute = 60_000;
const iso = (time: number) => new Date(time).toISOString();

/** A trail of 20 files: of 12 with entries, some late and some replayed, and of 8 without. */
const makeSound = async (): Promise<TestTrail> => {
  const trail = makeTrail();
  for (let file = 0; file < 12; file += 1) {
    for (const [n, result] of (['SUCCESS', 'FAILURE'] as const).entries()) {
      trail.add({ user_id: n, resource_id: n, result });
    }
    if (file === 3) trail.source.lagging.set(trail.add(), trail.now + 4 * minute);
    if (file === 5) trail.replay([trail.now - 9 * minute, trail.now - 90 * minute]);
    await trail.seal(2 * minute);
  }
  for (let file = 0; file < 8; file += 1) await trail.seal(2 * minute);
  return trail;
};
export const sound = await makeSound();
const headers = headersOf(sound);
const ids = [...sound.source.items.keys()];
/** An entry of the fifth file. */
const [sealed = 0] = ids.slice(10);
const first = ids[0] ?? 0;

/** What is told, in an order of its own: kinds with their subjects, and counts of what waits. */
export type Told = readonly string[];

export interface SealCase {
  readonly title: string;
  readonly trail?: TestTrail;
  /** Does it to a copy of the trail. @returns what is to be told besides `told` */
  readonly change: (trail: TestTrail) => Told | Promise<Told> | void | Promise<void>;
  /** Does it to the folder in which the archive lies. */
  readonly onDisk?: (folder: string) => void;
  readonly told?: Told;
}

const header = (number: number): SignedHeader => headers[number - 1] as SignedHeader;
const bytes = ({ archive }: TestTrail, number: number): Buffer =>
  archive.files.get(fileName(number)) ?? Buffer.of();
const linesOf = (trail: TestTrail, number: number): Buffer =>
  bytes(trail, number).subarray(memberOf(header(number).line).length);
const put = ({ archive }: TestTrail, number: number, content: Buffer): void =>
  void archive.files.set(fileName(number), content);

/** Puts a header of any text over the header of a file. */
const putHeader = (trail: TestTrail, number: number, line: string): void =>
  put(trail, number, Buffer.concat([memberOf(line), linesOf(trail, number)]));

/** @param told of file 5 */
const headerCase = (
  title: string,
  told: 'foreign' | 'unsigned',
  edit: (line: string) => string,
) => ({
  title: `a header with ${title}`,
  told: [`${told} file 5`],
  change: (trail: TestTrail) => {
    const { line } = header(5);
    if (edit(line) === line) throw new Error(`Nothing was done: ${title}`);
    putHeader(trail, 5, edit(line));
  },
});

type Body = Omit<SignedHeader, 'line' | 'hash'>;

/** Puts a file, as whoever has a key can sign it. @returns the hash of its header */
const putSigned = async (
  trail: TestTrail,
  { line: _, hash: __, ...body }: Body & Partial<SignedHeader>,
  {
    content,
    signer = trail.signer,
    place = body.number,
  }: { content: Buffer; signer?: Signer; place?: number },
): Promise<string> => {
  const unsigned = JSON.stringify({ ...body, key: fingerprintOf(signer.publicKey) });
  const signature = Buffer.from(await signer.sign(sha256(unsigned))).toString('hex');
  const signed = `${unsigned.slice(0, -1)},"signature":"${signature}"}\n`;
  put(trail, place, Buffer.concat([memberOf(signed), content]));
  return sha256(signed).toString('hex');
};

/** What a header says of lines, if they are lines. */
const tallyOf = (text: string): Partial<Tally> => {
  const tally: Tally = { count: 0, oldest: null, newest: null };
  try {
    for (const line of text.trimEnd().split('\n')) tallyLine(tally, JSON.parse(line));
    return tally;
  } catch {
    return {};
  }
};

interface Resigning {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly lines?: (text: string) => string | Buffer;
  readonly gzip?: (lines: Buffer) => Buffer;
}

/** Signs file 5 again by the real key, and all after it if they are to follow it. */
const resign = async (
  trail: TestTrail,
  { header: changes = {}, lines, gzip = (same) => same }: Resigning,
  follow = true,
): Promise<void> => {
  const text = gunzipSync(linesOf(sound, 5)).toString();
  const content = gzip(lines ? gzipSync(lines(text)) : linesOf(sound, 5));
  const made = { length: content.length, sha256: sha256(content).toString('hex') };
  const tally = lines ? tallyOf(String(lines(text))) : {};
  let previous = await putSigned(
    trail,
    { ...header(5), ...made, ...tally, ...changes },
    { content, place: 5 },
  );
  for (const number of follow ? range(6, headers.length) : []) {
    const body = { ...header(number), previous };
    previous = await putSigned(trail, body, { content: linesOf(sound, number) });
  }
};

/** The order of the group of Ed25519 (RFC 8032). */
const order = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;
const reverse = (hex: string) => Buffer.from(hex, 'hex').reverse().toString('hex');
/** The same signature with the order of the group added to its second half. */
const addOrder = (signature: string): string => {
  const sum = BigInt(`0x${reverse(signature.slice(64))}`) + order;
  return signature.slice(0, 64) + reverse(sum.toString(16).padStart(64, '0'));
};

const signatureIn = (line: string): string => /"signature":"(.*)"/.exec(line)?.[1] ?? '';

/** @param numbers of the files that are taken away */
const without = (title: string, numbers: readonly number[], told: Told): SealCase => ({
  title: `an archive without ${title}`,
  told,
  change: ({ archive }) => {
    for (const number of numbers) archive.files.delete(fileName(number));
  },
});
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

const file5 = (
  title: string,
  told: string,
  change: (file: Buffer, trail: TestTrail) => Buffer,
): SealCase => ({
  title: `a file that was ${title}`,
  told: [`${told} file 5`],
  change: (trail) => put(trail, 5, change(bytes(trail, 5), trail)),
});

const flipped = (content: Buffer, at: number): Buffer => {
  const changed = Buffer.from(content);
  changed.writeUInt8(changed.readUInt8(at) ^ 4, at);
  return changed;
};

/** @param take puts something else in place of file 5 */
const onDisk = (title: string, take: (path: string, folder: string) => void): SealCase => ({
  title: `a file that was replaced by ${title}`,
  told: ['foreign file 5'],
  change: () => undefined,
  onDisk: (folder) => {
    const path = join(folder, fileName(5));
    renameSync(path, join(folder, 'taken'));
    take(path, folder);
  },
});

const did = (title: string, told: Told, change: SealCase['change']): SealCase => ({
  title,
  told,
  change,
});

// biome-ignore format: a table
export const archiveCases: readonly SealCase[] = [
  { title: 'an unchanged archive', change: () => undefined },
  without('a file in the middle', [5], ['missing file 5']),
  without('its first file', [1], ['missing file 1']),
  without('its first four files', range(1, 4), ['missing files 1 to 4']),
  without('two files apart', [5, 7], ['missing file 5', 'missing file 7']),
  // Only who remembers them can tell more; entries that were in them wait.
  without('its newest file', [20], []),
  without('its newest ten files', range(11, 20), ['waits 4']),
  without('any file', range(1, 20), [`waits ${ids.length}`]),
  headerCase('an additional space', 'foreign', (line) => line.replace(',', ', ')),
  headerCase('an additional line feed', 'foreign', (line) => `${line}\n`),
  headerCase('no line feed', 'foreign', (line) => line.trimEnd()),
  headerCase('a CR before its line feed', 'foreign', (line) => line.replace('\n', '\r\n')),
  headerCase('a byte order mark', 'foreign', (line) => `\ufeff${line}`),
  headerCase('an additional field', 'foreign', (line) => line.replace('"check"', '"more":1,"check"')),
  headerCase('a missing field', 'foreign', (line) => line.replace('"archive_days":0,', '')),
  headerCase('its fields in another order', 'foreign', (line) => line.replace(/("format":3),("number":5)/, '$2,$1')),
  headerCase('a number with a sign', 'foreign', (line) => line.replace('"count":', '"count":-')),
  headerCase('an escaped character', 'foreign', (line) => line.replace('"Z"', '"\\u005a"').replace('Z"', '\\u005a"')),
  headerCase('another count', 'unsigned', (line) => line.replace('"count":', '"count":1')),
  headerCase('another key', 'unsigned', (line) => line.replace(/(?<="key":")./, (digit) => (digit === '0' ? '1' : '0'))),
  headerCase('a signature in capitals', 'foreign', (line) => line.replace(signatureIn(line), signatureIn(line).toUpperCase())),
  headerCase('the order of the group in its signature', 'unsigned', (line) => line.replace(signatureIn(line), addOrder(signatureIn(line)))),
  file5('changed in a bit of its lines', 'altered', (file) => flipped(file, file.length - 20)),
  file5('changed in a bit of its header', 'foreign', (file) => flipped(file, 100)),
  file5('changed in a bit before its header', 'foreign', (file) => flipped(file, 5)),
  file5('compressed again', 'altered', (_, trail) =>
    Buffer.concat([
      memberOf(header(5).line),
      gzipSync(gunzipSync(linesOf(trail, 5)), { level: 0 }),
    ]),
  ),
  file5('written as one member', 'foreign', (file) => gzipSync(gunzipSync(file))),
  file5('cut', 'altered', (file) => file.subarray(0, -1)),
  file5('cut in its header', 'foreign', (file) => file.subarray(0, 200)),
  file5('made longer by zeros', 'altered', (file) => Buffer.concat([file, Buffer.alloc(9)])),
  file5('made longer by a third member', 'altered', (file) => Buffer.concat([file, gzipSync('{"id":1}\n')])),
  file5('emptied', 'foreign', () => Buffer.of()),
  file5('given other lines', 'altered', (_, trail) => Buffer.concat([memberOf(header(5).line), linesOf(trail, 6)])),
  did('two files that were swapped', ['foreign files 5 to 6'], (trail) => {
    const [five, six] = [bytes(trail, 5), bytes(trail, 6)];
    put(trail, 5, six);
    put(trail, 6, five);
  }),
  did(
    'a file that was renamed to the next number',
    ['missing file 5', 'foreign file 21'],
    (trail) => {
      put(trail, 21, bytes(trail, 5));
      trail.archive.files.delete(fileName(5));
    },
  ),
  did(
    'copies of a file under later names and under the name of number 0',
    ['foreign file 0', 'foreign files 21 to 22', 'foreign file 9999999999'],
    (trail) => {
      for (const number of [0, 21, 22, 9_999_999_999]) put(trail, number, bytes(trail, 20));
    },
  ),
  did('junk under the next hundred names', ['foreign files 21 to 120'], (trail) => {
    for (const number of range(21, 120)) put(trail, number, Buffer.from('junk'));
  }),
  did(
    'junk under the next names, behind which sealing continued',
    ['foreign files 21 to 23'],
    async (trail) => {
      for (const number of range(21, 23)) put(trail, number, Buffer.from('junk'));
      trail.add();
      await trail.seal(2 * minute);
    },
  ),
  did('a skipped number after the removal of the junk under it', [], async (trail) => {
    put(trail, 21, Buffer.from('junk'));
    await trail.seal(minute);
    trail.archive.files.delete(fileName(21));
  }),
  did('files of other names', [], ({ archive: { files } }) => {
    for (const name of ['x.ndjson.gz', `${fileName(5)}.bak`, '99.ndjson.gz', 'sub']) {
      files.set(name, Buffer.from('x'));
    }
  }),
  did(
    'a chain that another key signed',
    ['unsigned files 1 to 20', `waits ${ids.length}`],
    async (trail) => {
      const signer = localSigner(makeKey());
      let previous: string | null = null;
      for (const number of range(1, 20)) {
        const body = { ...header(number), previous };
        previous = await putSigned(trail, body, { content: linesOf(sound, number), signer });
      }
    },
  ),
  did('a newest file that another key signed', ['unsigned file 21'], async (trail) => {
    const body = { ...header(20), number: 21, previous: header(20).hash };
    const signer = localSigner(makeKey());
    await putSigned(trail, body, { content: linesOf(sound, 20), signer });
  }),
  did(
    'delete markers on the newest ten files, in a store that keeps first versions',
    ['altered files 11 to 20'],
    ({ archive }) => {
      for (const number of range(11, 20)) archive.altered.add(fileName(number));
    },
  ),
  did(
    'delete markers under the next names, which have no files',
    ['foreign files 21 to 22'],
    ({ archive }) => {
      for (const number of [21, 22]) archive.altered.add(fileName(number));
    },
  ),
  onDisk('a folder', (path) => mkdirSync(path)),
  onDisk('a link to the same bytes', (path, folder) => symlinkSync(join(folder, 'taken'), path)),
  onDisk('a link to itself', (path) => symlinkSync(path, path)),
  onDisk('a named pipe', (path) => execFileSync('mkfifo', [path])),
  onDisk('a sparse file of 3 GB of zeros', (path) => {
    writeFileSync(path, '');
    truncateSync(path, 3e9);
  }),
  {
    title: 'a second name for the same file',
    change: () => undefined,
    onDisk: (folder) => linkSync(join(folder, fileName(5)), join(folder, 'also')),
  },
  {
    title: 'a file that was made very much longer',
    told: ['altered file 5'],
    change: () => undefined,
    onDisk: (folder) => truncateSync(join(folder, fileName(5)), 3e9),
  },
  {
    title: 'an archive whose folder is missing',
    told: [`waits ${ids.length}`],
    change: () => undefined,
    onDisk: (folder) => rmSync(folder, { recursive: true }),
  },
];

const withKey = (title: string, told: Told, resigning: Resigning, follow?: boolean): SealCase => ({
  title: `signed by the real key: ${title}`,
  told,
  change: (trail) => resign(trail, resigning, follow),
});
const altered5 = ['altered file 5'];
const fifth = gunzipSync(linesOf(sound, 5)).toString();
const [inFifth = ''] = /(?<="id":)\d+/.exec(fifth) ?? [];
const [, byUser0 = ''] = /"id":(\d+),.*"user_id":0/.exec(fifth) ?? [];

const { at: at5 } = header(5);
const checked: Check = {
  at: at5,
  first: 1,
  last: 4,
  until: at5,
  entries: 7,
  later: 0,
  part: null,
  findings: 0,
  named: [],
  found: null,
};
const finding = { kind: 'changed', subject: `{"N":"${'9'.repeat(56)}"}`, at: at5 };

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

/** What only the holder of the key can do. */
// biome-ignore format: a table
export const keyCases: readonly SealCase[] = [
  withKey('an entry cut out', ['missing file 5'], { lines: (text) => text.replace(/^.*\n/, '') }, false),
  withKey('an entry cut out, and a new chain', [`inserted ${inFifth}`], { lines: (text) => text.replace(/^.*\n/, '') }),
  withKey('a wrong length', altered5, { header: { length: header(5).length + 1 } }),
  withKey('a wrong count', altered5, { header: { count: 9 } }),
  withKey('a wrong oldest', altered5, { header: { oldest: null } }),
  withKey('a wrong newest', altered5, { header: { newest: null } }),
  withKey('an interval of 10⁹', ['foreign file 5'], { header: { interval: 1e9 } }),
  withKey('a second part of more than 134,217,728 bytes', ['foreign file 5'], { header: { length: 2 ** 27 + 1 } }),
  withKey('an earlier format', ['foreign file 5'], { header: { format: 2 } }),
  withKey('an impossible time', ['foreign file 5'], { header: { at: '2026-02-30T00:00:00.000Z' } }),
  withKey('another number', ['foreign file 5'], { header: { number: 4 } }),
  withKey('a header of more than 16,384 bytes', ['foreign file 5'], { header: { from: 'x'.repeat(16_384) } }),
  withKey('a file that ends in 2099', [], { header: { until: '2099-01-01T00:00:00.000Z' } }),
  withKey('lines in another order', [], { lines: (text) => `${text.trimEnd().split('\n').reverse().join('\n')}\n` }),
  withKey('a line twice', [], { lines: (text) => text + text.replace(/\n.*/s, '\n') }),
  withKey('an entry with another content later', [`changed ${inFifth}`], {
    lines: (text) => text + text.replace(/\n.*/s, '\n').replace('SUCCESS', 'FAILURE'),
  }),
  // How a line is written counts, not that DynamoDB has no such value.
  ...['true', '{"SS":["b","a"]}', '[1]'].map((value) =>
    withKey(`a line with a value of ${value}`, [`changed ${inFifth}`], {
      lines: (text) => text.replace(/"user_id":[^,]*/, `"user_id":${value}`),
    }),
  ),
  withKey('a line with an attribute __proto__', [`changed ${inFifth}`], { lines: (text) => text.replace('{', '{"__proto__":5,') }),
  withKey('a line with nested names out of order', altered5, {
    lines: (text) => text.replace('"user_id":0', '"user_id":{"M":{"b":{"S":""},"a":{"S":""}}}'),
  }),
  withKey('a line without an id', altered5, { lines: (text) => text.replace(/"id":\d+,/, '') }),
  withKey('a line whose id is null', [`inserted ${inFifth}`, 'deleted null'], { lines: (text) => text.replace(/"id":\d+/, '"id":null') }),
  withKey('a line with 100 nested objects and arrays', [`changed ${byUser0}`], {
    lines: (text) => text.replace('"user_id":0', `"user_id":${nested(99)}`),
  }),
  ...[100, 1000, 20_000].map((depth) =>
    withKey(`a line with ${depth} nested arrays`, altered5, {
      lines: (text) => text.replace('"user_id":0', `"user_id":${nested(depth)}`),
    }),
  ),
  withKey('a line separator in its header', [], { header: { until: `${header(5).until}\u2028` } }),
  withKey('a check that covers no file', [], { header: { check: { ...checked, first: 2 ** 53 - 1, last: 0 } } }),
  withKey('a check with as many names as are allowed', [], {
    header: {
      check: {
        ...checked,
        part: { at: at5, first: 1, last: 0 },
        named: Array(10).fill(finding),
        found: at5,
      },
    },
  }),
  ...Object.entries({
    'eleven findings': { named: Array(11).fill(finding) },
    'a subject of 65 characters': { named: [{ ...finding, subject: 'x'.repeat(65) }] },
    'a subject beyond ASCII': { named: [{ ...finding, subject: 'xüx' }] },
    'an unknown kind': { named: [{ ...finding, kind: 'Changed' }] },
    'a finding without a valid time': { named: [{ ...finding, at: '2026-02-30T00:00:00.000Z' }] },
    'an end that is not a time': { until: `${at5}#7` },
    'a part of the file with the number 0': { part: { at: at5, first: 0, last: 0 } },
    'a part without a time': { part: { at: '', first: 1, last: 0 } },
    'an additional member': { more: 1 },
  }).map(([title, more]) =>
    withKey(
      `a check with ${title}`,
      ['foreign file 5'],
      { header: { check: { ...checked, ...more } } },
      false,
    ),
  ),
  withKey('no gzip at all', altered5, { gzip: () => Buffer.of() }),
  withKey('two members of lines', [], { gzip: (lines) => Buffer.concat([lines, gzipSync('')]) }),
  withKey('zeros after the lines', altered5, { gzip: (lines) => Buffer.concat([lines, Buffer.alloc(9)]) }),
  withKey('lines that are not compressed', altered5, { gzip: (lines) => gunzipSync(lines) }),
  withKey('a last line without a line feed', altered5, { lines: (text) => text.trimEnd() }),
  withKey('text behind the last line', altered5, { gzip: () => gzipSync(`${fifth}x`) }),
  withKey('an empty line', altered5, { lines: (text) => `${text}\n` }),
  withKey('a byte order mark', altered5, { lines: (text) => `\ufeff${text}` }),
  withKey('CR at the ends of lines', altered5, { lines: (text) => text.replaceAll('\n', '\r\n') }),
  withKey('bytes beyond UTF-8', altered5, { lines: (text) => Buffer.from(text.replace('LOGIN', '\xff'), 'latin1') }),
  ...[
    ['a space', (text: string) => text.replace(',', ', ')],
    ['an attribute twice', (text: string) => text.replace('{', '{"action":"LOGIN",')],
    [
      'attributes in another order',
      (text: string) => text.replace(/("action":"LOGIN"),("[^,]*)/, '$2,$1'),
    ],
    ['a fraction', (text: string) => text.replace('"user_id":0', '"user_id":0.5')],
    ['an exponent', (text: string) => text.replace('"user_id":0', '"user_id":1e3')],
    ['a zero with a sign', (text: string) => text.replace('"user_id":0', '"user_id":-0')],
    [
      'a number that a double cannot represent',
      (text: string) => text.replace('"user_id":0', '"user_id":9007199254740993'),
    ],
    ['an escaped character', (text: string) => text.replace('LOGIN', '\\u004cOGIN')],
    [
      'an escaped slash',
      (text: string) => text.replace('"details":null', '"details":"\\/"'),
    ],
  ].map(([title, lines]) =>
    withKey(`a line with ${title}`, altered5, { lines: lines as (text: string) => string }),
  ),
  did('signed by the real key: each file on its own', ['missing files 1 to 19'], async (trail) => {
    for (const number of range(1, 20)) {
      const body = { ...header(number), interval: 61 };
      await putSigned(trail, body, { content: linesOf(sound, number) });
    }
  }),
];

/** An item with the index keys that its fields make. */
const withKeys = (item: Item): Item => ({ ...item, ...indexKeys(item as unknown as AuditEntry) });

const set = ({ source: { items } }: TestTrail, item: Item): void =>
  void items.set(typeof item.id === 'number' ? item.id : -1, item);

/** @param change of an entry that was sealed */
const entry = (
  title: string,
  change: (item: Item) => Item,
  told: string = `changed ${sealed}`,
): SealCase => ({
  title: `an entry ${title}`,
  told: [told],
  change: (trail) => set(trail, change(trail.source.items.get(sealed) ?? {})),
});
const { source } = sound;
const item = source.items.get(sealed) ?? {};
const unlike = (value: unknown) =>
  typeof value === 'string' ? `${value}x` : value === null ? 'x' : 7;
const other = sealed + 1_000_000;

/** @param created_at of an entry that is put into the table past the service, and not sealed */
const invented = (title: string, created_at: string, told: Told): SealCase => ({
  title: `an invented entry ${title}`,
  told,
  change: (trail) => set(trail, withKeys({ ...item, id: other, created_at })),
});
const isInserted = [`inserted ${other}`];

/** Puts a replay into the table that lists an entry, and has it sealed if it is to be. */
const forgeReplay = async (trail: TestTrail, id: number, after?: number): Promise<void> => {
  trail.add({ action: 'CREATE', resource: 'audit-logs', details: { entries: [id] } });
  if (after !== undefined) await trail.seal(after);
};

// biome-ignore format: a table
export const tableCases: readonly SealCase[] = [
  ...Object.keys(item)
    .filter((name) => name !== 'id')
    .flatMap((name) => {
      const { [name]: value, ...rest } = item;
      return [
        entry(`with another ${name}`, (same) => ({ ...same, [name]: unlike(value) })),
        entry(`without ${name}`, () => rest),
      ];
    }),
  entry('whose user became a text', (same) => ({ ...same, user_id: String(same.user_id) })),
  entry('with an additional attribute', (same) => ({ ...same, note: 'new' })),
  entry('with a time to live', (same) => ({ ...same, expires_at: 1 })),
  entry('with an additional index key', (same) => ({ ...same, resource_key: '7', failure_shard: '1' })),
  entry('that was moved within the time of its file', (same) =>
    withKeys({ ...same, created_at: String(same.created_at).replace('.000Z', '.001Z') }),
  ),
  entry('that was moved to now', (same) => withKeys({ ...same, created_at: iso(sound.now) })),
  entry('copied with another id', (same) => withKeys({ ...same, id: other }), isInserted[0]),
  entry('copied with a fraction as its id', (same) => ({ ...same, id: { N: '1.5' } }), 'inserted {"N":"1.5"}'),
  entry('copied with an id of 38 digits', (same) => ({ ...same, id: { N: '9'.repeat(38) } }), `inserted {"N":"${'9'.repeat(38)}"}`),
  entry('copied without a time', ({ created_at: _, ...same }) => ({ ...same, id: other }), isInserted[0]),
  entry('copied without index keys', (same) => ({ id: other, created_at: same.created_at }), isInserted[0]),
  did('an entry that was deleted', [`deleted ${sealed}`], (trail) => void trail.source.items.delete(sealed)),
  did(
    'the very first entry deleted, and another entry changed',
    [`deleted ${first}`, `changed ${sealed}`],
    (trail) => {
      trail.source.items.delete(first);
      set(trail, { ...item, result: 'x' });
    },
  ),
  did('an entry that was deleted and put back', [], (trail) => {
    trail.source.items.delete(sealed);
    set(trail, item);
  }),
  did('a table without entries', ids.map((id) => `deleted ${id}`), (trail) => trail.source.items.clear()),
  invented('in the past', iso(sound.now - 60 * minute), isInserted),
  invented('an hour ahead', iso(sound.now + 60 * minute), isInserted),
  invented('eleven minutes ahead', iso(sound.now + 11 * minute), isInserted),
  invented('nine minutes ahead', iso(sound.now + 9 * minute), ['waits 1']),
  invented('four seconds ahead', iso(sound.now + 4000), ['waits 1']),
  invented('of 30 seconds ago', iso(sound.now - 30_000), ['waits 1']),
  invented('without milliseconds', '2026-11-22T12:07:31Z', isInserted),
  invented('in the year +275760', '+275760-09-13T00:00:00.000Z', isInserted),
  invented('on the 30th of February', '2027-02-30T00:00:00.000Z', isInserted),
  invented('without a time', 'not a time', isInserted),
  did('an invented entry with a key of now and no time', isInserted, (trail) =>
    set(trail, {
      ...withKeys({ ...item, id: other, created_at: iso(sound.now) }),
      created_at: 'x',
    }),
  ),
  did('an invented entry of 30 seconds ago that is sealed', [], async (trail) => {
    set(trail, withKeys({ ...item, id: other, created_at: iso(sound.now - 30_000) }));
    await trail.seal(2 * minute);
  }),
  // An invented replay counts as one.
  did('an invented entry of the past that an invented replay lists', ['waits 2'], async (trail) => {
    set(trail, withKeys({ ...item, id: other, created_at: iso(sound.now - 60 * minute) }));
    await forgeReplay(trail, other);
  }),
  did('an invented entry of the past that a posted entry lists', ['waits 1', ...isInserted], (trail) => {
    set(trail, withKeys({ ...item, id: other, created_at: iso(sound.now - 60 * minute) }));
    trail.add({ action: 'CREATE', resource: 'shop.audit-logs', details: { entries: [other] } });
  }),
  did(
    'an invented entry of the past that a replay under a shard of machines lists',
    ['waits 1', ...isInserted],
    (trail) => {
      set(trail, withKeys({ ...item, id: other, created_at: iso(sound.now - 60 * minute) }));
      const details = { entries: [other] };
      const id = trail.add({ action: 'CREATE', resource: 'audit-logs', details });
      set(trail, { ...trail.source.items.get(id), shard: 'm3' });
    },
  ),
  did('posted entries that are sealed', [], async (trail) => {
    for (const resource_id of [1, 2]) {
      trail.add({ action: 'CREATE', resource: 'shop.orders', resource_id, machine_id: 1 });
    }
    await trail.seal(2 * minute);
  }),
  did('an invented entry of the past that an old replay lists', isInserted, async (trail) => {
    await forgeReplay(trail, other, 30 * minute);
    set(trail, withKeys({ ...item, id: other, created_at: iso(sound.now - 60 * minute) }));
    for (let run = 0; run < 15; run += 1) await trail.seal(minute);
  }),
  did(
    'an entry that was changed and that an invented replay lists',
    [`changed ${sealed}`],
    async (trail) => {
      set(trail, { ...item, ip_address: '192.0.2.66' });
      await forgeReplay(trail, sealed, 2 * minute);
    },
  ),
  did(
    'an entry that was changed and moved, so that it is sealed again',
    [`changed ${sealed}`],
    async (trail) => {
      set(trail, withKeys({ ...item, created_at: iso(sound.now), result: 'x' }));
      await trail.seal(2 * minute);
    },
  ),
  did('an entry that was sealed again and then put back', [`changed ${sealed}`], async (trail) => {
    set(trail, withKeys({ ...item, created_at: iso(sound.now), result: 'x' }));
    await trail.seal(2 * minute);
    set(trail, item);
  }),
  did('an entry whose é was split into two characters', [`changed ${other}`], async (trail) => {
    const accented = withKeys({ ...item, id: other, created_at: iso(sound.now), details: 'é' });
    set(trail, accented);
    await trail.seal(2 * minute);
    set(trail, { ...accented, details: 'e\u0301' });
  }),
  did(
    'an entry that expires in a minute, sealed and then deleted',
    [`deleted ${other}`],
    async (trail) => {
      const expires_at = Math.trunc(sound.now / 1000) + 60;
      set(trail, { ...withKeys({ ...item, id: other, created_at: iso(sound.now) }), expires_at });
      await trail.seal(2 * minute);
      trail.source.items.delete(other);
    },
  ),
  did('a deleted entry whose file is altered', ['altered file 5'], (trail) => {
    trail.source.items.delete(sealed);
    put(trail, 5, bytes(trail, 5).subarray(0, -1));
  }),
];

export const sealCases: readonly SealCase[] = [...archiveCases, ...keyCases, ...tableCases];
