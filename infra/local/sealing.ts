import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeFault, logError } from '../../lib/log.ts';
import {
  type Archive,
  auditEntries,
  folderArchive,
  graceOf,
  localSigner,
  logFailure,
  makeKey,
  publicKeyName,
  removeUnfinished,
  type Signer,
  sealAndVerify,
} from '../../lib/seal/door.ts';
import { config } from '../../lib/settings.ts';
import { type Clock, type ClockWatch, machineClock, watchClock } from './clock-watch.ts';
import { removeExpiredEntries, removeExpiredItems, removeOldWindows } from './expiry.ts';
import { createPrivately, writePrivately } from './folder.ts';

/** The archive in a data folder. */
export const archiveFolder = (folder: string): string => join(folder, 'audit-archive');

const publicKeyFile = (folder: string) => join(archiveFolder(folder), publicKeyName);

/** The signing key is not in the archive, which people copy. */
const keyFile = (folder: string) => join(folder, 'audit-seal-key.pem');

/** The signing key of a data folder, made at the first start. */
const signerIn = (folder: string) => {
  const file = keyFile(folder);
  if (!existsSync(file)) createPrivately(file, makeKey());
  return localSigner(readFileSync(file, 'utf8'));
};

/** Writes the public key into the archive, unless it is there. */
const showPublicKey = ({ publicKey }: Signer, folder: string): void => {
  const file = publicKeyFile(folder);
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  mkdirSync(archiveFolder(folder), { recursive: true, mode: 0o700 });
  const isShown = statSync(file, { throwIfNoEntry: false })?.isFile();
  if (!isShown || readFileSync(file, 'utf8') !== pem) writePrivately(file, pem);
};

/** The public key of a data folder; undefined when nothing was ever sealed there. */
export const readSealKey = (folder: string) => {
  const file = keyFile(folder);
  return existsSync(file) ? localSigner(readFileSync(file, 'utf8')).publicKey : undefined;
};

/** Milliseconds until the next window can be closed. */
const untilNextClose = (interval: number, now: number): number => {
  const length = interval * 1000;
  return length - ((((now - graceOf(interval)) % length) + length) % length);
};

/** Milliseconds for which a stop waits for a round, which may end anywhere. */
const stopTimeout = 2000;

/** Does work once a day. @param work receives milliseconds since 1970 */
const daily = (work: (now: number) => Promise<void>) => {
  let doneOn = '';
  return async (now: number): Promise<void> => {
    const today = new Date(now).toISOString().slice(0, 10);
    if (today === doneOn) return;
    await work(now);
    doneOn = today;
  };
};

/**
 * Removes what has expired at the start, and then once a day, while the clock is trusted. As on AWS,
 * entries leave whether they are sealed or not.
 */
const makeRemoval = (archive: Archive, folder: string, watch: ClockWatch) => {
  const ofUsers = daily(removeExpiredItems);
  const ofAudit = daily(async (now) => {
    if (config.auditRetentionDays > 0) await removeExpiredEntries(now);
    const archived = { archive, folder: archiveFolder(folder) };
    await removeOldWindows(archived, config.auditArchiveDays, now);
  });
  return async (): Promise<void> => {
    const now = watch.look();
    if (now === undefined) return;
    await ofUsers(now);
    await ofAudit(now);
  };
};

const logRemovalFailure = (error: unknown): void =>
  logError('removal-failed', describeFault(error));

/**
 * Starts sealing the audit trail into a data folder, whenever a window is over, and removing what has
 * expired.
 * @param interval seconds
 * @param newest when the newest audit entry was recorded, before this start
 * @returns a function that stops it
 */
export const startSealing = (
  folder: string,
  interval: number,
  { newest, clock = machineClock }: { newest: number | undefined; clock?: Clock },
): (() => Promise<void>) => {
  const archive = folderArchive(archiveFolder(folder));
  const signer = signerIn(folder);
  showPublicKey(signer, folder);
  const watch = watchClock(folder, { newest, clock });
  const { auditArchiveDays: archiveDays, auditSealWindow: windowSize } = config;
  const kept = { archiveDays, windowSize, memory: {} };
  const sealing = { archive, source: auditEntries, signer, interval, ...kept };
  const remove = makeRemoval(archive, folder, watch);
  const ending = new AbortController();
  const { signal } = ending;
  const failing = (log: (error: unknown) => void) => (error: unknown) => {
    if (!signal.aborted) log(error);
  };
  const remaining = () => (signal.aborted ? 0 : Number.POSITIVE_INFINITY);
  const run = async () => {
    await removeUnfinished(archiveFolder(folder));
    while (!signal.aborted) {
      await sealAndVerify(sealing, new Date(clock.wall()), { remaining })
        .finally(() => showPublicKey(signer, folder))
        .catch(failing(logFailure));
      await remove().catch(failing(logRemovalFailure));
      const wait = untilNextClose(interval, clock.wall());
      await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const ended = run();
  return async () => {
    ending.abort();
    await Promise.race([ended, sleep(stopTimeout, undefined, { ref: false })]);
    // So that this run counts to its end.
    watch.look();
  };
};
