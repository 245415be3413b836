/** Where sealed windows are kept, and how they are read. */
import type { KeyObject } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { digestName, isDigestName, readDigest, type SignedDigest, timeInName } from './digest.ts';
import { readLine, type SealedLine, sha256 } from './line.ts';

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
  /** @returns undefined when there is none */
  read(file: ArchivedFile): Promise<Buffer | undefined>;
  /** Writes a file whole or not at all. @returns false when there is one of that name */
  create(name: string, content: Buffer): Promise<boolean>;
}

/** A file as a list has it, which tells the first of its versions. */
export const findFile = async (
  archive: Archive,
  name: string,
): Promise<ArchivedFile | undefined> => {
  for await (const file of archive.list(name)) return file.name === name ? file : undefined;
  return undefined;
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

/** A digest; undefined when it is not there or not as its sealer left it. */
export const findDigest = async (
  archive: Archive,
  file: ArchivedFile,
  publicKey: KeyObject,
): Promise<SignedDigest | undefined> => {
  const content = await archive.read(file);
  const digest = content && readDigest(content, publicKey);
  return typeof digest === 'object' && digestName(digest.from) === file.name ? digest : undefined;
};

/**
 * The file of a window's entries; undefined when it is not the one that the digest is about.
 * @param files what is known of the files of the archive, by name
 */
export const readEntriesFile = async (
  archive: Archive,
  { entries }: SignedDigest,
  files: ReadonlyMap<string, ArchivedFile> = new Map(),
): Promise<Buffer | undefined> => {
  const content = await archive.read(files.get(entries.file) ?? { name: entries.file });
  return content && sha256(content).toString('hex') === entries.sha256 ? content : undefined;
};

/** The lines of a file of entries, never more than a part of them in memory. */
export async function* linesOf(content: Buffer): AsyncGenerator<SealedLine> {
  const utf8 = new TextDecoder();
  let rest = '';
  for await (const part of Readable.from([content]).pipe(createGunzip())) {
    const lines = (rest + utf8.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield readLine(line);
  }
}
