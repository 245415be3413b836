/** The key that verifies the sealed trail of this service. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { config } from '../ground/settings.ts';
import { callKms } from '../keys/signed-request.ts';
import { publicKeyName } from './folder-archive.ts';

/** The public key. It is kept in memory between the requests that this process handles. */
let publicKey: KeyObject | undefined;

/** Reads the key from the folder of the archive, or from KMS. @throws errors of either */
export async function readPublicKey(): Promise<KeyObject> {
  publicKey ??= await read();
  return publicKey;
}

async function read(): Promise<KeyObject> {
  const { auditArchiveFolder: folder } = config;
  if (folder) return createPublicKey(await readFile(join(folder, publicKeyName)));
  const { PublicKey } = await callKms('GetPublicKey', config.auditSealKey);
  return createPublicKey({ key: Buffer.from(PublicKey, 'base64'), type: 'spki', format: 'der' });
}
