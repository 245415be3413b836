import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { faultName } from '../../lib/errors.ts';
import {
  type Finding,
  fingerprintOf,
  folderArchive,
  publicKeyName,
  type SignedArchive,
} from '../../lib/seal/door.ts';
import { archiveFolder, readSealKey } from '../local/sealing.ts';
import { Failure, UsageError } from './failure.ts';
import { locate } from './files.ts';
import type { SealedTrail } from './target.ts';

/** A sealed trail that is opened for reading. */
export interface OpenedTrail extends SignedArchive {
  /** The folder of the archive, which also holds the public key; absent for a bucket. */
  readonly folder?: string;
  /** Whether a sealer is running, so that the newest digest must be recent. */
  readonly isLive: boolean;
  /** Seconds from one window to the next, by the setting of its sealer, if that is known. */
  readonly interval?: number | undefined;
  /** The service; absent for a copy. */
  readonly place?: string;
}

/** @throws {Failure} for a key of another kind */
const requireEd25519 = (key: KeyObject, name: string): KeyObject => {
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new Failure(`${name} is no Ed25519 key.`);
};

const readPem = (file: string): Buffer => {
  try {
    return readFileSync(file);
  } catch {
    throw new Failure(`${file} cannot be read.`);
  }
};

const parsePublicKey = (pem: Buffer, file: string): KeyObject => {
  // Node would accept a private key too, but that must not lie where a public one is expected.
  if (pem.includes('PRIVATE KEY')) {
    throw new Failure(
      `${file} is a private key: give the public one, and keep that one to its service.`,
    );
  }
  try {
    return createPublicKey(pem);
  } catch {
    throw new Failure(`${file} is no public key in PEM form.`);
  }
};

/** Reads the key of `--public-key`, if it is given. @throws {UsageError} {Failure} */
export const readPublicKey = (option: unknown): KeyObject | undefined => {
  if (typeof option !== 'string') return undefined;
  if (!option) throw new UsageError('--public-key needs a file.');
  const file = locate(option);
  return requireEd25519(parsePublicKey(readPem(file), file), file);
};

/** Opens a copy of an archive. @throws {UsageError} {Failure} */
export const openCopy = (folder: string, keyFile: unknown): OpenedTrail => {
  const publicKey = readPublicKey(keyFile);
  if (!publicKey) {
    throw new UsageError(
      '--archive needs --public-key FILE: from a key that lies in the archive itself nothing follows.',
    );
  }
  const located = locate(folder);
  if (!existsSync(located)) throw new Failure(`${located} does not exist.`);
  return { archive: folderArchive(located), publicKey, folder: located, isLive: false };
};

const sealKeyIn = (folder: string): KeyObject | undefined => {
  try {
    return readSealKey(folder);
  } catch (cause) {
    throw new Failure(`The signing key in ${folder} is no Ed25519 key (${faultName(cause)}).`, {
      cause,
    });
  }
};

type LocalTrail = Extract<SealedTrail, { readonly folder: string }>;
type DeployedTrail = Extract<SealedTrail, { readonly bucket: string }>;

const openLocal = ({ folder, isRunning: isLive, interval }: LocalTrail): OpenedTrail => {
  const publicKey = sealKeyIn(folder);
  if (!publicKey) throw new Failure(`Nothing was sealed in ${folder}: run npm start once.`);
  requireEd25519(publicKey, `The signing key in ${folder}`);
  const sealed = archiveFolder(folder);
  const place = realpathSync(folder);
  return { archive: folderArchive(sealed), publicKey, folder: sealed, isLive, interval, place };
};

const openDeployed = async ({
  bucket,
  keyArn,
  stack,
  isPaused,
}: DeployedTrail): Promise<OpenedTrail> => {
  // Imported here because the SDK takes a while to load.
  const { bucketArchive, readPublicKey: readKey } = await import('../../lib/seal/aws.ts');
  const publicKey = requireEd25519(await readKey(keyArn), keyArn);
  return { archive: bucketArchive(bucket), publicKey, isLive: !isPaused, place: stack };
};

/** Opens the trail of a service. @throws {Failure} when it has none; the SDK's errors */
export const openSealedTrail = async (trail: SealedTrail | undefined): Promise<OpenedTrail> => {
  if (!trail) {
    throw new Failure('The audit trail of this stack is not sealed: deploy it with auditSeal=on.');
  }
  return 'folder' in trail ? openLocal(trail) : openDeployed(trail);
};

/** The same, but undefined when nothing is sealed. */
export const findSealedTrail = async (
  trail: SealedTrail | undefined,
): Promise<OpenedTrail | undefined> => {
  const isSealed = trail && ('bucket' in trail || readSealKey(trail.folder) !== undefined);
  return isSealed ? openSealedTrail(trail) : undefined;
};

/** The fingerprint of the public key in the folder of an archive, or why there is none. */
const shownKey = (folder: string): string => {
  try {
    return fingerprintOf(parsePublicKey(readFileSync(join(folder, publicKeyName)), publicKeyName));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'not there' : 'no public key';
  }
};

/** Checks that the public key in an archive's folder is its sealer's, as others may rely on it. */
export const judgeShownKey = ({ folder, publicKey }: OpenedTrail): Finding | undefined => {
  const shown = folder === undefined ? fingerprintOf(publicKey) : shownKey(folder);
  return shown === fingerprintOf(publicKey)
    ? undefined
    : { kind: 'shown key', subject: publicKeyName, before: `it is ${shown}` };
};
