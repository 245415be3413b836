import { randomUUID } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unwatchFile,
  watchFile,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The account of this machine that runs this process: its name, or its number if it has no name. */
export function localAccount(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

/** The facts that a running service writes to its data folder for the operator's commands. */
export interface RunningService {
  readonly url: string;
  readonly endpoint: string;
  readonly usersTable: string;
  readonly auditTable: string;
  /** The file of the signing secret; absent if the secret is given in the environment. */
  readonly secretFile?: string;
  /** Seconds from one run of the sealer to the next. */
  readonly sealInterval?: number;
  /** Environment variables whose values commands must share with the service. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Reads the facts that {@link announceRunning} has written. They are current as long as the folder is locked.
 * @returns undefined if nothing was written
 */
export function readRunning(folder: string): RunningService | undefined {
  try {
    return JSON.parse(readFileSync(runningFile(folder), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Writes a new file that only its owner may read, completely or not at all. @throws {Error} EEXIST when it exists */
export function createPrivately(file: string, text: string): void {
  const unfinished = writeBeside(file, text);
  try {
    linkSync(unfinished, file);
  } finally {
    rmSync(unfinished);
  }
}

/** Writes to the data folder, which the service has locked, that it is running. */
export function announceRunning(folder: string, service: RunningService): void {
  writePrivately(runningFile(folder), JSON.stringify(service));
}

/** Writes a file that only its owner may read, completely or not at all. */
export function writePrivately(file: string, text: string): void {
  renameSync(writeBeside(file, text), file);
}

/** Whether a folder has ever been the data folder of a service. */
export function wasLocked(folder: string): boolean {
  return existsSync(lockFile(folder));
}

/** SQLite's code for a database that another process has locked. */
const busy = 5;

/**
 * Locks a data folder until this process ends, however it ends. Node cannot lock files, but SQLite can, and the
 * operating system releases its locks when the process ends.
 * @returns a function that unlocks the folder; undefined when another process has locked it
 * @throws {Error} when the folder cannot be created or written to
 */
export function lockFolder(folder: string): (() => void) | undefined {
  try {
    makeFolder(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `DATA_DIR must name a folder that can be created or used, not ${folder} (${code}).`,
    );
  }
  const file = lockFile(folder);
  makeFile(file);
  const database = new DatabaseSync(file);
  try {
    // IMMEDIATE locks in one step, so that exactly one process succeeds; EXCLUSIVE locks in several steps.
    database.exec('BEGIN IMMEDIATE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== busy) throw error;
    return undefined;
  }
  // A service that was killed has left this file, which is now out of date.
  forgetRunning(folder);
  return () => database.close();
}

export function forgetRunning(folder: string): void {
  rmSync(runningFile(folder), { force: true });
}

/** Milliseconds after which a deleted data folder is noticed. */
const watchInterval = 1000;

/**
 * Watches a data folder that this process has locked, because an engine continues to write to deleted files, which can
 * no longer be read.
 * @returns a promise that resolves when the folder is deleted or replaced, and a function that ends the watch
 */
export function watchFolder(folder: string): { deleted: Promise<void>; stop(): void } {
  const file = lockFile(folder);
  const { ino } = statSync(file);
  const { promise, resolve } = Promise.withResolvers<void>();
  const options = { interval: watchInterval, persistent: false };
  watchFile(file, options, (now) => {
    if (now.ino !== ino) resolve();
  });
  return { deleted: promise, stop: () => unwatchFile(file) };
}

function runningFile(folder: string) {
  return join(folder, 'service.json');
}

/** Writes text to a new file beside an existing file, which the new file can then replace in one step. */
function writeBeside(file: string, text: string): string {
  const unfinished = `${file}.${randomUUID()}`;
  writeFileSync(unfinished, text, { mode: 0o600, flag: 'wx' });
  return unfinished;
}

function lockFile(folder: string) {
  return join(folder, 'service.lock');
}

/** Creates a folder and its parents. Node's own function never returns if no folder can be created, as in /proc. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(folder))) throw error;
    makeFolder(dirname(folder));
    mkdirSync(folder, { mode: 0o700 });
  }
}

function makeFile(file: string): void {
  try {
    // An existing file is not opened: closing it would release a lock that this process holds.
    if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
