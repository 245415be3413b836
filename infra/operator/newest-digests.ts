import { mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Remembered } from '../../lib/audit/seal/newest.ts';
import { writePrivately } from '../local/running.ts';

/** Outside every archive: who can write there must not be able to make this forget. */
const stateFolder = () =>
  join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'accounts-service');

const fileIn = (folder: string) => join(folder, 'newest-digests.json');

const readAll = (): Readonly<Record<string, Remembered>> => {
  try {
    return JSON.parse(readFileSync(fileIn(stateFolder()), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
};

/** The newest digest by a key that was verified on this machine. */
export const recallNewest = (fingerprint: string): Remembered | undefined => readAll()[fingerprint];

/** Keeps it for the next time. */
export const rememberNewest = (fingerprint: string, newest: Remembered): void => {
  const folder = stateFolder();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const all = { ...readAll(), [fingerprint]: newest };
  writePrivately(fileIn(folder), `${JSON.stringify(all, null, 2)}\n`);
};
