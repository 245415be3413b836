/** Digests of windows: their form, times, names and signatures (lib/seal/README.md, Digests). */
import { type KeyObject, verify } from 'node:crypto';
import * as v from 'valibot';
import { isTime, sha256 } from './line.ts';

const time = v.pipe(
  v.string(),
  v.check((text: string) => isTime(text)),
);
const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const signature = v.pipe(v.string(), v.regex(/^[0-9a-f]{128}$/));
const digestFile = v.pipe(
  v.string(),
  v.check((name: string) => isDigestName(name)),
);
const number = (most = Number.MAX_SAFE_INTEGER) =>
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(most));

/** The fields of a digest, in the order in which they are written. */
const form = v.object({
  format: v.literal(2),
  from: time,
  until: time,
  at: time,
  interval: v.pipe(number(86_400), v.minValue(1)),
  archive_days: number(36_500),
  entries: v.object({
    file: v.string(),
    sha256: hash,
    count: number(),
    late: number(),
    oldest: v.nullable(time),
    newest: v.nullable(time),
  }),
  verified: v.nullable(v.object({ from: time, until: time, at: time, faults: number() })),
  previous: v.nullable(v.object({ file: digestFile, sha256: hash, signature })),
  key: hash,
});

export type Digest = v.InferOutput<typeof form>;

/** A digest as it lies in the archive. */
export interface SignedDigest extends Digest {
  readonly signature: string;
  /** Of the whole file. */
  readonly sha256: string;
}

/** The field `previous` of the digest that follows another one. */
export const linkTo = (before: SignedDigest | undefined): Digest['previous'] =>
  before
    ? { file: digestName(before.from), sha256: before.sha256, signature: before.signature }
    : null;

/** Before every entry. */
export const beginning = '0000-01-01T00:00:00.000Z';

/** After every time. */
export const endOfTime = '~';

/** Milliseconds for which a window stays open after its end, for entries that are being written. */
export const graceOf = (interval: number): number => Math.min(interval, 60) * 1000;

/** Milliseconds before a run that the next run reads again at least, because indexes lag. */
export const recheckOf = (interval: number): number => Math.max(6 * interval, 60) * 1000;

/** The time so many milliseconds before another one, but not before {@link beginning}. */
export const timeBefore = (from: string, milliseconds: number): string => {
  const before = Date.parse(from) - milliseconds;
  return before <= Date.parse(beginning) ? beginning : new Date(before).toISOString();
};

/** The end of the newest window that is over. */
export const closedUntil = (interval: number, now: Date): string => {
  const length = interval * 1000;
  return new Date(Math.floor((now.getTime() - graceOf(interval)) / length) * length).toISOString();
};

/** A time in the form in which names of files begin with it. */
export const compact = (from: string): string => from.replaceAll(/[-:.]/g, '');

/** The name of a window's digest. It holds the beginning only, so that a window has one digest. */
export const digestName = (from: string): string => `${compact(from)}.digest.json`;

/** The time in the name of a file. */
export const timeInName = (name: string): string =>
  name.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z.*/, '$1-$2-$3T$4:$5:$6.$7Z');

export const isDigestName = (name: string): boolean =>
  /^\d{8}T\d{9}Z\.digest\.json$/.test(name) && isTime(timeInName(name));

export const entriesName = (from: string, sha: string): string =>
  `${compact(from)}.${sha}.ndjson.gz`;

export const fingerprintOf = (publicKey: KeyObject): string =>
  sha256(publicKey.export({ type: 'spki', format: 'der' })).toString('hex');

/** Signs with an Ed25519 key, wherever that is kept. */
export interface Signer {
  readonly publicKey: KeyObject;
  /** @param message 32 bytes: the SHA-256 of a digest without its signature */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** Makes the file of a digest. @throws {Error} when it could not be read again */
export const signDigest = async (digest: Digest, signer: Signer): Promise<Buffer> => {
  const unsigned = JSON.stringify(digest);
  const signed = Buffer.from(await signer.sign(sha256(unsigned))).toString('hex');
  const file = Buffer.from(`${unsigned.slice(0, -1)},"signature":"${signed}"}\n`);
  const read = readDigest(file, signer.publicKey);
  if (typeof read === 'string') throw new Error(`The new digest would be ${read} by its key`);
  return file;
};

/** @returns undefined when a text is not a digest, written in exactly the form of one */
const parseDigest = (unsigned: string): Digest | undefined => {
  try {
    const { success, output } = v.safeParse(form, JSON.parse(unsigned));
    return success && JSON.stringify(output) === unsigned ? output : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Reads the file of a digest, to the byte.
 * @returns in the second case, what is wrong with it
 */
export const readDigest = (
  file: Buffer,
  publicKey: KeyObject,
): SignedDigest | 'unreadable' | 'wrongly signed' => {
  const [, start, signed] =
    /^(\{.*),"signature":"([0-9a-f]{128})"\}\n$/.exec(file.toString('latin1')) ?? [];
  if (start === undefined || signed === undefined) return 'unreadable';
  // Signed are bytes, whatever text they are.
  const unsigned = Buffer.from(`${start}}`, 'latin1');
  if (!verify(null, sha256(unsigned), publicKey, Buffer.from(signed, 'hex'))) {
    return 'wrongly signed';
  }
  const digest = parseDigest(unsigned.toString('utf8'));
  return digest
    ? { ...digest, signature: signed, sha256: sha256(file).toString('hex') }
    : 'unreadable';
};

/**
 * The contradictions in a digest, whoever signed it.
 * @param key the fingerprint of the key that signed it
 * @param now milliseconds since 1970
 */
export const contradictionsIn = (digest: Digest, key: string, now: number): readonly string[] => {
  const { from, until, at, interval, entries, verified, previous } = digest;
  const { count, late, oldest, newest } = entries;
  const rules: readonly (readonly [boolean, string])[] = [
    [from < until, 'until is not after from'],
    [until <= timeBefore(at, graceOf(interval)), 'until is not a grace before at'],
    [Date.parse(at) <= now + graceOf(interval), 'at is in the future'],
    [entries.file === entriesName(from, entries.sha256), 'file is not named for it'],
    [late <= count && (oldest === null) === (newest === null), 'entries do not add up'],
    [(oldest ?? '') <= (newest ?? ''), 'oldest is after newest'],
    [!verified || (verified.from < verified.until && verified.at <= at), 'verified is not before'],
    [(previous === null) === (from === beginning), 'previous is not that of its window'],
    [digest.key === key, 'key is another one'],
  ];
  return rules.filter(([holds]) => !holds).map(([, contradiction]) => contradiction);
};
