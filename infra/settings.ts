import production from './production.json' with { type: 'json' };
import type { FunctionVariable } from './routes.ts';
import {
  concurrency,
  fromLaxest,
  greaterIsStricter,
  integer,
  limit,
  oneOf,
  optional,
  origins,
  type Reader,
  retention,
  SettingError,
} from './setting-rules.ts';

const tableName = optional(/^[\w.-]{3,255}$/, 'the name of a DynamoDB table');

/** Every setting, with its default, its rule and, where one value is laxer than another, which. */
const readers = {
  /** Whether data outlives the stack (production) or goes with it. */
  stage: oneOf(['development', 'production']),
  /** The origins whose pages may call the API from a browser. */
  corsOrigins: origins,
  /** Where alarms are sent; absent: alarms are only shown. */
  alarmEmail: optional(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an email address'),
  /** The API's own host name; needs the certificate. */
  domainName: optional(
    /^(?=.{4,253}$)([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z]{2,63}$/,
    'a host name in lower case such as accounts.example.com',
  ),
  certificateArn: optional(
    /^arn:aws[a-z-]*:acm:[a-z\d-]+:\d{12}:certificate\/[\w-]+$/,
    'the ARN of a certificate in AWS Certificate Manager',
  ),
  logRetentionDays: retention,
  /** Requests a second, and at once, that the stage takes. */
  throttleRate: integer(1, 100_000, 500),
  throttleBurst: integer(1, 100_000, 1000),
  /** The same for each route that hashes a password. */
  credentialsThrottleRate: integer(1, 100_000, 50),
  credentialsThrottleBurst: integer(1, 100_000, 100),
  /** Whether the in-memory variant is deployed at all. */
  v1Users: fromLaxest(['on', 'off']),
  /** How many copies of it may run at once, each with users of its own. */
  v1ReservedConcurrency: concurrency,
  /** Whether login tells an unknown email from a wrong password. */
  loginAnswers: fromLaxest(['distinct', 'uniform']),
  /** Whether a non-admin sees every user or only itself. */
  userDirectory: fromLaxest(['open', 'closed']),
  passwordMinLength: greaterIsStricter(integer(1, 255, 1)),
  /** Base-2 logarithm of bcrypt's rounds: 10 is the least that OWASP advises; 14 takes seconds. */
  bcryptCost: greaterIsStricter(integer(10, 14, 10)),
  /** In 15 minutes, before logins are delayed; 0: never. */
  loginFailuresPerAccount: limit(10),
  loginFailuresPerAddress: limit(100),
  /** In 15 minutes, before registrations are delayed; 0: never. */
  registrationsPerAddress: limit(0),
  /** Tables that another stack has left or that were restored, to use in place of own ones. */
  usersTableName: tableName,
  auditTableName: tableName,
};

type Readers = typeof readers;
export type Settings = { readonly [K in keyof Readers]: ReturnType<Readers[K]> };

/** What the CDK and its command line keep in the same context. */
const isToolsOwn = (name: string) =>
  /[:/]/.test(name) || ['acknowledged-issue-numbers', 'cli-telemetry'].includes(name);

const textOf = (setting: string, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value).trim();
  throw new SettingError(setting, 'must be text or a number');
};

const requireKnown = (names: readonly string[]): void => {
  for (const name of names) {
    if (!isToolsOwn(name) && !Object.hasOwn(readers, name)) {
      throw new SettingError(
        name,
        `is unknown; the settings are ${Object.keys(readers).join(', ')}`,
      );
    }
  }
};

type Given = Readonly<Record<string, unknown>>;

/** Settings that mean nothing one without the other. */
const pairs = [
  ['domainName', 'certificateArn'],
  ['usersTableName', 'auditTableName'],
] as const;

/** Throttles of single routes, with that of the whole API, which they cannot exceed. */
const bounds = [
  ['credentialsThrottleRate', 'throttleRate'],
  ['credentialsThrottleBurst', 'throttleBurst'],
] as const;

const requireConsistent = (settings: Settings): void => {
  for (const [one, other] of [...pairs, ...pairs.map(([a, b]) => [b, a] as const)]) {
    if (settings[one] && !settings[other]) {
      throw new SettingError(other, `must be given together with ${one}`);
    }
  }
  for (const [route, api] of bounds) {
    if (settings[route] > settings[api]) {
      throw new SettingError(route, `must not be above ${api}, which is ${settings[api]}`);
    }
  }
};

/**
 * Reads the settings of a deployment from the CDK's context (`-c name=value`) and, for stage
 * production, from infra/production.json, before which the context goes.
 * @throws {SettingError} on the first setting that is unknown or breaks its rule
 */
export const readSettings = (context: Given, file: Given = production): Settings => {
  const isProduction = textOf('stage', context.stage) === 'production';
  const given = isProduction ? { ...file, ...context } : context;
  requireKnown(Object.keys(given));
  const values = Object.entries(readers).map(([setting, read]) => [
    setting,
    read(setting, textOf(setting, given[setting])),
  ]);
  const settings: Settings = Object.fromEntries(values);
  requireConsistent(settings);
  return settings;
};

/** One line for each setting of stage production that is laxer than infra/production.json's. */
export const laxerSettings = (settings: Settings, file: Given = production): string[] => {
  if (settings.stage !== 'production') return [];
  const entries = Object.entries(readers) as [keyof Settings, Reader<unknown>][];
  return entries.flatMap(([name, read]) => {
    const [value, usual] = [settings[name], read(name, textOf(name, file[name]))];
    const { strictness } = read;
    return strictness && strictness(value) < strictness(usual)
      ? [`production: ${name}=${value} is laxer than ${usual}`]
      : [];
  });
};

/** The settings that functions read, as their environment variables. */
export const functionVariables = (
  settings: Settings,
): Readonly<Record<FunctionVariable, string>> => ({
  BCRYPT_COST: String(settings.bcryptCost),
  LOGIN_ANSWERS: settings.loginAnswers,
  LOGIN_FAILURES_PER_ACCOUNT: String(settings.loginFailuresPerAccount),
  LOGIN_FAILURES_PER_ADDRESS: String(settings.loginFailuresPerAddress),
  PASSWORD_MIN_LENGTH: String(settings.passwordMinLength),
  REGISTRATIONS_PER_ADDRESS: String(settings.registrationsPerAddress),
  USER_DIRECTORY: settings.userDirectory,
});
