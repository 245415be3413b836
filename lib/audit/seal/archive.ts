/** Where sealed windows are kept, and how they are read. */
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
import { type Spool, spool } from './spool.ts';

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

/** Bytes: far more than a digest has. */
const maxSmall = 65_536;

/** The whole of a file that is small. @returns undefined when there is none, or a larger one */
export const readFile = async (
  archive: Archive,
  file: ArchivedFile,
): Promise<Buffer | undefined> => {
  const bytes = await archive.open(file);
  if (!bytes) return undefined;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of bytes) {
    size += part.length;
    if (size > maxSmall) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
};

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

/** A digest; undefined when it is not there or not as its sealer left it. */
export const findDigest = async (
  archive: Archive,
  file: ArchivedFile,
  publicKey: KeyObject,
): Promise<SignedDigest | undefined> => {
  const content = await readFile(archive, file);
  const digest = content && readDigest(content, publicKey);
  return typeof digest === 'object' && digestName(digest.from) === file.name ? digest : undefined;
};

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
  const bytes = await archive.open(files.get(entries.file) ?? { name: entries.file });
  const content = bytes && (await spool(bytes));
  if (content?.sha256.toString('hex') === entries.sha256) return content;
  await content?.close();
  return undefined;
};

/** What comes out of a stream that bytes or text go into, their errors included. */
export const piped = <T extends NodeJS.ReadWriteStream & { destroy(error: Error): unknown }>(
  source: AsyncIterable<string | Uint8Array>,
  stream: T,
): T => {
  const readable = Readable.from(source);
  readable.once('error', (error) => stream.destroy(error));
  return readable.pipe(stream);
};

/** The lines of a file of entries, never more than a part of them in memory. */
export async function* linesOf(content: Spool): AsyncGenerator<SealedLine> {
  const utf8 = new TextDecoder();
  let rest = '';
  for await (const part of piped(content.read(), createGunzip())) {
    const lines = (rest + utf8.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield readLine(line);
  }
}
