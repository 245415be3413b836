/** The archive of sealed windows: how its files are listed, read and checked. */
import type { KeyObject } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { dayInMilliseconds } from '../time.ts';
import {
  beginning,
  compact,
  type Digest,
  digestName,
  endOfTime,
  isDigestName,
  readDigest,
  type SignedDigest,
  timeBefore,
  timeInName,
} from './digest.ts';
import { readLine, type SealedLine } from './line.ts';
import { type Spool, spool } from './spool.ts';

/** A file in the list of an archive. */
export interface ListedFile {
  readonly name: string;
  /** Whether the first version was overwritten or marked as deleted. */
  readonly altered?: boolean;
}

/** A store of files that are written once. */
export interface Archive {
  /** Lists files from a name on, inclusive, in the order of their names. */
  list(from: string): AsyncIterable<ListedFile>;
  /** @returns the bytes of its first version; undefined when there is none */
  open(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Writes a file whole or not at all. @returns false when there is one of that name */
  create(name: string, content: Buffer | Spool): Promise<boolean>;
}

/** An archive, and the key that signs it. */
export interface SignedArchive {
  readonly archive: Archive;
  readonly publicKey: KeyObject;
}

/** The file does not exist, is too long or cannot be read, while the store can be reached. */
class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

/** Codes of errors that concern one file only, in a file system and in S3. */
const codesOfFile = new Set([
  'EISDIR',
  'ENOTDIR',
  'ENXIO',
  'ELOOP',
  'EACCES',
  'EPERM',
  'EIO',
  'ENODEV',
  'EINVAL',
  'ERR_FS_FILE_TOO_LARGE',
  'InvalidObjectState',
]);

const isOfFile = (error: unknown): boolean =>
  error instanceof Error &&
  (codesOfFile.has(error.name) || codesOfFile.has(String((error as { code?: unknown }).code)));

/** @throws {UnreadableFile} also for more than `most` bytes; errors of a store that fails */
async function* bytesOf(archive: Archive, name: string, most: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    const bytes = await archive.open(name);
    if (!bytes) throw new UnreadableFile();
    for await (const part of bytes) {
      size += part.length;
      if (size > most) throw new UnreadableFile();
      yield part;
    }
  } catch (error) {
    throw isOfFile(error) ? new UnreadableFile() : error;
  }
}

/** @returns undefined when the bytes are of a file that cannot be read */
const readIfThere = async <T>(
  bytes: AsyncIterable<Uint8Array>,
  read: (bytes: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T | undefined> => {
  try {
    return await read(bytes);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return undefined;
  }
};

/** Bytes: far more than a digest needs. */
const longestDigest = 65_536;

/** Reads the file of a digest. @returns undefined when it cannot be read */
export const readFile = (archive: Archive, name: string): Promise<Buffer | undefined> =>
  readIfThere(bytesOf(archive, name, longestDigest), buffer);

/** The windows that an archive lists, of those that begin in a given time. */
export interface Listing {
  /** Names of digests, in the order of their windows. */
  readonly digests: readonly string[];
  /** Names that end as those of digests do, but hold no valid time. */
  readonly misnamed: readonly string[];
  /** Names of files that are altered. */
  readonly altered: readonly string[];
  /** When the first window after the list begins. */
  readonly next?: string;
}

/** @param since inclusive; default: the beginning @param until exclusive */
export const listWindows = async (
  archive: Archive,
  since = beginning,
  until = endOfTime,
): Promise<Listing> => {
  const files: ListedFile[] = [];
  let next: string | undefined;
  for await (const file of archive.list(since === beginning ? '' : compact(since))) {
    if (isDigestName(file.name) && timeInName(file.name) >= until) {
      next = timeInName(file.name);
      break;
    }
    files.push(file);
  }
  const names = files.map(({ name }) => name).filter((name) => name.endsWith('.digest.json'));
  return {
    digests: names.filter(isDigestName),
    misnamed: names.filter((name) => !isDigestName(name)),
    altered: files.filter(({ altered }) => altered).map(({ name }) => name),
    ...(next === undefined ? {} : { next }),
  };
};

/** Finds the beginning of the window that contains a time; undefined when there is none. */
export const windowAt = async (archive: Archive, time: string): Promise<string | undefined> => {
  const { digests } = await listWindows(archive);
  return digests.map(timeInName).findLast((begun) => begun <= time);
};

/** A file of the archive that is not as the sealer left it. */
export class BrokenTrail extends Error {
  override readonly name = 'BrokenTrail';
}

/** @param name of the file */
export const notAsSealed = (name: string): BrokenTrail =>
  new BrokenTrail(`${name} is not as it was sealed`);

/** A digest, or the reason why its file is not accepted. */
export type ReadDigest = SignedDigest | 'unreadable' | 'wrongly signed' | 'moved';

export const readDigestFile = async (
  { archive, publicKey }: SignedArchive,
  name: string,
): Promise<ReadDigest> => {
  const content = await readFile(archive, name);
  const digest = content ? readDigest(content, publicKey) : 'unreadable';
  if (typeof digest === 'string') return digest;
  return digestName(digest.from) === name ? digest : 'moved';
};

/** @returns undefined when the digest is not there or not as its sealer left it */
export const findDigest = async (
  trail: SignedArchive,
  name: string,
): Promise<SignedDigest | undefined> => {
  const digest = await readDigestFile(trail, name);
  return typeof digest === 'object' ? digest : undefined;
};

/** Unsigned digests that are skipped: more are not junk, but digests of another key. */
const maxSkipped = 1000;

/**
 * The newest digest that the key has signed, and the names of unsigned ones after it, newest first.
 * Archives list files upwards only, so that more and more of the past is listed until one is found.
 * @throws {BrokenTrail} when too many are unsigned
 */
export const findNewest = async (
  trail: SignedArchive,
  now: Date,
): Promise<{ newest: SignedDigest | undefined; skipped: readonly string[] }> => {
  const skipped: string[] = [];
  let until = endOfTime;
  for (let days = 2; until > beginning; days *= 8) {
    const since = timeBefore(now.toISOString(), days * dayInMilliseconds);
    const { digests } = await listWindows(trail.archive, since, until);
    for (const name of digests.toReversed()) {
      const newest = await findDigest(trail, name);
      if (newest) return { newest, skipped };
      skipped.push(name);
      if (skipped.length > maxSkipped) throw notAsSealed(skipped[0] ?? '');
    }
    until = since;
  }
  return { newest: undefined, skipped };
};

/** Pipes bytes or text into a stream, with their errors. @returns the stream */
export const piped = <T extends NodeJS.ReadWriteStream & { destroy(error: Error): unknown }>(
  source: AsyncIterable<string | Uint8Array>,
  stream: T,
): T => {
  const readable = Readable.from(source);
  readable.once('error', (error) => stream.destroy(error));
  return readable.pipe(stream);
};

/** Whether an error means that a file holds no gzip of lines. */
const isOfContent = (error: unknown): boolean =>
  error instanceof SyntaxError ||
  (error instanceof Error &&
    /^(Z_|ERR_ENCODING_)/.test(String((error as { code?: unknown }).code)));

/** Reads the lines of a file of entries, with only a part of them in memory. */
export async function* linesOf(content: Spool): AsyncGenerator<SealedLine> {
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
  const gunzip = createGunzip();
  let rest = '';
  for await (const part of piped(content.read(), gunzip)) {
    const lines = (rest + utf8.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield readLine(line);
  }
  if (rest + utf8.decode()) throw new SyntaxError('The last line is not ended');
  // Zeros after the gzip are skipped without an error.
  if (gunzip.bytesWritten !== content.size) throw new SyntaxError('More follows the gzip');
}

/** Bytes: an item of DynamoDB (400 KB) with each character escaped. */
const longestLine = 6 * 409_600;

const holdsLines = async (content: Spool): Promise<boolean> => {
  try {
    for await (const _ of linesOf(content));
    return true;
  } catch (error) {
    if (!isOfContent(error)) throw error;
    return false;
  }
};

/**
 * Reads the file of a window's entries, which the caller closes.
 * @returns undefined when its hash is not the one in the digest, or it is no gzip of lines to its end
 */
export const readEntriesFile = async (
  archive: Archive,
  { entries }: Pick<Digest, 'entries'>,
): Promise<Spool | undefined> => {
  const most = 1024 + entries.count * longestLine;
  const content = await readIfThere(bytesOf(archive, entries.file, most), spool);
  const isSame = content?.sha256.toString('hex') === entries.sha256;
  if (isSame && (await holdsLines(content))) return content;
  await content?.close();
  return undefined;
};

/** A window as it lies in the archive. */
export interface StoredWindow {
  /** Of its digest. */
  readonly name: string;
  readonly digest: ReadDigest;
  /** The file of its entries; absent where it is not wanted. */
  readonly content?: Spool | 'unreadable';
}

/** Reads the lines of a window, if its file was wanted and can be read. */
export async function* linesIn({ content }: StoredWindow): AsyncGenerator<SealedLine> {
  if (typeof content === 'object') yield* linesOf(content);
}

/** How many digests, and entries, are requested at once, because a remote store takes its time. */
const readAhead = { digests: 32, entries: 10_000 };

/** How many of the windows, but at least one, fit into the number of entries that are read at once. */
const fittingOf = (windows: readonly StoredWindow[]): number => {
  let entries = 0;
  const over = windows.findIndex(({ digest }) => {
    entries += typeof digest === 'object' ? digest.entries.count : 0;
    return entries > readAhead.entries;
  });
  return over < 0 ? windows.length : Math.max(1, over);
};

const close = async ({ content }: StoredWindow): Promise<void> => {
  if (typeof content === 'object') await content.close();
};

/**
 * Reads windows one after another; the file of entries is open until the next one is asked for.
 * @param names of their digests
 * @param isWanted whether the entries of a window are read
 */
export async function* readWindows(
  trail: SignedArchive,
  names: readonly string[],
  isWanted: (digest: SignedDigest) => boolean = () => true,
): AsyncGenerator<StoredWindow> {
  const withContent = async (window: StoredWindow): Promise<StoredWindow> => {
    const { digest } = window;
    if (typeof digest === 'string' || !isWanted(digest)) return window;
    const content = await readEntriesFile(trail.archive, digest);
    return { ...window, content: content ?? 'unreadable' };
  };
  for (let at = 0; at < names.length; at += readAhead.digests) {
    const some = names.slice(at, at + readAhead.digests);
    let rest: readonly StoredWindow[] = await Promise.all(
      some.map(async (name) => ({ name, digest: await readDigestFile(trail, name) })),
    );
    while (rest.length > 0) {
      const fitting = fittingOf(rest);
      const windows = await Promise.all(rest.slice(0, fitting).map(withContent));
      try {
        yield* windows;
      } finally {
        await Promise.all(windows.map(close));
      }
      rest = rest.slice(fitting);
    }
  }
}
