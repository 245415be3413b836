/** The archive: files that are written once, each with a signed header and lines (lib/seal/README.md). */
import type { KeyObject } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32, createGunzip } from 'node:zlib';
import {
  fileName,
  isSigned,
  maxHeader,
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
  /** Lists files in the order of their names, which is newest first. */
  list(): AsyncIterable<ListedFile>;
  /**
   * Reads a range of the first version of a file.
   * @param end exclusive; bytes that are not there are left out
   * @returns undefined when there is no such file, or it has no byte of the range
   */
  open(name: string, start: number, end: number): Promise<AsyncIterable<Uint8Array> | undefined>;
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

/** Names and codes of errors that concern one file only, in a file system and in S3. */
const ofFile =
  /^(EISDIR|ENOTDIR|ENXIO|ELOOP|EACCES|EPERM|EIO|ENODEV|EINVAL|InvalidObjectState|InvalidRequest)$/;

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code);

/** Reads a range of a file, which is empty when it cannot be read while the store can be reached. */
async function* bytesOf(archive: Archive, name: string, start: number, end: number) {
  try {
    yield* (await archive.open(name, start, end)) ?? [];
  } catch (error) {
    if (!ofFile.test(codeOf(error)) && !ofFile.test((error as Error).name)) throw error;
  }
}

/** The first bytes of the member of a header: gzip without a name or a time, and one stored block. */
const memberStart = Buffer.from('1f8b08000000000000ff01', 'hex');
/** Bytes of the member before the header, and after it. */
const [sizeBefore, sizeAfter] = [memberStart.length + 4, 8];

/** The gzip member of a header: its bytes follow from the header, as nothing is compressed. */
export const memberOf = (line: string | Buffer): Buffer => {
  const header = Buffer.from(line);
  const [sizes, sums] = [Buffer.alloc(4), Buffer.alloc(sizeAfter)];
  sizes.writeUInt16LE(header.length);
  sizes.writeUInt16LE(header.length ^ 0xffff, 2);
  sums.writeUInt32LE(crc32(header));
  sums.writeUInt32LE(header.length, 4);
  return Buffer.concat([memberStart, sizes, header, sums]);
};

/** A file whose header was read. */
export interface ReadFile {
  readonly number: number;
  readonly header: ReadHeader;
  /** SHA-256 of the bytes at its beginning; absent: there are none. */
  readonly hash?: string;
}

/** Reads the header of a file, which must be that of its number. */
export const readHeaderOf = async (
  { archive, publicKey }: Trail,
  number: number,
): Promise<ReadFile> => {
  const most = sizeBefore + maxHeader + sizeAfter;
  const content = await buffer(bytesOf(archive, fileName(number), 0, most));
  if (content.length === 0) return { number, header: { fault: 'foreign' } };
  const hash = sha256(content).toString('hex');
  const length = content.length < sizeBefore ? 0 : content.readUInt16LE(memberStart.length);
  const line = content.subarray(sizeBefore, sizeBefore + length);
  const member = memberOf(line);
  const isMember = member.equals(content.subarray(0, member.length));
  const header = isMember ? readHeader(line, publicKey) : ({ fault: 'foreign' } as const);
  const isInPlace = !isSigned(header) || header.number === number;
  return { number, header: isInPlace ? header : { fault: 'foreign' }, hash };
};

/**
 * Reads the lines of a file as they are compressed, and checks them before anything is unpacked.
 * @returns bytes that the caller closes; undefined when they are not those of the header
 */
export const readContent = async (
  { archive }: Trail,
  { line, number, length, sha256: hash }: SignedHeader,
): Promise<Spool | undefined> => {
  const start = memberOf(line).length;
  // One byte too many is enough to see that there are more.
  const content = await spool(bytesOf(archive, fileName(number), start, start + length + 1));
  if (content.size === length && content.sha256.toString('hex') === hash) return content;
  await content.close();
  return undefined;
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
  error instanceof SyntaxError || /^(Z_|ERR_ENCODING_)/.test(codeOf(error));

/**
 * Reads the lines of a file, some at a time, with only these in memory; and closes it.
 * @throws an error that {@link isOfContent} where they are no gzip of lines to their end
 */
export async function* linesOf(content: Spool): AsyncGenerator<readonly SealedLine[]> {
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
  const gunzip = createGunzip();
  let rest = '';
  try {
    for await (const part of piped(content.read(), gunzip)) {
      const lines = (rest + utf8.decode(part, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield lines.map((line) => ({ line, item: readLine(line) }));
    }
    if (rest + utf8.decode()) throw new SyntaxError('The last line is not ended');
    // Zeros after the gzip are skipped without an error.
    if (gunzip.bytesWritten !== content.size) throw new SyntaxError('More follows the gzip');
  } finally {
    await content.close();
  }
}

/** Reads the lines of a file as far as it is as it was sealed, some at a time. */
export async function* linesIn(
  trail: Trail,
  header: SignedHeader,
): AsyncGenerator<readonly SealedLine[]> {
  const content = await readContent(trail, header);
  try {
    if (content) yield* linesOf(content);
  } catch (error) {
    if (!isOfContent(error)) throw error;
  }
}

/** How many files are read at once, because a remote store takes its time. */
const readAhead = 16;

/** Reads one file after another, some of them at once. */
export async function* ahead<T>(
  numbers: readonly number[],
  read: (number: number) => Promise<T>,
): AsyncGenerator<T> {
  for (let at = 0; at < numbers.length; at += readAhead) {
    yield* await Promise.all(numbers.slice(at, at + readAhead).map(read));
  }
}
