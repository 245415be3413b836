import { mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { faultName } from '../../lib/errors.ts';
import { writePrivately } from '../local/folder.ts';
import { Failure } from './failure.ts';

/** Outside every archive: who can write there must not be able to make this forget. */
const stateFolder = () =>
  join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'accounts-service');

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '{}';
    throw error;
  }
};

const cannotRead = (path: string, cause: unknown): Failure =>
  new Failure(
    `${path} cannot be read (${faultName(cause)}), which has what was verified before: put it right, or move it away.`,
    { cause },
  );

/** What is remembered by name, in a file. */
const memoryIn = <T>(file: string, value: v.GenericSchema<T>) => {
  const all = v.record(v.string(), value);
  const pathIn = (folder: string) => join(folder, file);
  const readAll = (): Readonly<Record<string, T>> => {
    const path = pathIn(stateFolder());
    try {
      return v.parse(all, JSON.parse(readText(path)));
    } catch (error) {
      throw cannotRead(path, error);
    }
  };
  return {
    /** @throws {Failure} when the file cannot be read */
    recall: (name: string): T | undefined => readAll()[name],
    /** Keeps it for the next time. @throws {Failure} the same; what the file system throws */
    remember: (name: string, remembered: T): void => {
      const known = readAll();
      mkdirSync(stateFolder(), { recursive: true, mode: 0o700 });
      const text = JSON.stringify({ ...known, [name]: remembered }, null, 2);
      writePrivately(pathIn(stateFolder()), `${text}\n`);
    },
  };
};

/** The newest digest that was verified on this machine, by the fingerprint of its key. */
export const newestDigests = memoryIn(
  'newest-digests.json',
  v.object({ file: v.string(), sha256: v.string() }),
);

/** The fingerprint of the key by which a service's trail was verified, by the service. */
export const sealKeys = memoryIn('seal-keys.json', v.string());
