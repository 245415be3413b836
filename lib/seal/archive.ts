/** The archive: files that are written once, each with a signed header and lines (lib/seal/README.md). */
import type { KeyObject } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32, createGunzip } from 'node:zlib';
import {
  isSigned,
  maxHeader,
  numberOf,
  type ReadHeader,
  readHeader,
  type SignedHeader,
} from './header.ts';
import { type Item, readLine, sha256 } from './line.ts';
import { type Spool, spool } from './spool.ts';

/** A file in the list of an archive. */
export interface ListedFile {
  readonly name: string;
  /** Whether the first version was overwritten or marked as deleted, or only a mark is there. */
  readonly altered?: boolean;
}

/** A store of files that are written once. */
export interface Archive {
  /** Lists files in the order of their names, which is newest first. @param from inclusive */
  list(from?: string): AsyncIterable<ListedFile>;
  /**
   * Opens the first version of a file.
   * @param most bytes that are wanted; absent: all
   * @returns undefined when there is none
   */
  open(name: string, most?: number): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Writes a file whole or not at all. @returns false when there is one of that name */
  create(name: string, content: Content): Promise<boolean>;
}

/** Bytes to write. */
export interface Content {
  readonly size: number;
  /** All of them, from the beginning each time. */
  read(): AsyncIterable<Uint8Array>;
}

/** An archive, and the key that signs it. */
export interface Trail {
  readonly archive: Archive;
  readonly publicKey: KeyObject;
}

/** The archive is not as a sealer left it. */
export class BrokenTrail extends Error {
  override readonly name = 'BrokenTrail';
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
  // An object that was archived, or encrypted by a key that only its writer has.
  'InvalidObjectState',
  'InvalidRequest',
]);

const isOfFile = (error: unknown): boolean =>
  error instanceof Error &&
  (codesOfFile.has(error.name) || codesOfFile.has(String((error as { code?: unknown }).code)));

/**
 * Opens a file; one that is not there, or cannot be read while the store can be reached, is empty.
 * @throws errors of a store that fails
 */
async function* partsOf(archive: Archive, name: string, most?: number): AsyncGenerator<Uint8Array> {
  try {
    const parts = await archive.open(name, most);
    if (parts) yield* parts;
  } catch (error) {
    if (!isOfFile(error)) throw error;
  }
}

/** The first bytes of the member of a header: gzip without a name or a time, and one stored block. */
const memberStart = Buffer.from('1f8b08000000000000ff01', 'hex');
/** Bytes of the member before the header, and after it. */
const [sizeBefore, sizeAfter] = [memberStart.length + 4, 8];

/** The gzip member of a header: its bytes follow from the header, as nothing is compressed. */
export const memberOf = (line: Buffer): Buffer => {
  const [sizes, sums] = [Buffer.alloc(4), Buffer.alloc(sizeAfter)];
  sizes.writeUInt16LE(line.length);
  sizes.writeUInt16LE(line.length ^ 0xffff, 2);
  sums.writeUInt32LE(crc32(line));
  sums.writeUInt32LE(line.length, 4);
  return Buffer.concat([memberStart, sizes, line, sums]);
};

/** Bytes that the member of a header has at most. */
const maxMember = sizeBefore + maxHeader + sizeAfter;

/** Reads the header at the beginning of a file. @param bytes as many as its member may have */
const headerIn = (bytes: Buffer, publicKey: KeyObject): ReadHeader => {
  if (bytes.length < sizeBefore) return { fault: 'foreign' };
  const line = bytes.subarray(sizeBefore, sizeBefore + bytes.readUInt16LE(memberStart.length));
  const member = memberOf(line);
  return member.equals(bytes.subarray(0, member.length))
    ? readHeader(line, publicKey)
    : { fault: 'foreign' };
};

/** The header must be that of the file's own number, which is in its name. */
const inPlace = (name: string, header: ReadHeader): ReadHeader =>
  isSigned(header) && header.number !== numberOf(name) ? { fault: 'foreign' } : header;

/** Reads the header of a file alone. */
export const readHeaderOf = async (
  { archive, publicKey }: Trail,
  name: string,
): Promise<ReadHeader> => {
  const parts: Uint8Array[] = [];
  for await (const part of partsOf(archive, name, maxMember)) parts.push(part);
  return inPlace(name, headerIn(Buffer.concat(parts), publicKey));
};

/** A file that was read: its header, and its lines, compressed, which the caller closes. */
export interface OpenFile {
  readonly header: ReadHeader;
  /** Absent where the lines are not those of the header. */
  readonly content?: Spool;
  /** SHA-256 of the bytes that are there, of the lines where the header is signed; absent: of none. */
  readonly hash?: string;
}

/** The rest of a file, but no more than one byte too many. */
async function* restOf(
  first: Buffer,
  parts: AsyncGenerator<Uint8Array>,
  { length }: SignedHeader,
): AsyncGenerator<Uint8Array> {
  let size = first.length;
  yield first;
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    size += next.value.length;
    yield next.value;
    if (size > length) return;
  }
}

/** Reads a file, and checks the bytes of its lines before anything is unpacked. */
export const readFile = async ({ archive, publicKey }: Trail, name: string): Promise<OpenFile> => {
  const parts = partsOf(archive, name);
  try {
    let start = Buffer.of();
    while (start.length < maxMember) {
      const { done, value } = await parts.next();
      if (done) break;
      start = Buffer.concat([start, value]);
    }
    const header = inPlace(name, headerIn(start, publicKey));
    if (start.length === 0) return { header };
    if (!isSigned(header)) return { header, hash: sha256(start).toString('hex') };
    const member = memberOf(Buffer.from(header.line));
    const content = await spool(restOf(start.subarray(member.length), parts, header));
    const hash = content.sha256.toString('hex');
    if (content.size === header.length && hash === header.sha256) return { header, content, hash };
    await content.close();
    return { header, hash };
  } finally {
    await parts.return(undefined);
  }
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

/** A line, and the item that it is of. */
export interface SealedLine {
  readonly line: string;
  readonly item: Item;
}

/** Whether an error means that bytes are no gzip of lines. */
export const isOfContent = (error: unknown): boolean =>
  error instanceof SyntaxError ||
  (error instanceof Error &&
    /^(Z_|ERR_ENCODING_)/.test(String((error as { code?: unknown }).code)));

/**
 * Reads the lines of a file, some at a time, with only these in memory.
 * @throws an error that {@link isOfContent} where they are no gzip of lines to their end
 */
export async function* linesOf(content: Spool): AsyncGenerator<readonly SealedLine[]> {
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
  const gunzip = createGunzip();
  let rest = '';
  for await (const part of piped(content.read(), gunzip)) {
    const lines = (rest + utf8.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield lines.map((line) => ({ line, item: readLine(line) }));
  }
  if (rest + utf8.decode()) throw new SyntaxError('The last line is not ended');
  // Zeros after the gzip are skipped without an error.
  if (gunzip.bytesWritten !== content.size) throw new SyntaxError('More follows the gzip');
}

/** Reads the lines of a file as far as it is as it was sealed, some at a time. */
export async function* linesIn(trail: Trail, name: string): AsyncGenerator<readonly SealedLine[]> {
  const { content } = await readFile(trail, name);
  if (!content) return;
  try {
    yield* linesOf(content);
  } catch (error) {
    if (!isOfContent(error)) throw error;
  } finally {
    await content.close();
  }
}

/** How many files are read at once, because a remote store takes its time. */
const readAhead = 8;

/**
 * Reads one file after another, some of them ahead.
 * @param close frees what was read and is not wanted any more
 */
export async function* ahead<K, T>(
  names: Iterable<K>,
  read: (name: K) => Promise<T>,
  close: (read: T) => Promise<unknown> = async () => undefined,
): AsyncGenerator<T> {
  const reading: Promise<T>[] = [];
  const begin = (name: K) => {
    const begun = read(name);
    // Who waits for it hears of the error.
    begun.catch(() => undefined);
    reading.push(begun);
  };
  try {
    for (const name of names) {
      begin(name);
      const first = reading.length === readAhead ? reading.shift() : undefined;
      if (first) yield await first;
    }
    for (let first = reading.shift(); first; first = reading.shift()) yield await first;
  } finally {
    for (const each of reading) await each.then(close, () => undefined);
  }
}
