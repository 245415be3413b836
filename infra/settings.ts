import type { FunctionVariable } from './routes.ts';
import {
  concurrency,
  integer,
  oneOf,
  optional,
  origins,
  retention,
  SettingError,
} from './setting-rules.ts';

/** Every setting, with its default and its rule. */
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
  v1Users: oneOf(['on', 'off']),
  /** How many copies of it may run at once, each with users of its own. */
  v1ReservedConcurrency: concurrency,
  /** Whether login tells an unknown email from a wrong password. */
  loginAnswers: oneOf(['distinct', 'uniform']),
  /** Whether a non-admin sees every user or only itself. */
  userDirectory: oneOf(['open', 'closed']),
  passwordMinLength: integer(1, 255, 1),
  /** Base-2 logarithm of bcrypt's rounds: 10 is the least that OWASP advises; 14 takes seconds. */
  bcryptCost: integer(10, 14, 10),
  /** In 15 minutes, before logins are delayed; 0: never. */
  loginFailuresPerAccount: integer(0, 1_000_000, 10),
  loginFailuresPerAddress: integer(0, 1_000_000, 100),
  /** In 15 minutes, before registrations are delayed; 0: never. */
  registrationsPerAddress: integer(0, 1_000_000, 0),
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

/**
 * Reads the settings of a deployment from the CDK's context (`-c name=value`).
 * @throws {SettingError} on the first setting that is unknown or breaks its rule
 */
export const readSettings = (context: Readonly<Record<string, unknown>>): Settings => {
  requireKnown(Object.keys(context));
  const values = Object.entries(readers).map(([setting, read]) => [
    setting,
    read(setting, textOf(setting, context[setting])),
  ]);
  const settings: Settings = Object.fromEntries(values);
  if (settings.domainName && !settings.certificateArn) {
    throw new SettingError('certificateArn', 'must be given together with domainName');
  }
  if (settings.certificateArn && !settings.domainName) {
    throw new SettingError('domainName', 'must be given together with certificateArn');
  }
  return settings;
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
