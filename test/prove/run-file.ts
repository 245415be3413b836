/**
 * The file of a run, written before the first call, so that everything that the run has made can be found and removed.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../infra/operator/failure.ts';
import type { Outcome, Proof } from '../rehearsal/proof.ts';

export interface Run {
  /** A random text, which is in the name or the tag of everything that the run makes. */
  readonly id: string;
  readonly account: string;
  readonly region: string;
  readonly commit: string;
  readonly begun: string;
  readonly isLocked: boolean;
  /** The names of the chosen steps; empty: all steps except those that take hours. */
  readonly only: readonly string[];
  /** The inventory of the account before each stack was made. */
  readonly before: Proof['before'];
  /** The hours for which its stacks have existed. */
  hours: number;
  /** The outcomes of the steps so far. */
  outcomes: readonly Outcome[];
  /** The items that were removed so far. */
  removed: readonly string[];
}

export const fileOf = (folder: string): string => join(folder, 'run.json');

/** Begins a run. @throws {Failure} while the folder has the file of another run */
export const beginRun = (
  folder: string,
  given: Pick<Run, 'account' | 'region' | 'commit' | 'isLocked' | 'only'>,
): Run => {
  const now = { begun: new Date().toISOString(), hours: 0, before: {}, outcomes: [], removed: [] };
  const run = { id: randomBytes(4).toString('hex'), ...given, ...now };
  mkdirSync(folder, { recursive: true });
  requireNone(folder);
  // With this flag, writing fails if another process has begun a run in the meantime.
  writeFileSync(fileOf(folder), textOf(run), { flag: 'wx', mode: 0o600 });
  return run;
};

/** Requires a folder without a run. @throws {Failure} while the folder has the file of a run */
export const requireNone = (folder: string): void => {
  if (!existsSync(fileOf(folder))) return;
  throw new Failure(
    `${fileOf(folder)} is of a run that has not ended: go on with it by --resume, or remove what it made by --clean.`,
  );
};

/** Reads the run of a folder. @throws {Failure} if it has no file of a run, or the run has another account or region */
export const readRun = (
  folder: string,
  { account, region }: Pick<Run, 'account' | 'region'>,
): Run => {
  if (!existsSync(fileOf(folder))) {
    throw new Failure(`${fileOf(folder)} is missing: there is no run to go on with or to clean.`);
  }
  const run: Run = JSON.parse(readFileSync(fileOf(folder), 'utf8'));
  if (run.account === account && run.region === region) return run;
  throw new Failure(
    `${fileOf(folder)} is of a run in ${run.account}, ${run.region}: give its --account and --region.`,
  );
};

export const writeRun = (folder: string, run: Run): void => {
  // Because of the renaming, a kill leaves either the old file or the new one, and never a part of a file.
  writeFileSync(`${fileOf(folder)}.new`, textOf(run), { mode: 0o600 });
  renameSync(`${fileOf(folder)}.new`, fileOf(folder));
};

/** Keeps the file of a run that has left nothing in the account, under the id of the run. */
export const endRun = (folder: string, run: Run): void => {
  writeRun(folder, run);
  renameSync(fileOf(folder), join(folder, `run-${run.id}.json`));
};

const textOf = (run: Run): string => `${JSON.stringify(run, null, 2)}\n`;
