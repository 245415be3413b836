/** The settings of `npm start` that no deployment has. This file reads all settings on one machine. */
import { resolve } from 'node:path';
import {
  type Catalogue,
  ConfigError,
  type Environment,
  optionalText,
  readSetting,
  type Setting,
  valuesIn,
  variableOf,
} from '../lib/ground/setting.ts';
import { configFrom, serviceSettings, settings } from '../lib/ground/settings.ts';
import { corsOrigins, isOrigin, originsIn } from './cors.ts';
import { placeOfFault } from './json.ts';
import { lackOf } from './requirements.ts';

const endpoint = {
  allowed: {
    rule: 'an http or https URL, such as http://localhost:8000',
    isAllowed: (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
  },
  default: '',
} as const satisfies Setting;

/**
 * The settings that the local service itself reads, besides the settings of its functions. Their meanings are in
 * infra/settings.md.
 */
export const localSettings = {
  port: { allowed: { from: 0, to: 65_535 }, default: '3000' },
  dataDir: { ...optionalText, default: '.local' },
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
  // Without a value, requests are logged if the output is a terminal.
  logRequests: { allowed: ['on', 'off'] },
  auditSealInterval: settings.auditSealInterval,
  // The SDK also reads these two settings.
  awsEndpointUrlDynamodb: endpoint,
  awsEndpointUrlSesv2: endpoint,
} as const satisfies Catalogue;

/** Variables that AWS and a deployment set for functions, with their default values on one machine. */
export const environmentDefaults = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  USERS_TABLE: 'accounts-users',
  AUDIT_TABLE: 'accounts-audit',
} as const;

export type LocalSettings = Readonly<ReturnType<typeof readLocalSettings>>;

/**
 * Reads how the service runs on this machine (infra/settings.md, On one machine).
 * @throws {Error} with one line for each setting that has a value which is not allowed, or lacks a setting that it
 *   requires
 */
export function readLocalSettings(
  env: Environment,
  { isTerminal = process.stdout.isTTY }: { isTerminal?: boolean } = {},
) {
  const logRequests = { ...localSettings.logRequests, default: isTerminal ? 'on' : 'off' };
  const all = { ...localSettings, logRequests };
  const faults = faultsIn(env, { ...all, ...serviceSettings, auditSeal: settings.auditSeal });
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const values = valuesIn(env, all);
  const { dataDir: folder, adminEmail: email, adminPassword: password } = values;
  requireKept(env);
  return {
    port: values.port,
    /** The folder in which data are kept between runs; undefined: nothing is kept. */
    folder: /^memory$/i.test(folder.trim()) ? undefined : resolve(folder),
    publicUrl: values.publicUrl || undefined,
    /** Undefined: the service makes its own. */
    jwtSecret: values.jwtSecret || undefined,
    corsOrigins: originsIn(values.corsOrigins),
    logsRequests: values.logRequests === 'on',
    /** Seconds from one run of the sealer of the audit trail to the next. */
    auditSealInterval: values.auditSealInterval,
    admin: email && password ? { email, password } : undefined,
  };
}

/**
 * All faults of the settings in an environment, in one sentence each: first the values that are not allowed, then the
 * missing settings that other settings require.
 */
export function faultsIn(env: Environment, all: Catalogue): readonly string[] {
  const values = Object.entries(all).flatMap(([name, setting]) => {
    try {
      readSetting(env, name, setting);
      return [];
    } catch (error) {
      return [(error as Error).message + placeOfFault(setting, env[variableOf(name)])];
    }
  });
  const lacking = Object.keys(all).flatMap((name) => {
    const lack = lackOf(name, all, (each) => env[variableOf(each)], variableOf);
    return lack ? [new ConfigError(variableOf(name), lack).message] : [];
  });
  return [...values, ...lacking];
}

/** @throws {ConfigError} when entries are to be removed from the audit table */
function requireKept(env: Environment): void {
  if (configFrom(env).auditRetentionDays === 0) return;
  throw new ConfigError(
    variableOf('auditRetentionDays'),
    'must be 0 on one machine, where nothing removes audit entries',
  );
}
