/** The signed header of a file of the archive: its form, names and times (lib/seal/README.md, Headers). */
import { type KeyObject, verify } from 'node:crypto';
import * as v from 'valibot';
import { dayInMilliseconds } from '../ground/time.ts';
import { type Item, isTime, sha256, timeIn } from './line.ts';

const time = v.pipe(
  v.string(),
  v.check((text: string) => isTime(text)),
);
const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** The greatest number of a file: names have ten digits. */
export const maxNumber = 9_999_999_999;

/** The most findings that a header names. */
export const maxNamed = 10;

/** The outcome of the sealer's last check, with the findings of earlier checks that still hold. */
const check = v.object({
  at: time,
  first: number(1),
  last: number(),
  until: time,
  entries: number(),
  later: number(),
  part: v.nullable(v.object({ at: time, first: number(1), last: number() })),
  findings: number(),
  named: v.pipe(
    v.array(
      v.object({
        kind: v.pipe(v.string(), v.regex(/^[a-z]{1,16}$/)),
        subject: v.pipe(v.string(), v.regex(/^[ -~]{1,64}$/)),
        at: time,
      }),
    ),
    v.maxLength(maxNamed),
  ),
  found: v.nullable(time),
});

/** The fields of a header, in the order in which they are written. */
const form = v.object({
  format: v.literal(3),
  number: number(1, maxNumber),
  previous: v.nullable(hash),
  at: time,
  interval: number(1, 86_400),
  from: v.string(),
  until: v.string(),
  count: number(),
  oldest: v.nullable(time),
  newest: v.nullable(time),
  length: number(0, 2 ** 27),
  sha256: hash,
  archive_days: number(0, 36_500),
  check: v.nullable(check),
  key: hash,
});

export type Header = v.InferOutput<typeof form>;

/** The fields of a header that are counted from its lines. */
export type Tally = Pick<Header, 'count' | 'oldest' | 'newest'>;

export type Check = v.InferOutput<typeof check>;

/** A finding that a header names, with the time of the last check that has found it. */
export type NamedFinding = Check['named'][number];

export interface SignedHeader extends Header {
  /** The whole line, with its LF. */
  readonly line: string;
  /** SHA-256 of the line, which the next header names as `previous`. */
  readonly hash: string;
}

/** The most bytes of a header's line. */
export const maxHeader = 16_384;

/** Signs with an Ed25519 key, wherever the key is kept. */
export interface Signer {
  readonly publicKey: KeyObject;
  /** @param message 32 bytes: the SHA-256 of a header without its signature */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** Why a file has no signed header: it does not begin with the form of a header, or the key has not signed it. */
interface Unsigned {
  readonly fault: 'foreign' | 'unsigned';
  /** The fingerprint of the key that the header names; absent if the file does not begin with the form of a header. */
  readonly key?: string;
}

export type ReadHeader = SignedHeader | Unsigned;

export function tallyLine(tally: Tally, { created_at }: Item): void {
  tally.count += 1;
  if (!isTime(created_at)) return;
  if (!tally.oldest || created_at < tally.oldest) tally.oldest = created_at;
  if (!tally.newest || created_at > tally.newest) tally.newest = created_at;
}

const end = '.ndjson.gz';

/** The name of a file. Lists begin with the newest file, because lists of S3 only ascend. */
export function fileName(file: number): string {
  return `${String(maxNumber - file).padStart(10, '0')}${end}`;
}

export function numberOf(name: string): number | undefined {
  return /^\d{10}\.ndjson\.gz$/.test(name) ? maxNumber - Number(name.slice(0, 10)) : undefined;
}

/** An age in milliseconds: a run leaves younger entries to the next run. */
export function graceOf(interval: number): number {
  return Math.min(interval, 60) * 1000;
}

/** The time from which a run reads entries again, if the run before it ended at the key `from`. */
export function lookFrom(from: string, interval: number): string {
  const begun = timeIn(from);
  return begun === undefined ? '' : timeBefore(begun, lookBackOf(interval));
}

/** The time that is some milliseconds before another time; before year 0 it is '', which sorts before every key. */
export function timeBefore(from: string, milliseconds: number): string {
  const before = Date.parse(from) - milliseconds;
  return before < Date.parse('0000-01-01T00:00:00.000Z') ? '' : new Date(before).toISOString();
}

/** Files that end at or before this time may have left the archive, according to a header; '': no file may. */
export function leftBy({ archive_days: days }: Header, at: string): string {
  return days === 0 ? '' : timeBefore(at, days * dayInMilliseconds);
}

/** Makes the header of a file. @throws {Error} if the header could not be read again */
export async function signHeader(header: Header, signer: Signer): Promise<SignedHeader> {
  const unsigned = JSON.stringify(header);
  const signature = Buffer.from(await signer.sign(sha256(unsigned))).toString('hex');
  const line = `${unsigned.slice(0, -1)},"signature":"${signature}"}\n`;
  const read = readHeader(Buffer.from(line), signer.publicKey);
  if (!isSigned(read))
    throw new Error(`The new header could not be read again: it is ${read.fault}`);
  return read;
}

/** Reads the line of a header, whose every byte counts. */
export function readHeader(bytes: Buffer, publicKey: KeyObject): ReadHeader {
  const line = bytes.toString();
  const [, start = '', signature = ''] =
    /^(\{.*),"signature":"([0-9a-f]{128})"\}\n$/s.exec(line) ?? [];
  const header = parseHeader(`${start}}`);
  // Bytes that are not UTF-8 change when they are decoded and encoded again.
  if (!header || bytes.length > maxHeader || !Buffer.from(line).equals(bytes)) {
    return { fault: 'foreign' };
  }
  const isValid =
    header.key === fingerprintOf(publicKey) &&
    verify(null, sha256(`${start}}`), publicKey, Buffer.from(signature, 'hex'));
  if (!isValid) return { fault: 'unsigned', key: header.key };
  return { ...header, line, hash: sha256(bytes).toString('hex') };
}

export function fingerprintOf(publicKey: KeyObject): string {
  return sha256(publicKey.export({ type: 'spki', format: 'der' })).toString('hex');
}

export function isSigned(header: ReadHeader): header is SignedHeader {
  return !('fault' in header);
}

/** Milliseconds before `from` that a run looks at again, because indexes show entries late. */
function lookBackOf(interval: number): number {
  return Math.max(6 * interval, 600) * 1000;
}

/** @returns undefined if a text is not a header in exactly the written form */
function parseHeader(unsigned: string): Header | undefined {
  try {
    const { success, output } = v.safeParse(form, JSON.parse(unsigned));
    return success && JSON.stringify(output) === unsigned ? output : undefined;
  } catch {
    return undefined;
  }
}

function number(least = 0, most = Number.MAX_SAFE_INTEGER) {
  return v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));
}
