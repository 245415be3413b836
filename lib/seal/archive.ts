/** The archive: files that are written once, each with a signed header and lines (lib/seal/README.md). */
import type { KeyObject } from 'node:crypto';
import { crc32, createGunzip } from 'node:zlib';
import {
  fileName,
  isSigned,
  maxHeader,
  maxNumber,
  numberOf,
  type ReadHeader,
  readHeader,
  type SignedHeader,
  type Tally,
  tallyLine,
} from './header.ts';
import { type Item, readLine, sha256 } from './line.ts';

interface ListedFile {
  readonly name: string;
  /** Whether the first version was overwritten or marked as deleted, or is gone so that only a mark is left. */
  readonly altered?: boolean;
}

/** A store of files that are written once. */
export interface Archive {
  /** Lists files in the order of their names, which is newest first. */
  list(): AsyncIterable<ListedFile>;
  /**
   * Reads a range of the first version of a file.
   * @param end exclusive; bytes beyond the end of the file are left out
   * @returns undefined when there is no such file
   */
  read(name: string, start: number, end: number): Promise<Buffer | undefined>;
  /** Writes a whole file, or nothing. @returns false if there is a file of that name */
  create(name: string, content: Buffer): Promise<boolean>;
}

/** An archive whose files are read by their names, and the key that signs it. */
export interface ReadTrail {
  readonly archive: Pick<Archive, 'read'>;
  readonly publicKey: KeyObject;
}

export interface Trail extends ReadTrail {
  readonly archive: Archive;
}

/** The prefix of all names of the archive in a bucket. */
export const archivePrefix = 'audit-archive/';

/** The archive differs from what a sealer has written. */
export class BrokenTrail extends Error {
  override readonly name = 'BrokenTrail';
}

/** The first bytes of the member of a header: gzip without a name or a time, and one stored block. */
const memberStart = Buffer.from('1f8b08000000000000ff01', 'hex');
/** Bytes of the member before the header, and after it. */
const [sizeBefore, sizeAfter] = [memberStart.length + 4, 8];

export interface ReadFile {
  readonly number: number;
  readonly header: ReadHeader;
  /** SHA-256 of the bytes at the beginning of the file; absent: it has none. */
  readonly hash?: string;
}

export interface SealedLine {
  readonly line: string;
  readonly item: Item;
}

/** Lists the files of an archive, newest first; other names are ignored. */
export async function* listFiles({ archive }: Trail) {
  for await (const { name, altered = false } of archive.list()) {
    const number = numberOf(name);
    if (number !== undefined) yield { number, altered };
  }
}

/** The numbers of files of an archive from a number up to another one, oldest first. */
export async function numbersIn(trail: Trail, first = 0, last = maxNumber) {
  const numbers: number[] = [];
  for await (const { number } of listFiles(trail)) {
    if (first <= number && number <= last) numbers.push(number);
  }
  return numbers.reverse();
}

/** Reads the header of a file, which must have the number of the file. */
export async function readHeaderOf(trail: ReadTrail, number: number): Promise<ReadFile> {
  const content = await readRange(trail, number, 0, sizeBefore + maxHeader + sizeAfter);
  if (content.length === 0) return { number, header: { fault: 'foreign' } };
  const hash = sha256(content).toString('hex');
  const length = content.length < sizeBefore ? 0 : content.readUInt16LE(memberStart.length);
  const line = content.subarray(sizeBefore, sizeBefore + length);
  const member = memberOf(line);
  const isMember = member.equals(content.subarray(0, member.length));
  const header: ReadHeader = isMember ? readHeader(line, trail.publicKey) : { fault: 'foreign' };
  const isInPlace = !isSigned(header) || header.number === number;
  return { number, header: isInPlace ? header : { fault: 'foreign' }, hash };
}

/** The gzip member of a header. Its bytes follow from the header, because nothing is compressed. */
export function memberOf(line: string | Buffer): Buffer {
  const header = Buffer.from(line);
  const [sizes, sums] = [Buffer.alloc(4), Buffer.alloc(sizeAfter)];
  sizes.writeUInt16LE(header.length);
  sizes.writeUInt16LE(header.length ^ 0xffff, 2);
  sums.writeUInt32LE(crc32(header));
  sums.writeUInt32LE(header.length, 4);
  return Buffer.concat([memberStart, sizes, header, sums]);
}

/**
 * Reads the lines of a file, one after another, with only some of them in memory.
 * @param content the second part, if it was read before
 * @returns how the lines differ from the sealed lines; undefined if they do not differ
 */
export async function readLines(
  trail: Trail,
  header: SignedHeader,
  take: (sealed: SealedLine) => void,
  content?: Buffer,
): Promise<string | undefined> {
  const bytes = content ?? (await readContent(trail, header));
  if (!isContentOf(header, bytes)) return 'Its lines are not those of its header';
  const tally: Tally = { count: 0, oldest: null, newest: null };
  const takeEach = (sealed: SealedLine) => {
    tallyLine(tally, sealed.item);
    take(sealed);
  };
  try {
    for await (const lines of unpack(bytes)) {
      for (const line of lines) takeEach({ line, item: readLine(line) });
    }
  } catch (error) {
    if (!isOfContent(error)) throw error;
    return 'Its second part is no gzip of lines';
  }
  const wrong = (['count', 'oldest', 'newest'] as const).find(
    (each) => tally[each] !== header[each],
  );
  return wrong && `${wrong} is ${tally[wrong]}, not ${header[wrong]}`;
}

/** Reads the second part of a file, with one further byte if the file is longer. */
export function readContent(trail: ReadTrail, { line, number, length }: SignedHeader) {
  const start = memberOf(line).length;
  return readRange(trail, number, start, start + length + 1);
}

/** Whether bytes are the second part of a file, as its header says. */
export function isContentOf({ length, sha256: wanted }: SignedHeader, bytes: Buffer): boolean {
  return bytes.length === length && sha256(bytes).toString('hex') === wanted;
}

/**
 * Unpacks lines, some at a time.
 * @param unpacked receives the number of bytes before their lines are returned, and may throw
 * @throws SyntaxError and errors of zlib if the content is not such lines ({@link isOfContent})
 */
export async function* unpack(
  content: Buffer,
  unpacked: (bytes: number) => void = () => undefined,
): AsyncGenerator<readonly string[]> {
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
  const gunzip = createGunzip();
  gunzip.end(content);
  let rest = '';
  for await (const part of gunzip) {
    unpacked(part.length);
    const lines = (rest + utf8.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
  if (rest + utf8.decode()) throw new SyntaxError('The last line is not ended');
  // Zeros after the gzip are skipped without an error.
  if (gunzip.bytesWritten !== content.length) throw new SyntaxError('More follows the gzip');
}

/** Whether an error means that bytes are not lines in gzip. */
export function isOfContent(error: unknown): boolean {
  return error instanceof SyntaxError || /^(Z_|ERR_ENCODING_)/.test(codeOf(error));
}

/** How many files are read at once, in the given order, because a remote store is slow to respond. */
const readAhead = 16;

export async function* ahead<T>(
  numbers: readonly number[],
  read: (number: number) => Promise<T>,
): AsyncGenerator<T> {
  for (let at = 0; at < numbers.length; at += readAhead) {
    yield* await Promise.all(numbers.slice(at, at + readAhead).map(read));
  }
}

/** Names and codes of errors that concern only one file, in a file system and in S3. */
const ofFile =
  /^(EISDIR|ENOTDIR|ENXIO|ELOOP|EACCES|EPERM|EIO|ENODEV|EINVAL|InvalidObjectState|InvalidRequest)$/;

/** Reads a range of a file. The range is empty if the store can be reached but the file cannot be read. */
async function readRange({ archive }: ReadTrail, file: number, start: number, end: number) {
  try {
    return (await archive.read(fileName(file), start, end)) ?? Buffer.of();
  } catch (error) {
    if (ofFile.test(codeOf(error)) || ofFile.test((error as Error).name)) return Buffer.of();
    throw error;
  }
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}
