import { type FileHandle, open, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Failure } from './failure.ts';

/** npm runs the command in the folder of package.json; names are relative to the caller's. */
export const locate = (name: string): string => {
  const { npm_lifecycle_event: script, INIT_CWD: caller } = process.env;
  return resolve(script === 'operator' && caller ? caller : process.cwd(), name);
};

const faults: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be opened by you',
  EEXIST: 'exists already: choose another name, nothing is overwritten',
  EISDIR: 'is a folder',
  ENOTDIR: 'is not in a folder',
};

const cannotOpen = (file: string, error: unknown): Failure => {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  return new Failure(`${file} ${faults[code] ?? `cannot be opened (${code})`}.`);
};

export interface Input {
  readonly chunks: AsyncIterable<Buffer>;
  /** Bytes; 0 when it is not known. */
  readonly size: number;
}

/** @param name of a file, or - for standard input. @throws {Failure} */
export const openInput = async (name: string): Promise<Input> => {
  if (name === '-') return { chunks: process.stdin, size: 0 };
  const file = locate(name);
  try {
    const handle = await open(file);
    const status = await handle.stat();
    if (status.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    return { chunks: handle.createReadStream(), size: status.size };
  } catch (error) {
    throw cannotOpen(file, error);
  }
};

/** A file that did not exist, which only its owner may read. */
export interface NewFile {
  readonly handle: FileHandle;
  /** Closes it and takes it away. */
  discard(): Promise<void>;
}

/** @throws {Failure} when it exists or cannot be made */
export const createPrivateFile = async (name: string): Promise<NewFile> => {
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
};
