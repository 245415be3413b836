/** Where sealed windows are kept, and how their files are read. */
import type { KeyObject } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
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

/** A file as a list shows it. */
export interface ListedFile {
  readonly name: string;
  /** Whether another version, or a mark that it is deleted, lies over the first version. */
  readonly altered?: boolean;
}

/** A store of files that are written once. Names order as text does. */
export interface Archive {
  /** Files from a name on, inclusive, in the order of their names. */
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

/** A file that is not there, is too long or cannot be read, while others can. */
class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

/** Codes of errors that are about one file: of a file system, and of S3. */
const codesOfFile = new Set([
  ...['EISDIR', 'ENOTDIR', 'ENXIO', 'ELOOP', 'EACCES', 'EPERM', 'EIO', 'ENODEV', 'EINVAL'],
  ...['ERR_FS_FILE_TOO_LARGE', 'InvalidObjectState'],
]);

const isOfFile = (error: unknown): boolean =>
  error instanceof Error &&
  (codesOfFile.has(error.name) || codesOfFile.has(String((error as { code?: unknown }).code)));

/** @throws {UnreadableFile} also for more than `most` bytes; what the store throws when it fails */
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

/** @returns undefined where the bytes are those of no file that can be read */
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

/** Bytes, far more than a digest has. */
const longestDigest = 65_536;

/** The whole of the file of a digest. @returns undefined when there is none that can be read */
export const readFile = (archive: Archive, name: string): Promise<Buffer | undefined> =>
  readIfThere(bytesOf(archive, name, longestDigest), buffer);

/** The windows that begin in a time, as an archive lists them. */
export interface Listing {
  /** Names of digests, in the order of their windows. */
  readonly digests: readonly string[];
  /** Names that only a digest has, with no time in them. */
  readonly misnamed: readonly string[];
  /** Names of files that are altered. */
  readonly altered: readonly string[];
  /** When the first window begins that is not in the list. */
  readonly next?: string;
}

/** @param since inclusive; absent: from the beginning @param until exclusive */
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

/** When the window begins in which a time is; undefined when there is none. */
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

/** A digest, or what is wrong with its file. */
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

/** A digest; undefined when it is not there or not as its sealer left it. */
export const findDigest = async (
  trail: SignedArchive,
  name: string,
): Promise<SignedDigest | undefined> => {
  const digest = await readDigestFile(trail, name);
  return typeof digest === 'object' ? digest : undefined;
};

/** Digests without the right signature that are passed: more are no junk, but of another key. */
const maxSkipped = 1000;

const day = 86_400_000;

/**
 * The newest digest that the key has signed, and the names of those after it that it has not, newest
 * first. An archive lists its files upwards, so that ever more of the past is listed until there is one.
 * @throws {BrokenTrail} when too many are not signed
 */
export const findNewest = async (
  trail: SignedArchive,
  now: Date,
): Promise<{ newest: SignedDigest | undefined; skipped: readonly string[] }> => {
  const skipped: string[] = [];
  let until = endOfTime;
  for (let days = 2; until > beginning; days *= 8) {
    const since = timeBefore(now.toISOString(), days * day);
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

/** Bytes, more than an entry has, which is an item of DynamoDB with each character escaped. */
const longestLine = 6 * 409_600;

/**
 * The file of a window's entries, to be closed; undefined when it is not the one that the digest is
 * about.
 */
export const readEntriesFile = async (
  archive: Archive,
  { entries }: Pick<Digest, 'entries'>,
): Promise<Spool | undefined> => {
  const most = 1024 + entries.count * longestLine;
  const content = await readIfThere(bytesOf(archive, entries.file, most), spool);
  if (content?.sha256.toString('hex') === entries.sha256) return content;
  await content?.close();
  return undefined;
};

/** A window as it lies in the archive. */
export interface StoredWindow {
  /** Of its digest. */
  readonly name: string;
  readonly digest: ReadDigest;
  /** Absent when its file is not the one that was sealed, or is not wanted. */
  readonly content?: Spool | undefined;
}

/** Digests, and entries, that are read at a time: each is a wait for a store that is far away. */
const readAhead = { digests: 32, entries: 10_000 };

/** How many of some windows, at least one, have no more entries than are read at a time. */
const fittingOf = (windows: readonly StoredWindow[]): number => {
  let entries = 0;
  const over = windows.findIndex(({ digest }) => {
    entries += typeof digest === 'object' ? digest.entries.count : 0;
    return entries > readAhead.entries;
  });
  return over < 0 ? windows.length : Math.max(1, over);
};

/**
 * Windows, one after another, with their files of entries as long as each is looked at.
 * @param names of their digests
 * @param isWanted whether the entries of a window are
 */
export async function* readWindows(
  trail: SignedArchive,
  names: readonly string[],
  isWanted: (digest: SignedDigest) => boolean = () => true,
): AsyncGenerator<StoredWindow> {
  const withContent = async (window: StoredWindow): Promise<StoredWindow> => {
    const { digest } = window;
    if (typeof digest === 'string' || !isWanted(digest)) return window;
    return { ...window, content: await readEntriesFile(trail.archive, digest) };
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
        for (const { content } of windows) await content?.close();
      }
      rest = rest.slice(fitting);
    }
  }
}

/** What comes out of a stream that bytes or text go into, their errors included. */
export const piped = <T extends NodeJS.ReadWriteStream & { destroy(error: Error): unknown }>(
  source: AsyncIterable<string | Uint8Array>,
  stream: T,
): T => {
  const readable = Readable.from(source);
  readable.once('error', (error) => stream.destroy(error));
  return readable.pipe(stream);
};

/** Whether lines could not be read because of what they are. */
export const isOfContent = (error: unknown): boolean =>
  error instanceof SyntaxError ||
  (error instanceof Error && String((error as { code?: unknown }).code).startsWith('Z_'));

/** The lines of a file of entries, never more than a part of them in memory. */
export async function* linesOf(content: Spool): AsyncGenerator<SealedLine> {
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const part of piped(content.read(), createGunzip())) {
    const lines = (rest + utf8.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield readLine(line);
  }
}
