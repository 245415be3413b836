/**
 * The keys of tokens that others verify (functions/README.md, Tokens that others verify). The current key signs. During
 * a rotation, `current` first names the same key as `previous`, and later the same key as `next`; all are published.
 * These names are aliases in AWS KMS, or files on one machine.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describeFault, logError } from '../ground/log.ts';
import { ConfigError } from '../ground/setting.ts';
import { config } from '../ground/settings.ts';
import { cached } from './cache.ts';
import { callKms } from './signed-request.ts';

export const stages = ['next', 'current', 'previous'] as const;
export type Stage = (typeof stages)[number];

/** Milliseconds for which a function uses the keys that it has read. */
export const keysLifetime = 5 * 60_000;

type TokenKey = ReturnType<typeof tokenKey>;
/** The first key signs, and all keys verify. */
type TokenKeys = readonly [TokenKey, ...TokenKey[]];

const keys = cached(readKeys, { lifetime: keysLifetime, event: 'signing-keys-not-read' });

/**
 * The keys that sign and verify tokens. They are read again when a token names a `kid` that is not among them.
 * @throws the errors of KMS or of the file system, if the keys cannot be read and were never read before
 */
export function tokenKeys(kid?: string): Promise<TokenKeys> {
  return keys(
    (known) => kid !== undefined && !known.some(({ published }) => published.kid === kid),
  );
}

/** A public key as it is published (RFC 7517). Its `kid` is its thumbprint (RFC 7638). */
export function publishedKey(key: KeyObject) {
  const { n, e } = key.export({ format: 'jwk' });
  const thumbprint = createHash('sha256').update(JSON.stringify({ e, kty: 'RSA', n }));
  return { kty: 'RSA', n, e, alg: 'RS256', use: 'sig', kid: thumbprint.digest('base64url') };
}

/** @throws {ConfigError} naming the file, when it holds no key */
export function privateKeyIn(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new ConfigError('TOKEN_KEYS', `names a file without a key, ${file}`);
  }
}

async function readKeys(): Promise<TokenKeys> {
  const [next, current, previous] = await Promise.all(stages.map(readStage));
  // Until the first rotation the first key has no stage: only TOKEN_SIGNING_KEY names it.
  const signing = current ?? (await readKey(config.tokenSigningKey));
  const others = [next, previous].filter((key) => key?.published.kid !== signing.published.kid);
  return [signing, ...others.filter((key) => key !== undefined)];
}

async function readStage(stage: Stage): Promise<TokenKey | undefined> {
  try {
    return config.tokenKeys ? await readKey(config.tokenKeys + stage) : undefined;
  } catch (error) {
    const { name, code = name } = error as NodeJS.ErrnoException;
    if (['NotFoundException', 'ENOENT'].includes(code)) return undefined;
    // For minutes after the alias of the next key was made, KMS may refuse to let functions read that key.
    if (stage !== 'next') throw error;
    return void logError('next-signing-key-not-read', describeFault(error));
  }
}

/** @param name an ARN or an alias in KMS, a file, or the key itself */
async function readKey(name: string): Promise<TokenKey> {
  if (/^(arn:|alias\/)/.test(name)) return inKms(name);
  if (name.startsWith('-----')) return inPem(createPrivateKey(name));
  return inPem(privateKeyIn(await readFile(name, 'utf8'), name));
}

async function inKms(name: string): Promise<TokenKey> {
  // KMS is asked to sign with the key's id, not with an alias, so that a token's `kid` and its signature belong to the
  // same key.
  const { KeyId, PublicKey } = await callKms('GetPublicKey', name);
  const der = Buffer.from(PublicKey, 'base64');
  return tokenKey(createPublicKey({ key: der, type: 'spki', format: 'der' }), async (text) => {
    const { Signature } = await callKms('Sign', KeyId, {
      Message: createHash('sha256').update(text).digest('base64'),
      MessageType: 'DIGEST',
      SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
    });
    return Buffer.from(Signature, 'base64');
  });
}

/** A key of tokens. @param signText makes a signature by RSASSA-PKCS1-v1_5 with SHA-256 */
function tokenKey(key: KeyObject, signText: (text: string) => Promise<Buffer>) {
  return {
    published: publishedKey(key),
    cryptoKey: key.toCryptoKey({ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, true, ['verify']),
    sign: signText,
  };
}

function inPem(key: KeyObject): TokenKey {
  return tokenKey(createPublicKey(key), async (text) => sign('sha256', Buffer.from(text), key));
}
