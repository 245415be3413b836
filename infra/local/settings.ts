import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { corsOrigins } from '../cors-origins.ts';
import { createPrivately } from './running.ts';

/** How the service runs on this machine (infra/README.md, Configuration). */
export interface LocalSettings {
  readonly port: number;
  /** Where data is kept between runs; undefined: nowhere. */
  readonly folder: string | undefined;
  /** The signing secret; undefined: one of the service's own. */
  readonly jwtSecret: string | undefined;
  readonly corsOrigins: readonly string[];
  /** Absent unless both halves are set. */
  readonly admin: { readonly email: string; readonly password: string } | undefined;
}

/** What AWS sets for a function, and the deployment does: as it is here unless it is set. */
export const environmentDefaults = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  USERS_TABLE: 'accounts-users',
  AUDIT_TABLE: 'accounts-audit',
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

const parsePort = (text: string | undefined): number => {
  const port = text ? Number(/^\d{1,5}$/.test(text) ? text : Number.NaN) : 3000;
  if (!(port <= 65_535)) throw new Error(`PORT must be a number from 0 to 65535, not ${text}`);
  return port;
};

/** The file in a data folder that holds the signing secret's versions. */
export const secretFile = (folder: string): string => join(folder, 'jwt-secret.json');

export const makeSecretVersion = () => ({
  id: randomUUID(),
  value: randomBytes(48).toString('base64url'),
  createdAt: new Date().toISOString(),
});

/**
 * Where the signing secret is, as the variables that lib/auth/secret-source.ts reads. One of the
 * service's own is made at the first start and kept, so that tokens outlive a restart: the folder
 * must be there, and locked.
 */
export const signingSecret = ({
  jwtSecret,
  folder,
}: LocalSettings): Readonly<Record<string, string>> => {
  if (jwtSecret) return { JWT_SECRET: jwtSecret };
  if (!folder) return { JWT_SECRET: makeSecretVersion().value };
  const file = secretFile(folder);
  if (!existsSync(file)) createPrivately(file, JSON.stringify([makeSecretVersion()]));
  return { JWT_SECRET_FILE: file };
};

const readOrigins = (text: string | undefined): readonly string[] => {
  const { variable, rule, otherwise } = corsOrigins;
  const origins = rule.parse(text || otherwise);
  if (!origins) throw new Error(`${variable} must be ${rule.form}`);
  return origins;
};

/** @throws {Error} naming the variable that is out of range */
export const readLocalSettings = (env: Environment): LocalSettings => {
  const folder = env.DATA_DIR === 'memory' ? undefined : resolve(env.DATA_DIR || '.local');
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password } = env;
  return {
    port: parsePort(env.PORT),
    folder,
    jwtSecret: env.JWT_SECRET || undefined,
    corsOrigins: readOrigins(env.CORS_ORIGINS),
    admin: email && password ? { email, password } : undefined,
  };
};
