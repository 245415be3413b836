import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  isShorter,
  oneOf,
  type Rule,
  serviceSettings,
  settings,
  type VariableSetting,
} from '../../lib/settings.ts';
import { corsOrigins } from '../cors-origins.ts';
import { createPrivately } from './folder.ts';

/** How the service runs on this machine (infra/settings.md, On one machine). */
export interface LocalSettings {
  readonly port: number;
  /** Where data is kept between runs; undefined: nowhere. */
  readonly folder: string | undefined;
  /** The signing secret; undefined: one of the service's own. */
  readonly jwtSecret: string | undefined;
  readonly corsOrigins: readonly string[];
  /** Whether each request is a line of the output. */
  readonly logsRequests: boolean;
  /** Seconds from one sealed window of the audit trail to the next. */
  readonly auditSealInterval: number;
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

const anyText: Rule<string> = { form: 'text', parse: (text) => text };

/** What only the local service takes from its environment. */
export const localSettings = {
  port: {
    variable: 'PORT',
    rule: {
      form: 'a number from 0 to 65535',
      parse: (text) =>
        /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined,
    },
    otherwise: '3000',
  },
  /** Where data is kept; `memory` keeps nothing. */
  dataFolder: { variable: 'DATA_DIR', rule: anyText, otherwise: '.local' },
  jwtSecret: { variable: 'JWT_SECRET', rule: anyText, otherwise: undefined },
  adminEmail: { variable: 'ADMIN_EMAIL', rule: anyText, otherwise: undefined },
  adminPassword: { variable: 'ADMIN_PASSWORD', rule: anyText, otherwise: undefined },
  corsOrigins,
  /** Unless it is set, requests are logged on a terminal. */
  logRequests: { variable: 'LOG_REQUESTS', rule: oneOf(['on', 'off']), otherwise: undefined },
  auditSealInterval: settings.auditSealInterval,
  /** An engine that runs already: engine.ts reads it, and the SDK. */
  engine: { variable: 'AWS_ENDPOINT_URL_DYNAMODB', rule: anyText, otherwise: undefined },
  /** Where mails are sent in place of files: mail.ts reads it, and the SDK. */
  ses: { variable: 'AWS_ENDPOINT_URL_SESV2', rule: anyText, otherwise: undefined },
} as const satisfies Readonly<Record<string, VariableSetting<unknown>>>;

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

/** @param repeats whether the refusal may quote the value */
const read = <T>(
  env: Environment,
  { variable, rule, otherwise }: VariableSetting<T> & { otherwise: string },
  { repeats = false } = {},
): T => {
  const text = env[variable] || otherwise;
  const value = rule.parse(text);
  if (value !== undefined) return value;
  throw new Error(`${variable} must be ${rule.form}${repeats ? `, not ${text}` : ''}`);
};

/**
 * Entries leave a table only where they are sealed, and the archive never before the table.
 * @throws {Error} when settings say otherwise
 */
const requireKept = (env: Environment, folder: string): void => {
  const { auditRetentionDays: retention, auditArchiveDays: archive } = serviceSettings;
  const days = read(env, retention);
  if (days > 0 && folder === 'memory') {
    throw new Error(
      `${retention.variable} must be 0 with DATA_DIR=memory, where nothing is sealed`,
    );
  }
  if (isShorter(read(env, archive), days)) {
    const least = days === 0 ? '0, for ever' : days;
    throw new Error(
      `${archive.variable} must not be below ${retention.variable}, which is ${least}`,
    );
  }
};

/** @throws {Error} naming the variable that is out of range */
export const readLocalSettings = (
  env: Environment,
  { isTerminal = process.stdout.isTTY }: { isTerminal?: boolean } = {},
): LocalSettings => {
  const folder = read(env, localSettings.dataFolder);
  requireKept(env, folder);
  const { jwtSecret, adminEmail, adminPassword, logRequests } = localSettings;
  const [email, password] = [env[adminEmail.variable], env[adminPassword.variable]];
  return {
    port: read(env, localSettings.port, { repeats: true }),
    folder: folder === 'memory' ? undefined : resolve(folder),
    jwtSecret: env[jwtSecret.variable] || undefined,
    corsOrigins: read(env, localSettings.corsOrigins),
    logsRequests: read(env, { ...logRequests, otherwise: isTerminal ? 'on' : 'off' }) === 'on',
    auditSealInterval: read(env, localSettings.auditSealInterval),
    admin: email && password ? { email, password } : undefined,
  };
};
