/**
 * Nonces. Each can be used once, for one purpose, and expires. A nonce is signed, so that nothing is written when it is
 * made; it is stored when it is used.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { conditionItem, isConditionFailure, send } from '../dynamodb/client.ts';
import { itemKey } from '../dynamodb/tables.ts';
import type { ErrorCode } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { hour, seconds } from '../ground/time.ts';
import type { Change } from '../users/item.ts';
import { type SigningKey, signingKeys } from './signing-secret.ts';

/** The purpose of a nonce, which is not valid for any other purpose. */
export interface NonceKind {
  readonly purpose: string;
  /** Seconds for which the nonce is valid: at most an hour, because the record of its use is deleted after an hour. */
  readonly lifetime: number;
}

export async function makeNonce(
  { purpose, lifetime }: NonceKind,
  now = new Date(),
): Promise<string> {
  const [key] = await signingKeys();
  const text = `${seconds(now) + lifetime}.${randomBytes(16).toString('base64url')}`;
  return `${text}.${signatureOf(key, purpose, text)}`;
}

/** Whether a text is a nonce that this service made for a purpose and that has not expired. It may have been used. */
export async function isNonce(
  nonce: string,
  { purpose }: NonceKind,
  now = new Date(),
): Promise<boolean> {
  const [, text = '', until = '', signature = ''] =
    /^((\d{10})\.[\w-]{22})\.([\w-]{43})$/.exec(nonce) ?? [];
  if (!(Number(until) > seconds(now))) return false;
  // Compared as text, because several texts decode to the same bytes.
  const isOf = (key: SigningKey) =>
    timingSafeEqual(Buffer.from(signatureOf(key, purpose, text)), Buffer.from(signature));
  return (await signingKeys()).some(isOf);
}

/** The change that uses up a nonce, on the condition that it was not used before. @param error thrown otherwise */
export function nonceUsed(nonce: string, error: ErrorCode, now = new Date()): Change {
  return { steps: [[{ Put: putOf(nonce, '', now) }, error]] };
}

/** Uses up a nonce. A write whose response is lost is recognised. @param used thrown when another request used it */
export async function useNonce(nonce: string, used: Error, now = new Date()): Promise<void> {
  const use = randomBytes(12).toString('base64url');
  const put = putOf(nonce, use, now);
  try {
    await send(new PutCommand({ ...put, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }));
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    if (conditionItem<{ use: string }>(error)?.use !== use) throw used;
  }
}

function signatureOf({ keyObject }: SigningKey, purpose: string, text: string): string {
  return createHmac('sha256', keyObject).update(`nonce.v1:${purpose}:${text}`).digest('base64url');
}

function putOf(nonce: string, use: string, now: Date) {
  return {
    TableName: config.usersTable,
    Item: {
      ...itemKey('nonce#*', createHash('sha256').update(nonce).digest('base64url')),
      use,
      expires_at: seconds(now) + hour,
    },
    ConditionExpression: 'attribute_not_exists(pk)',
  };
}
