import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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

const fileIn = (folder: string) => join(folder, 'service.json');

/** What the file says, true for as long as its folder is locked; undefined when there is none. */
export const readRunning = (folder: string): RunningService | undefined => {
  try {
    return JSON.parse(readFileSync(fileIn(folder), 'utf8'));
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
  writePrivately(fileIn(folder), JSON.stringify(service));

/** Takes that word away. */
export const forgetRunning = (folder: string): void => rmSync(fileIn(folder), { force: true });
