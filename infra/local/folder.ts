import { randomUUID } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Who runs this process: the name of the account on this machine, or its number without one. */
export const localAccount = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
};

/** What a running service leaves in its data folder for the operator's commands. */
export interface RunningService {
  readonly url: string;
  /** Address of its DynamoDB engine. */
  readonly endpoint: string;
  readonly usersTable: string;
  readonly auditTable: string;
  /** Absent when the signing secret is a value of its environment. */
  readonly secretFile?: string;
  /** Seconds from one window of the sealed trail to the next. */
  readonly sealInterval?: number;
  /** Variables that commands must read as the service does. */
  readonly settings: Readonly<Record<string, string>>;
}

const runningFile = (folder: string) => join(folder, 'service.json');

/** What the file says, true for as long as its folder is locked; undefined when there is none. */
export const readRunning = (folder: string): RunningService | undefined => {
  try {
    return JSON.parse(readFileSync(runningFile(folder), 'utf8'));
  } catch {
    return undefined;
  }
};

/** Text in a file beside another, to become that one in one step. */
const writeBeside = (file: string, text: string): string => {
  const unfinished = `${file}.${randomUUID()}`;
  writeFileSync(unfinished, text, { mode: 0o600, flag: 'wx' });
  return unfinished;
};

/** Writes a file that only its owner may read, whole or not at all. */
export const writePrivately = (file: string, text: string): void =>
  renameSync(writeBeside(file, text), file);

/** The same for a file that must not be there yet. @throws {Error} EEXIST when it is */
export const createPrivately = (file: string, text: string): void => {
  const unfinished = writeBeside(file, text);
  try {
    linkSync(unfinished, file);
  } finally {
    rmSync(unfinished);
  }
};

/** Leaves word of a service in its data folder, which it has locked. */
export const announceRunning = (folder: string, service: RunningService): void =>
  writePrivately(runningFile(folder), JSON.stringify(service));

/** Takes that word away. */
export const forgetRunning = (folder: string): void => rmSync(runningFile(folder), { force: true });

const lockFile = (folder: string) => join(folder, 'service.lock');

/** SQLite's code for a database that somebody else has locked. */
const busy = 5;

/** Makes an empty file that only its owner may read, unless it is there. */
const makeFile = (file: string): void => {
  try {
    // Never opened when it is there: on closing it, the system would drop this process's own lock.
    if (!existsSync(file)) writeFileSync(file, '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
};

/** Whether a service has ever had its data in a folder. */
export const wasLocked = (folder: string): boolean => existsSync(lockFile(folder));

/**
 * Takes a data folder for this process, until it ends, however it ends: Node has no locks of
 * files, but SQLite's are the system's, which lets go of them with the process.
 * @returns what gives the folder back; undefined when another process has it
 * @throws {Error} when the folder can be neither made nor written
 */
export const lockFolder = (folder: string): (() => void) | undefined => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `DATA_DIR must name a folder that can be made or used, not ${folder} (${code}).`,
    );
  }
  const file = lockFile(folder);
  makeFile(file);
  const database = new DatabaseSync(file);
  try {
    // IMMEDIATE is one step, so that one of any number wins; EXCLUSIVE is several.
    database.exec('BEGIN IMMEDIATE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== busy) throw error;
    return undefined;
  }
  // A service that was killed has left it: now it names nobody, or somebody else.
  forgetRunning(folder);
  return () => database.close();
};
