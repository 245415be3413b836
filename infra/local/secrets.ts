/** The secrets of a service on this machine: they are made at the first start, and kept in its data folder. */
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { variableOf } from '../../lib/ground/setting.ts';
import { configFrom } from '../../lib/ground/settings.ts';
import type { LocalSettings } from '../local-settings.ts';
import { createPrivately } from './data-folder.ts';

/**
 * The location of the signing secret, as the variables that lib/keys/secret-source.ts reads. If no secret is given, a
 * secret is made at the first start and kept, so that tokens outlive a restart. The folder must exist and be locked.
 */
export function signingSecret(settings: LocalSettings): Readonly<Record<string, string>> {
  const { jwtSecret, folder } = settings;
  if (jwtSecret) return { JWT_SECRET: jwtSecret };
  if (!folder) return { JWT_SECRET: makeSecretVersion().value };
  const file = secretFile(folder);
  if (!existsSync(file)) createPrivately(file, JSON.stringify([makeSecretVersion()]));
  return { JWT_SECRET_FILE: file };
}

/** The file in a data folder that holds the versions of the signing secret. */
export function secretFile(folder: string): string {
  return join(folder, 'jwt-secret.json');
}

export function makeSecretVersion() {
  return {
    id: randomUUID(),
    value: randomBytes(48).toString('base64url'),
    createdAt: new Date().toISOString(),
  };
}

/**
 * The key that encrypts the secrets of second factors, as the variable that lib/keys/factor-key.ts reads. The key is
 * made at the first start that needs it, and kept. The folder must exist and be locked.
 */
export function secondFactorKey({ folder }: LocalSettings): Readonly<Record<string, string>> {
  if (configFrom(process.env).secondFactor === 'off') return {};
  const make = () => randomBytes(32).toString('base64');
  const file = folder && join(folder, 'second-factor.key');
  if (file && !existsSync(file)) createPrivately(file, make());
  return { [variableOf('secondFactorLocalKey')]: file ? readFileSync(file, 'utf8') : make() };
}

/**
 * The locations of the keys of tokens, as the variables that lib/keys/signing-key.ts reads, if tokens are signed with a
 * key.
 */
export function tokenKeys({ folder }: LocalSettings): Readonly<Record<string, string>> {
  if (configFrom(process.env).tokenSigning === 'HS256') return {};
  if (!folder) return { TOKEN_SIGNING_KEY: makeTokenKey() };
  const names = tokenKeysIn(folder);
  const { TOKEN_SIGNING_KEY: first } = names;
  if (!existsSync(first)) createPrivately(first, makeTokenKey());
  return names;
}

/** The file of the first key of tokens in a data folder, and the beginning of the names of the files of later keys. */
export function tokenKeysIn(folder: string) {
  const files = join(folder, 'token-key-');
  return { TOKEN_SIGNING_KEY: `${files}first`, TOKEN_KEYS: files };
}

export function makeTokenKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
