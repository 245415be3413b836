/**
 * Encrypts the secrets of second factors with a key that is not in the table: a key that never leaves AWS KMS or, on
 * one machine, a key in a file that only the owner of the file can read.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { DomainError } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { callKms } from './signed-request.ts';

/** Encrypts the secret of a user's second factor, in base64. @throws {DomainError} STORAGE_FAULT */
export function encryptSecret(userId: number, secret: string): Promise<string> {
  return orStorageFault(async () => {
    const bytes = Buffer.from(secret);
    if (config.secondFactorLocalKey) return encryptLocally(userId, bytes).toString('base64');
    const input = { Plaintext: bytes.toString('base64'), EncryptionContext: contextOf(userId) };
    return (await callKms('Encrypt', config.secondFactorKey, input)).CiphertextBlob;
  });
}

/** Decrypts a secret that {@link encryptSecret} has encrypted for the same user. */
export function decryptSecret(userId: number, stored: string): Promise<string> {
  return orStorageFault(async () => {
    if (config.secondFactorLocalKey) {
      return decryptLocally(userId, Buffer.from(stored, 'base64')).toString();
    }
    const input = { CiphertextBlob: stored, EncryptionContext: contextOf(userId) };
    const { Plaintext } = await callKms('Decrypt', config.secondFactorKey, input);
    return Buffer.from(Plaintext, 'base64').toString();
  });
}

/** Turns each error into STORAGE_FAULT, because the key is part of the store. */
async function orStorageFault<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new DomainError('STORAGE_FAULT', { cause });
  }
}

const algorithm = 'aes-256-gcm';
const nonceSize = 12;

function encryptLocally(userId: number, secret: Buffer): Buffer {
  const nonce = randomBytes(nonceSize);
  const cipher = createCipheriv(algorithm, localKey(), nonce).setAAD(localContext(userId));
  const encrypted = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([nonce, encrypted, cipher.getAuthTag()]);
}

function localKey() {
  return Buffer.from(config.secondFactorLocalKey, 'base64');
}

function localContext(userId: number) {
  return Buffer.from(JSON.stringify(contextOf(userId)));
}

/** The context to which a secret is bound, so that the secret of one user cannot be given to another user. */
function contextOf(userId: number) {
  return { user: String(userId) };
}

const tagSize = 16;

function decryptLocally(userId: number, stored: Buffer): Buffer {
  const decipher = createDecipheriv(algorithm, localKey(), stored.subarray(0, nonceSize))
    .setAAD(localContext(userId))
    .setAuthTag(stored.subarray(-tagSize));
  const encrypted = stored.subarray(nonceSize, -tagSize);
  return Buffer.concat([decipher.update(encrypted), decipher.final()]);
}
