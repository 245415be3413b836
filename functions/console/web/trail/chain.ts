/**
 * Verifies the chain of the seal's digests from the newest one back, by WebCrypto alone. Rules and
 * words are those of lib/seal/README.md (Digests, Verification).
 */

interface Digest {
  readonly format: number;
  readonly from: string;
  readonly until: string;
  readonly at: string;
  readonly interval: number;
  readonly archive_days: number;
  readonly entries: {
    readonly file: string;
    readonly sha256: string;
    readonly count: number;
    readonly late: number;
    readonly oldest: string | null;
    readonly newest: string | null;
  };
  readonly verified: {
    readonly from: string;
    readonly until: string;
    readonly at: string;
    readonly faults: number;
  } | null;
  readonly previous: {
    readonly file: string;
    readonly sha256: string;
    readonly signature: string;
  } | null;
  readonly key: string;
}

export interface SealKey {
  readonly key: Parameters<typeof crypto.subtle.verify>[1];
  /** SHA-256 of the public key (SPKI, DER). */
  readonly fingerprint: string;
}

/** A digest that the verifier remembers from another time. */
export interface SeenDigest {
  readonly file: string;
  readonly sha256: string;
}

/** What was verified so far. */
export interface Chain {
  readonly digests: number;
  readonly entries: number;
  readonly newest?: SeenDigest & Digest;
  readonly oldest?: Digest;
  /** Milliseconds since 1970: windows that end until then may have left the archive. */
  readonly left: number;
  readonly hasSeen: boolean;
}

/** The first digest at which the chain breaks. */
export interface Break {
  readonly file: string;
  /** What is wrong with it, to be read after its name. */
  readonly fault: string;
}

export const nothingVerified: Chain = { digests: 0, entries: 0, left: 0, hasSeen: false };

const bytesOf = (text: string) => new TextEncoder().encode(text);

const hexOf = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

const fromHex = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

const sha256 = (bytes: Uint8Array<ArrayBuffer>) => crypto.subtle.digest('SHA-256', bytes);

/** @param pem an Ed25519 key @throws where this browser knows no Ed25519, or it is another key */
export const readKey = async (pem: string): Promise<SealKey> => {
  const base64 = pem.replaceAll(/-----[^-]+-----|\s/g, '');
  const der = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const key = await crypto.subtle.importKey('spki', der, { name: 'Ed25519' }, false, ['verify']);
  return { key, fingerprint: hexOf(await sha256(der)) };
};

/** Of a line of a digest, without its line feed. */
const maxLength = 2047;

const beginning = '0000-01-01T00:00:00.000Z';
const day = 86_400_000;

const isTime = (value: unknown): boolean => {
  const time = typeof value === 'string' && value.length === 24 ? Date.parse(value) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString() === value;
};
const isDigestName = (value: unknown): boolean => {
  const [, ...parts] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.digest\.json$/.exec(String(value)) ?? [];
  const [year, month, day, hour, minute, second, rest] = parts;
  return isTime(`${year}-${month}-${day}T${hour}:${minute}:${second}.${rest}Z`);
};
const isHash = (value: unknown): boolean => /^[0-9a-f]{64}$/.test(String(value));
const isNumber = (value: unknown, most = Number.MAX_SAFE_INTEGER): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most;

/** The members of a digest in their order: what else a text has, or in another order, is lost. */
const inOrder = ({ entries, verified, previous, ...digest }: Digest): Digest => ({
  format: digest.format,
  from: digest.from,
  until: digest.until,
  at: digest.at,
  interval: digest.interval,
  archive_days: digest.archive_days,
  entries: {
    file: entries.file,
    sha256: entries.sha256,
    count: entries.count,
    late: entries.late,
    oldest: entries.oldest,
    newest: entries.newest,
  },
  verified: verified && {
    from: verified.from,
    until: verified.until,
    at: verified.at,
    faults: verified.faults,
  },
  previous: previous && {
    file: previous.file,
    sha256: previous.sha256,
    signature: previous.signature,
  },
  key: digest.key,
});

const hasForm = ({ entries, verified, previous, ...digest }: Digest): boolean =>
  [
    digest.format === 2,
    [digest.from, digest.until, digest.at].every(isTime),
    isNumber(digest.interval, 86_400) && digest.interval > 0,
    isNumber(digest.archive_days, 36_500),
    isHash(entries.sha256) && isNumber(entries.count) && isNumber(entries.late),
    [entries.oldest, entries.newest].every((time) => time === null || isTime(time)),
    verified === null ||
      ([verified.from, verified.until, verified.at].every(isTime) && isNumber(verified.faults)),
    previous === null ||
      (isDigestName(previous.file) &&
        isHash(previous.sha256) &&
        /^[0-9a-f]{128}$/.test(String(previous.signature))),
    isHash(digest.key),
  ].every(Boolean);

const parse = (unsigned: string): Digest | undefined => {
  try {
    const digest = inOrder(JSON.parse(unsigned));
    return JSON.stringify(digest) === unsigned && hasForm(digest) ? digest : undefined;
  } catch {
    return undefined;
  }
};

const compact = (time: string): string => time.replaceAll(/[-:.]/g, '');

const nameOf = ({ from }: Pick<Digest, 'from'>): string => `${compact(from)}.digest.json`;

/** What a digest says that cannot be so, whoever signed it. */
const contradictionIn = (digest: Digest, fingerprint: string, now: number): string | undefined => {
  const { from, until, at, interval, entries, verified, previous, key } = digest;
  const { file, sha256, count, late, oldest, newest } = entries;
  const grace = Math.min(interval, 60) * 1000;
  const rules: readonly (readonly [holds: boolean, fault: string])[] = [
    [key === fingerprint, 'names another key'],
    [from < until, 'ends before it begins'],
    [Date.parse(until) <= Date.parse(at) - grace, 'was closed too early'],
    [Date.parse(at) <= now + grace, 'is of the future'],
    [file === `${compact(from)}.${sha256}.ndjson.gz`, 'names a file of another window'],
    [late <= count && (oldest === null) === (newest === null), 'has counts that do not add up'],
    [(oldest ?? '') <= (newest ?? ''), 'has times that do not add up'],
    [
      !verified || (verified.from < verified.until && verified.at <= at),
      'has a check that cannot be',
    ],
    [(previous === null) === (from === beginning), 'is not where the chain begins'],
  ];
  return rules.find(([holds]) => !holds)?.[1];
};

export interface Verifier extends SealKey {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The newest digest at the last verification. */
  readonly seen?: SeenDigest | undefined;
}

interface Read extends SeenDigest {
  readonly digest: Digest;
  readonly signature: string;
  readonly isSigned: boolean;
}

/** A line of a digest; undefined where it does not have the form. */
const read = async (line: string, key: SealKey['key']): Promise<Read | undefined> => {
  const [, start, signature] = /^(\{[ -~]*),"signature":"([0-9a-f]{128})"\}$/.exec(line) ?? [];
  const digest = line.length < maxLength ? parse(`${start}}`) : undefined;
  if (!digest || !signature) return undefined;
  const signed = await sha256(bytesOf(`${start}}`));
  const isSigned = await crypto.subtle.verify({ name: 'Ed25519' }, key, fromHex(signature), signed);
  const own = hexOf(await sha256(bytesOf(`${line}\n`)));
  return { file: nameOf(digest), sha256: own, digest, signature, isSigned };
};

const faultOf = (
  { oldest: after }: Chain,
  { digest, file, sha256: own, signature, isSigned }: Read,
  { fingerprint, now, seen }: Verifier,
): string | undefined => {
  if (!isSigned) return 'is not signed by the key';
  const contradiction = contradictionIn(digest, fingerprint, now);
  if (contradiction) return contradiction;
  const { from, previous } = after ?? { from: digest.until, previous: { sha256: own, signature } };
  if (from !== digest.until) return 'does not end where the next window begins';
  if (previous?.sha256 !== own || previous.signature !== signature) {
    return 'is not the one that the digest after it names';
  }
  const isOther = seen?.file === file && seen.sha256 !== own;
  return isOther ? 'is not the one that this browser saw' : undefined;
};

/**
 * Verifies the next digest.
 * @param line its file, without the line feed at its end
 */
export const verifyNext = async (
  chain: Chain,
  line: string,
  verifier: Verifier,
): Promise<Chain | Break> => {
  const expected = chain.oldest?.previous?.file;
  const found = await read(line, verifier.key);
  if (!found) return { file: expected ?? 'The newest digest', fault: 'is unreadable' };
  const { file, sha256: own, digest } = found;
  if (expected && file !== expected) return { file: expected, fault: 'is missing' };
  const fault = faultOf(chain, found, verifier);
  if (fault) return { file, fault };
  const { archive_days: days, at, entries } = digest;
  const left = days > 0 ? (chain.newest ? Date.parse(at) : verifier.now) - days * day : 0;
  return {
    digests: chain.digests + 1,
    entries: chain.entries + entries.count,
    newest: chain.newest ?? { ...digest, file, sha256: own },
    oldest: digest,
    left: Math.max(chain.left, left),
    hasSeen: chain.hasSeen || verifier.seen?.file === file,
  };
};

/**
 * What is wrong where the digests end: undefined where the chain is complete, or where what is
 * missing may have left the archive.
 */
export const breakAtEnd = (
  { oldest, left, hasSeen }: Chain,
  seen?: SeenDigest,
): Break | undefined => {
  if (!oldest) return { file: 'The newest digest', fault: 'is missing' };
  const { previous, from } = oldest;
  const mayEnd = previous === null || Date.parse(from) <= left;
  if (!mayEnd) return { file: previous.file, fault: 'is missing, or not signed by the key' };
  // What has left the archive is older than what is there.
  const wasNewer = seen && !hasSeen && seen.file >= nameOf(oldest);
  return wasNewer ? { file: seen.file, fault: 'was here before, and is not any more' } : undefined;
};
