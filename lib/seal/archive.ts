/** Where sealed windows are kept, and how their files are read. */
import type { KeyObject } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  type Digest,
  digestName,
  isDigestName,
  readDigest,
  type SignedDigest,
  timeInName,
} from './digest.ts';
import { readLine, type SealedLine } from './line.ts';
import { collect, type Spool, spool } from './spool.ts';

/** A file of the archive. */
export interface ArchivedFile {
  readonly name: string;
  /** The first of its versions, where the store has versions. */
  readonly version?: string | undefined;
  /** Whether another version, or a mark that it is deleted, lies over it. */
  readonly altered?: boolean;
}

/** A store of files that are written once. Names order as text does. */
export interface Archive {
  /** Files from a name on, inclusive, in the order of their names. */
  list(from: string): AsyncIterable<ArchivedFile>;
  /** @returns its bytes; undefined when there is none */
  open(file: ArchivedFile): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Writes a file whole or not at all. @returns false when there is one of that name */
  create(name: string, content: Buffer | Spool): Promise<boolean>;
}

/** A file that cannot be read, while others can, or one that is too long. */
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

async function* limited(
  bytes: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const part of bytes) {
      size += part.length;
      if (size > most) throw new UnreadableFile(`It is longer than ${most} bytes`);
      yield part;
    }
  } catch (error) {
    throw isOfFile(error) ? new UnreadableFile('It cannot be read', { cause: error }) : error;
  }
}

/**
 * Reads a file of at most so many bytes.
 * @returns undefined when there is none, or it is longer, or no file that can be read
 * @throws what the store throws when it cannot be reached, and what `read` throws
 */
const readUpTo = async <T>(
  archive: Archive,
  file: ArchivedFile,
  { most, read }: { most: number; read: (bytes: AsyncIterable<Uint8Array>) => Promise<T> },
): Promise<T | undefined> => {
  try {
    const bytes = await archive.open(file).catch((error) => {
      if (!isOfFile(error)) throw error;
      return undefined;
    });
    return bytes && (await read(limited(bytes, most)));
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return undefined;
  }
};

/** Bytes, far more than a digest has. */
const longestDigest = 65_536;

/** The whole of the file of a digest. @returns undefined when there is none that can be read */
export const readFile = (archive: Archive, file: ArchivedFile): Promise<Buffer | undefined> =>
  readUpTo(archive, file, { most: longestDigest, read: collect });

/** A file as a list has it, which tells the first of its versions. */
export const findFile = async (
  archive: Archive,
  name: string,
): Promise<ArchivedFile | undefined> => {
  for await (const file of archive.list(name)) return file.name === name ? file : undefined;
  return undefined;
};

/** Files from a name on, by name. */
export const listFiles = async (
  archive: Archive,
  from: string,
): Promise<ReadonlyMap<string, ArchivedFile>> => {
  const files = new Map<string, ArchivedFile>();
  for await (const file of archive.list(from)) files.set(file.name, file);
  return files;
};

/** Digests in the order of their windows, from a name on. */
export const listDigests = async (archive: Archive, from: string): Promise<ArchivedFile[]> => {
  const digests: ArchivedFile[] = [];
  for await (const file of archive.list(from)) if (isDigestName(file.name)) digests.push(file);
  return digests;
};

/** When the window begins in which a time is; undefined when there is none. */
export const windowAt = async (archive: Archive, time: string): Promise<string | undefined> => {
  const digests = await listDigests(archive, '');
  return digests.map(({ name }) => timeInName(name)).findLast((begun) => begun <= time);
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
  archive: Archive,
  file: ArchivedFile,
  publicKey: KeyObject,
): Promise<ReadDigest> => {
  const content = await readFile(archive, file);
  const digest = content ? readDigest(content, publicKey) : 'unreadable';
  if (typeof digest === 'string') return digest;
  return digestName(digest.from) === file.name ? digest : 'moved';
};

/** A digest; undefined when it is not there or not as its sealer left it. */
export const findDigest = async (
  archive: Archive,
  file: ArchivedFile,
  publicKey: KeyObject,
): Promise<SignedDigest | undefined> => {
  const digest = await readDigestFile(archive, file, publicKey);
  return typeof digest === 'object' ? digest : undefined;
};

/** Bytes, more than an entry has, which is an item of DynamoDB with each character escaped. */
const longestLine = 6 * 409_600;

/**
 * The file of a window's entries, to be closed; undefined when it is not the one that the digest is
 * about.
 * @param files what is known of the files of the archive, by name
 */
export const readEntriesFile = async (
  archive: Archive,
  { entries }: Pick<Digest, 'entries'>,
  files: ReadonlyMap<string, ArchivedFile> = new Map(),
): Promise<Spool | undefined> => {
  const file = files.get(entries.file) ?? { name: entries.file };
  const most = 1024 + entries.count * longestLine;
  const content = await readUpTo(archive, file, { most, read: spool });
  if (content?.sha256.toString('hex') === entries.sha256) return content;
  await content?.close();
  return undefined;
};

/** A window as it lies in the archive. */
export interface StoredWindow {
  readonly file: ArchivedFile;
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
 * Windows of a list of digests, one after another, with their files of entries as long as each is
 * looked at.
 * @param files what is known of the files of the archive, by name
 * @param isWanted whether the entries of a window are
 */
export async function* readWindows(
  { archive, publicKey }: { readonly archive: Archive; readonly publicKey: KeyObject },
  {
    digests,
    files,
  }: { digests: readonly ArchivedFile[]; files: ReadonlyMap<string, ArchivedFile> },
  isWanted: (digest: SignedDigest) => boolean = () => true,
): AsyncGenerator<StoredWindow> {
  const withContent = async (window: StoredWindow): Promise<StoredWindow> => {
    const { digest } = window;
    if (typeof digest === 'string' || !isWanted(digest)) return window;
    return { ...window, content: await readEntriesFile(archive, digest, files) };
  };
  for (let at = 0; at < digests.length; at += readAhead.digests) {
    const some = digests.slice(at, at + readAhead.digests);
    let rest: readonly StoredWindow[] = await Promise.all(
      some.map(async (file) => ({ file, digest: await readDigestFile(archive, file, publicKey) })),
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
