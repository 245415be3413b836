import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { forgetRunning } from './running.ts';

const fileIn = (folder: string) => join(folder, 'service.lock');

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
export const wasLocked = (folder: string): boolean => existsSync(fileIn(folder));

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
  const file = fileIn(folder);
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
