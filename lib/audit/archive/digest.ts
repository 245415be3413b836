/** Digests of windows: their form, their names, their signatures (lib/audit/README.md, Digests). */
import { type KeyObject, verify } from 'node:crypto';
import { sha256 } from './line.ts';

/** What a digest says of its window. The fields are written in this order. */
export interface Digest {
  readonly format: 1;
  /** The window: created_at from (inclusive) until (exclusive), ISO 8601. */
  readonly from: string;
  readonly until: string;
  /** Seconds from one window to the next, where nothing stands still. */
  readonly interval: number;
  readonly entries: {
    readonly file: string;
    readonly sha256: string;
    readonly count: number;
    /** How many of them bear a time that is not of this window. */
    readonly late: number;
    /** created_at of the oldest and the newest; null when there is none. */
    readonly oldest: string | null;
    readonly newest: string | null;
  };
  /** The digest before; null in the first one. */
  readonly previous: {
    readonly file: string;
    readonly sha256: string;
    readonly signature: string;
  } | null;
  /** SHA-256 of the public key (SPKI, DER). */
  readonly key: string;
}

/** A digest as it lies in the archive. */
export interface SignedDigest extends Digest {
  readonly signature: string;
  /** Of the whole file. */
  readonly sha256: string;
}

/** Before the first entry that there can be. */
export const beginning = '0000-01-01T00:00:00.000Z';

/** A time as names of files begin with it. */
export const compact = (time: string): string => time.replaceAll(/[-:.]/g, '');

/** The name of a window's digest: of the time at which it begins, so that there can be one only. */
export const digestName = (from: string): string => `${compact(from)}.digest.json`;

export const isDigestName = (name: string): boolean => /^\d{8}T\d{9}Z\.digest\.json$/.test(name);

/** The time in the name of a digest. */
export const timeInName = (name: string): string =>
  name.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z.*/, '$1-$2-$3T$4:$5:$6.$7Z');

export const entriesName = (from: string, hash: string): string =>
  `${compact(from)}.${hash}.ndjson.gz`;

export const fingerprintOf = (publicKey: KeyObject): string =>
  sha256(publicKey.export({ type: 'spki', format: 'der' })).toString('hex');

/** What is signed: 32 bytes, whatever the length of the digest. */
const messageOf = (unsigned: string): Buffer => sha256(unsigned);

const isSigned = (unsigned: string, signature: Buffer, publicKey: KeyObject): boolean =>
  verify(null, messageOf(unsigned), publicKey, signature);

/** Signs with an Ed25519 key, wherever that is kept. */
export interface Signer {
  readonly publicKey: KeyObject;
  /** @param message 32 bytes */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** The file of a digest. @throws {Error} when the signer's signature is not by its key */
export const signDigest = async (digest: Digest, signer: Signer): Promise<Buffer> => {
  const unsigned = JSON.stringify(digest);
  const signature = Buffer.from(await signer.sign(messageOf(unsigned)));
  if (!isSigned(unsigned, signature, signer.publicKey)) {
    throw new Error('The signature does not verify by the public key');
  }
  return Buffer.from(`${unsigned.slice(0, -1)},"signature":"${signature.toString('hex')}"}\n`);
};

/**
 * Reads the file of a digest, to the byte.
 * @returns in the second case, what is wrong with it
 */
export const readDigest = (
  file: Buffer,
  publicKey: KeyObject,
): SignedDigest | 'unreadable' | 'wrongly signed' => {
  const [, start, signature] =
    /^(\{.*),"signature":"([0-9a-f]{128})"\}\n$/.exec(file.toString('utf8')) ?? [];
  if (start === undefined || signature === undefined) return 'unreadable';
  const unsigned = `${start}}`;
  if (!isSigned(unsigned, Buffer.from(signature, 'hex'), publicKey)) return 'wrongly signed';
  return { ...JSON.parse(unsigned), signature, sha256: sha256(file).toString('hex') };
};
