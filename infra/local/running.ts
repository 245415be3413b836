import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a running service leaves in its data folder for the operator's commands. */
export interface RunningService {
  readonly pid: number;
  readonly url: string;
  /** Address of its DynamoDB engine. */
  readonly endpoint: string;
  readonly usersTable: string;
  readonly auditTable: string;
  /** Absent when the signing secret is a value of its environment. */
  readonly secretFile?: string;
}

const fileIn = (folder: string) => join(folder, 'service.json');

/** What the file says, whether or not that service still runs; undefined when there is none. */
export const readRunning = (folder: string): RunningService | undefined => {
  try {
    return JSON.parse(readFileSync(fileIn(folder), 'utf8'));
  } catch {
    return undefined;
  }
};

/** Writes a file that only its owner may read, whole or not at all. */
export const writePrivately = (file: string, text: string): void => {
  const unfinished = `${file}.${randomUUID()}`;
  writeFileSync(unfinished, text, { mode: 0o600, flag: 'wx' });
  renameSync(unfinished, file);
};

/** @returns what takes the file away again, unless another service has written it since */
export const announceRunning = (folder: string, service: RunningService): (() => void) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writePrivately(fileIn(folder), JSON.stringify(service));
  return () => {
    if (readRunning(folder)?.pid === service.pid) rmSync(fileIn(folder), { force: true });
  };
};
