import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Signer } from '../../lib/audit/archive/digest.ts';
import { folderArchive, removeUnfinished } from '../../lib/audit/archive/folder.ts';
import { localSigner, makeKey } from '../../lib/audit/archive/local-key.ts';
import { auditEntries } from '../../lib/audit/archive/table.ts';
import { graceOf } from '../../lib/audit/archive/windows.ts';
import { logFailure, sealAndVerify } from '../../lib/audit/seal/round.ts';
import type { Sealing } from '../../lib/audit/seal/sealing.ts';
import { config } from '../../lib/config.ts';
import { removeExpired, removeOldWindows } from './expiry.ts';
import { createPrivately, writePrivately } from './running.ts';

/** The folder of a data folder that has the sealed entries. */
export const archiveFolder = (folder: string): string => join(folder, 'audit-archive');

const publicKeyFile = (folder: string) => join(archiveFolder(folder), 'public-key.pem');

/** Not in the archive, which is there to be copied. */
const keyFile = (folder: string) => join(folder, 'audit-seal-key.pem');

/** The signing key of a data folder, made at the first start. */
const signerIn = (folder: string) => {
  const file = keyFile(folder);
  if (!existsSync(file)) createPrivately(file, makeKey());
  return localSigner(readFileSync(file, 'utf8'));
};

/** Has the public key lie in the archive, whatever became of it. */
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

/** Milliseconds that the end of the service waits for a round: it may end anywhere. */
const stopTimeout = 2000;

/** Seals what is over; and at the start, and then once a day, removes what need not stay. */
const makeRound = (sealing: Sealing, folder: string) => {
  let removedOn = '';
  return async (now: Date): Promise<void> => {
    await sealAndVerify(sealing, now).finally(() => showPublicKey(sealing.signer, folder));
    const today = now.toISOString().slice(0, 10);
    if (today === removedOn) return;
    // Not before it is sealed: a round that fails gets no further than here.
    if (config.auditRetentionDays > 0) await removeExpired(now.getTime());
    const archive = { archive: sealing.archive, folder: archiveFolder(folder) };
    await removeOldWindows(archive, config.auditArchiveDays, now.getTime());
    removedOn = today;
  };
};

/**
 * Seals the audit trail into a data folder, now and whenever a window is over.
 * @param interval seconds
 * @returns ends it
 */
export const startSealing = (folder: string, interval: number): (() => Promise<void>) => {
  const archive = folderArchive(archiveFolder(folder));
  const signer = signerIn(folder);
  showPublicKey(signer, folder);
  const archiveDays = config.auditArchiveDays;
  const sealing = { archive, source: auditEntries, signer, interval, archiveDays, memory: {} };
  const round = makeRound(sealing, folder);
  const ending = new AbortController();
  const { signal } = ending;
  const seal = async () => {
    await removeUnfinished(archiveFolder(folder));
    while (!signal.aborted) {
      await round(new Date()).catch((error) => signal.aborted || logFailure(error));
      const wait = untilNextClose(interval, Date.now());
      await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const ended = seal();
  return async () => {
    ending.abort();
    await Promise.race([ended, sleep(stopTimeout, undefined, { ref: false })]);
  };
};
