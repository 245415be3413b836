import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Archive } from '../../lib/audit/seal/archive.ts';
import { folderArchive } from '../../lib/audit/seal/folder.ts';
import { archiveFolder, readSealKey } from '../local/sealing.ts';
import { Failure, UsageError } from './failure.ts';
import { locate } from './files.ts';
import type { SealedTrail } from './target.ts';

/** A sealed trail, to be verified. */
export interface OpenedTrail {
  readonly archive: Archive;
  readonly publicKey: KeyObject;
  /** Whether it is sealed at this time, so that the newest digest must be recent. */
  readonly isLive: boolean;
}

const readPublicKey = (file: string): KeyObject => {
  try {
    return createPublicKey(readFileSync(file));
  } catch {
    throw new Failure(`${file} cannot be read, or is no public key in PEM form.`);
  }
};

/** A copy of an archive. @throws {UsageError} {Failure} */
export const openCopy = (folder: string, keyFile: unknown): OpenedTrail => {
  if (typeof keyFile !== 'string' || !keyFile) {
    throw new UsageError(
      '--archive needs --public-key FILE: from a key that lies in the archive itself nothing follows.',
    );
  }
  const located = locate(folder);
  if (!existsSync(located)) throw new Failure(`${located} does not exist.`);
  const publicKey = readPublicKey(locate(keyFile));
  return { archive: folderArchive(located), publicKey, isLive: false };
};

const openLocal = (folder: string, isLive: boolean): OpenedTrail => {
  const publicKey = readSealKey(folder);
  if (!publicKey) throw new Failure(`Nothing was sealed in ${folder}: run npm start once.`);
  return { archive: folderArchive(archiveFolder(folder)), publicKey, isLive };
};

const openDeployed = async (bucket: string, keyArn: string): Promise<OpenedTrail> => {
  // Only here, as they take a while to load.
  const { bucketArchive } = await import('../../lib/audit/seal/bucket.ts');
  const { readPublicKey: readKey } = await import('../../lib/audit/seal/kms-key.ts');
  return { archive: bucketArchive(bucket), publicKey: await readKey(keyArn), isLive: true };
};

/** The trail of a service. @throws {Failure} when it has none; the SDK's errors */
export const openSealedTrail = async (trail: SealedTrail | undefined): Promise<OpenedTrail> => {
  if (!trail) {
    throw new Failure('The audit trail of this stack is not sealed: deploy it with auditSeal=on.');
  }
  return 'folder' in trail
    ? openLocal(trail.folder, trail.isRunning)
    : openDeployed(trail.bucket, trail.keyArn);
};

/** The same, or undefined where nothing is sealed. */
export const findSealedTrail = async (
  trail: SealedTrail | undefined,
): Promise<OpenedTrail | undefined> => {
  const isSealed = trail && ('bucket' in trail || readSealKey(trail.folder) !== undefined);
  return isSealed ? openSealedTrail(trail) : undefined;
};
