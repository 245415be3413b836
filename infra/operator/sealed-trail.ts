import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Trail } from '../../lib/seal/archive.ts';
import { folderArchive, publicKeyName } from '../../lib/seal/folder-archive.ts';
import { fingerprintOf } from '../../lib/seal/header.ts';
import { archiveFolder, signerIn } from '../local/sealing.ts';
import type { Command, Invocation } from './command.ts';
import { Failure, UsageError } from './failure.ts';
import { locate } from './files.ts';
import type { Told } from './findings.ts';
import type { SealedTrail } from './target.ts';

export const trailOptions = {
  '--since <time>': 'entries from this time on (RFC 3339, or a date)',
  '--until <time>': 'entries before this time',
  '--archive <folder>': 'instead of a service: a copy of an archive, which has only sealed entries',
  '--public-key <file>': 'the public key (PEM) that must have signed it, kept elsewhere',
} as const satisfies Command['options'];

export interface OpenedTrail extends Trail {
  /** The folder of the archive, which also holds the public key; absent if the archive is a bucket. */
  readonly folder?: string;
  /** Whether a sealer is running, so that the newest file must be recent. */
  readonly isLive: boolean;
  /** Seconds from one run of the sealer to the next, if the setting is known. */
  readonly interval?: number | undefined;
  /** The service; absent if the trail is a copy. */
  readonly place?: string;
}

/**
 * Opens the copy that the options name, or else the trail of the service.
 * @returns undefined if the service has no sealed trail
 * @throws {UsageError} {Failure}; the SDK's errors
 */
export async function openTrail({
  options: { archive, publicKey: key },
  target: { sealedTrail: trail },
}: Invocation): Promise<OpenedTrail | undefined> {
  if (typeof archive === 'string') return openCopy(archive, key);
  return trail && ('folder' in trail ? openLocal(trail) : openDeployed(trail));
}

/** Reads the key of `--public-key`, if it is given. @throws {UsageError} {Failure} */
export function readPublicKey(option: unknown): KeyObject | undefined {
  if (typeof option !== 'string') return undefined;
  if (!option) throw new UsageError('--public-key needs a file.');
  const file = locate(option);
  if (!existsSync(file)) throw new Failure(`${file} does not exist.`);
  return parsePublicKey(readFileSync(file), file);
}

/** Checks that the public key in an archive's folder is the sealer's key, because others may rely on it. */
export function judgeShownKey({ folder, publicKey }: OpenedTrail): Told | undefined {
  const shown = folder === undefined ? fingerprintOf(publicKey) : shownKey(folder);
  return shown === fingerprintOf(publicKey)
    ? undefined
    : { kind: 'shown key', subject: publicKeyName, before: `it is ${shown}`, sha256: null };
}

function openCopy(folder: string, keyFile: unknown): OpenedTrail {
  const publicKey = readPublicKey(keyFile);
  const located = locate(folder);
  if (!existsSync(located)) throw new Failure(`${located} does not exist.`);
  const isOwn = realpathSync(dirname(locate(String(keyFile)))) === realpathSync(located);
  if (!publicKey || isOwn) {
    throw new UsageError(
      '--archive needs --public-key FILE, a key that you keep elsewhere: a key in the archive itself proves nothing.',
    );
  }
  return { archive: folderArchive(located), publicKey, folder: located, isLive: false };
}

type LocalTrail = Extract<SealedTrail, { readonly folder: string }>;

function openLocal({ folder, isRunning, interval }: LocalTrail): OpenedTrail | undefined {
  const publicKey = signerIn(folder)?.publicKey;
  if (!publicKey) return undefined;
  const [sealed, place] = [archiveFolder(folder), realpathSync(folder)];
  const archive = folderArchive(sealed);
  return { archive, publicKey, folder: sealed, isLive: isRunning, interval, place };
}

type DeployedTrail = Extract<SealedTrail, { readonly bucket: string }>;

async function openDeployed(trail: DeployedTrail): Promise<OpenedTrail> {
  const { bucket, keyArn, service: place, isPaused } = trail;
  // Imported here because the SDK takes a while to load.
  const { bucketArchive, readPublicKey: readKey } = await import('../../lib/seal/aws.ts');
  const archive = bucketArchive(bucket);
  return { archive, publicKey: await readKey(keyArn), isLive: !isPaused, place };
}

/** @throws {Failure} if it is another kind of key, or not a key */
function parsePublicKey(pem: Buffer, file: string): KeyObject {
  // Node would accept a private key too, but nobody should have a private key where a public key is enough.
  if (pem.includes('PRIVATE KEY')) {
    throw new Failure(
      `${file} is a private key: give the public key, and leave the private key with its service.`,
    );
  }
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The file is not a key.
  }
  throw new Failure(`${file} is not a public Ed25519 key in PEM form.`);
}

/** The fingerprint of the public key in the folder of an archive, or the reason why there is no key. */
function shownKey(folder: string): string {
  try {
    return fingerprintOf(parsePublicKey(readFileSync(join(folder, publicKeyName)), publicKeyName));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'not there' : 'no public key';
  }
}
