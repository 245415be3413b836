import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** How the service runs on this machine (decisions, Running it on one machine). */
export interface LocalSettings {
  readonly port: number;
  /** Where data is kept between runs; undefined: nowhere. */
  readonly folder: string | undefined;
  readonly jwtSecret: string;
  readonly corsOrigins: readonly string[];
  /** Absent unless both halves are set. */
  readonly admin: { readonly email: string; readonly password: string } | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const parsePort = (text: string | undefined): number => {
  const port = text ? Number(/^\d{1,5}$/.test(text) ? text : Number.NaN) : 3000;
  if (!(port <= 65_535)) throw new Error(`PORT must be a number from 0 to 65535, not ${text}`);
  return port;
};

/** Made at the first start and kept, so that tokens outlive a restart. */
const keptSecret = (folder: string | undefined): string => {
  const fresh = randomBytes(48).toString('base64url');
  if (!folder) return fresh;
  const file = join(folder, 'jwt-secret');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(file)) writeFileSync(file, fresh, { mode: 0o600, flag: 'wx' });
  return readFileSync(file, 'utf8').trim();
};

/** @throws {Error} naming the variable that is out of range */
export const readSettings = (env: Environment): LocalSettings => {
  const folder = env.DATA_DIR === 'memory' ? undefined : resolve(env.DATA_DIR || '.local');
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password } = env;
  return {
    port: parsePort(env.PORT),
    folder,
    jwtSecret: env.JWT_SECRET || keptSecret(folder),
    corsOrigins: (env.CORS_ORIGINS || '*').split(',').map((origin) => origin.trim()),
    admin: email && password ? { email, password } : undefined,
  };
};
