import { constants, createReadStream } from 'node:fs';
import { access, open, stat, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Failure } from './failure.ts';

export interface Input {
  readonly chunks: AsyncIterable<Buffer>;
  /** Bytes; 0 if the size is not known. */
  readonly size: number;
}

/** Finds a file to read. @param name the name of the file, or - for standard input @throws {Failure} */
export async function openInput(name: string): Promise<Input> {
  if (name === '-') return { chunks: process.stdin, size: 0 };
  const file = locate(name);
  try {
    await access(file, constants.R_OK);
    const status = await stat(file);
    if (status.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    return { chunks: chunksOf(file), size: status.size };
  } catch (error) {
    throw cannotOpen(file, error);
  }
}

/** Writes text. Resolves when more can be written. */
export type Write = (text: string) => Promise<unknown>;

const toStandardOutput: Write = (text) =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (cause) => {
      if (cause) reject(new Failure('The export is not complete.', { cause }));
      else resolve(undefined);
    });
  });

/**
 * Creates a file that only its owner may read, and deletes it if it cannot be written completely.
 * @param name the name of the file, or - for standard output
 * @throws {Failure} if the file exists or cannot be created, or if standard output cannot be written to; and the errors
 *   of `writeAll`
 */
export async function exportTo<T>(
  name: string,
  writeAll: (write: Write) => Promise<T>,
): Promise<T> {
  if (name === '-') return writeAll(toStandardOutput);
  const { handle, discard } = await createPrivateFile(name);
  try {
    const result = await writeAll((text) => handle.appendFile(text));
    await handle.sync();
    await handle.close();
    return result;
  } catch (error) {
    await discard();
    throw error;
  }
}

/**
 * Creates a file that only its owner may read.
 * @returns its handle, and a function that closes and deletes the file
 * @throws {Failure} if the file exists or cannot be created
 */
export async function createPrivateFile(name: string) {
  const file = locate(name);
  try {
    const handle = await open(file, 'wx', 0o600);
    const discard = async () => {
      await handle.close();
      await unlink(file);
    };
    return { handle, discard };
  } catch (error) {
    throw cannotOpen(file, error);
  }
}

/** Resolves a file name from the folder in which npm was called, because npm changes to another folder. */
export function locate(name: string): string {
  const { npm_lifecycle_event: script, INIT_CWD: caller } = process.env;
  return resolve(script === 'operator' && caller ? caller : process.cwd(), name);
}

export interface Line {
  /** The number of the line; the first line has the number 1. */
  readonly number: number;
  /** Bytes of the file up to the end of this line. */
  readonly end: number;
  /** The text of the line; absent if the line cannot be read: `fault` then says why. */
  readonly text?: string;
  readonly fault?: string;
}

const newline = 0x0a;

/**
 * Reads lines from chunks of a file, with only one line in memory at a time. Lines end with LF or CRLF, which may be
 * missing after the last line.
 * @param maxBytes the most bytes of a line; the text of a longer line is dropped
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  { maxBytes }: { maxBytes: number },
): AsyncGenerator<Line> {
  let [number, end, length] = [0, 0, 0];
  let parts: Buffer[] = [];
  const take = (bytes: Buffer) => {
    length += bytes.length;
    if (length <= maxBytes) parts.push(bytes);
  };
  const finish = (): Line => {
    number += 1;
    const content =
      length > maxBytes
        ? { fault: `is longer than ${maxBytes} bytes` }
        : decode(Buffer.concat(parts));
    [parts, length] = [[], 0];
    return { number, end, ...content };
  };

  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      take(chunk.subarray(from, at));
      end += at + 1 - from;
      from = at + 1;
      yield finish();
    }
    take(chunk.subarray(from));
    end += chunk.length - from;
  }
  if (length > 0) yield finish();
}

/** Opens the file only when it is read, so that a command that ends before leaves no file open. */
async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  yield* createReadStream(file);
}

const faults: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be opened: you lack the permission',
  EEXIST: 'exists already: choose another name, nothing is overwritten',
  EISDIR: 'is a folder',
  ENOTDIR: 'is not in a folder',
};

function cannotOpen(file: string, error: unknown): Failure {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  return new Failure(`${file} ${faults[code] ?? `cannot be opened (${code})`}.`);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Buffer): Pick<Line, 'text' | 'fault'> {
  try {
    return { text: utf8.decode(bytes).replace(/\r$/, '') };
  } catch {
    return { fault: 'is not valid UTF-8' };
  }
}
