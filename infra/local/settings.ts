import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  ConfigError,
  configFrom,
  optionalText,
  type Setting,
  serviceSettings,
  settings,
  valuesIn,
  variableOf,
} from '../../lib/ground/settings.ts';
import { corsOrigins, faultsIn, isOrigin, originsIn } from '../settings.ts';
import { createPrivately } from './folder.ts';

/** How the service runs on this machine (infra/settings.md, On one machine). */
export interface LocalSettings {
  readonly port: number;
  /** Where data is kept between runs; undefined: nowhere. */
  readonly folder: string | undefined;
  /** The origin of the reverse proxy before the service; undefined: there is none. */
  readonly publicUrl: string | undefined;
  /** The signing secret; undefined: one of the service's own. */
  readonly jwtSecret: string | undefined;
  readonly corsOrigins: readonly string[];
  /** Whether each request is a line of the output. */
  readonly logsRequests: boolean;
  /** Seconds from one run of the sealer of the audit trail to the next. */
  readonly auditSealInterval: number;
  /** Absent unless both halves are set. */
  readonly admin: { readonly email: string; readonly password: string } | undefined;
}

/** Variables that AWS and a deployment set for functions, with their values here by default. */
export const environmentDefaults = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  USERS_TABLE: 'accounts-users',
  AUDIT_TABLE: 'accounts-audit',
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

const endpoint = {
  allowed: {
    rule: 'an http or https URL, such as http://localhost:8000',
    isAllowed: (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
  },
  default: '',
} as const satisfies Setting;

/** The settings that the local service itself reads, beside the settings of its functions. */
export const localSettings = {
  port: { allowed: { from: 0, to: 65_535 }, default: '3000' },
  /** Where data is kept; `memory`, in any letter case, keeps nothing. */
  dataDir: { ...optionalText, default: '.local' },
  /** Where a reverse proxy on this machine serves the service: the base of its links. */
  publicUrl: {
    allowed: {
      rule: 'an http or https origin without a final slash, such as https://accounts.example.com',
      isAllowed: isOrigin,
    },
    default: '',
  },
  jwtSecret: optionalText,
  adminEmail: { ...optionalText, requires: 'adminPassword' },
  adminPassword: { ...optionalText, requires: 'adminEmail' },
  corsOrigins,
  /** Unless it is set, requests are logged on a terminal. */
  logRequests: { allowed: ['on', 'off'] },
  auditSealInterval: settings.auditSealInterval,
  /** An engine that runs already: engine.ts reads it, and the SDK. */
  awsEndpointUrlDynamodb: endpoint,
  /** Where mails are sent in place of files: mail.ts reads it, and the SDK. */
  awsEndpointUrlSesv2: endpoint,
} as const satisfies Readonly<Record<string, Setting>>;

/** The file in a data folder that holds the signing secret's versions. */
export const secretFile = (folder: string): string => join(folder, 'jwt-secret.json');

export const makeSecretVersion = () => ({
  id: randomUUID(),
  value: randomBytes(48).toString('base64url'),
  createdAt: new Date().toISOString(),
});

/**
 * Where the signing secret is, as the variables that lib/keys/secret-source.ts reads. One of the
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

/** The file in a data folder that holds the key of second factors, in base64. */
const factorKeyFile = (folder: string): string => join(folder, 'second-factor.key');

/**
 * The key that encrypts the secrets of second factors, as the variable that lib/keys/factor-key.ts
 * reads. It is made at the first start that needs it, and kept: the folder must be there, and locked.
 */
export const secondFactorKey = ({ folder }: LocalSettings): Readonly<Record<string, string>> => {
  const { secondFactor } = settings;
  if (valuesIn(process.env, { secondFactor }).secondFactor === 'off') return {};
  const make = () => randomBytes(32).toString('base64');
  const file = folder && factorKeyFile(folder);
  if (file && !existsSync(file)) createPrivately(file, make());
  return { [variableOf('secondFactorLocalKey')]: file ? readFileSync(file, 'utf8') : make() };
};

/** Where a data folder has the first key of tokens, and those that follow it, by files. */
export const tokenKeysIn = (folder: string) => {
  const files = join(folder, 'token-key-');
  return { TOKEN_SIGNING_KEY: `${files}first`, TOKEN_KEYS: files };
};

export const makeTokenKey = (): string => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
};

/** The same for what lib/keys/signing-key.ts reads, where a key signs tokens. */
export const tokenKeys = ({ folder }: LocalSettings): Readonly<Record<string, string>> => {
  if (configFrom(process.env).tokenSigning === 'HS256') return {};
  if (!folder) return { TOKEN_SIGNING_KEY: makeTokenKey() };
  const names = tokenKeysIn(folder);
  const { TOKEN_SIGNING_KEY: first } = names;
  if (!existsSync(first)) createPrivately(first, makeTokenKey());
  return names;
};

/** @throws {ConfigError} when entries are to leave the audit table */
const requireKept = (env: Environment): void => {
  if (configFrom(env).auditRetentionDays === 0) return;
  throw new ConfigError(
    variableOf('auditRetentionDays'),
    'must be 0 on one machine, where nothing removes audit entries',
  );
};

/** @throws {Error} with a line for each setting that is not allowed, or that lacks others */
export const readLocalSettings = (
  env: Environment,
  { isTerminal = process.stdout.isTTY }: { isTerminal?: boolean } = {},
): LocalSettings => {
  const logRequests = { ...localSettings.logRequests, default: isTerminal ? 'on' : 'off' };
  const all = { ...localSettings, logRequests };
  const faults = faultsIn(env, { ...all, ...serviceSettings, auditSeal: settings.auditSeal });
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const values = valuesIn(env, all);
  const { dataDir: folder, adminEmail: email, adminPassword: password } = values;
  requireKept(env);
  return {
    port: values.port,
    folder: /^memory$/i.test(folder.trim()) ? undefined : resolve(folder),
    publicUrl: values.publicUrl || undefined,
    jwtSecret: values.jwtSecret || undefined,
    corsOrigins: originsIn(values.corsOrigins),
    logsRequests: values.logRequests === 'on',
    auditSealInterval: values.auditSealInterval,
    admin: email && password ? { email, password } : undefined,
  };
};
