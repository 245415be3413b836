import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import {
  fromLaxest,
  greaterIsStricter,
  integer,
  isShorter,
  oneOf,
  type Rule,
  type ServiceVariable,
  type Setting,
  serviceSettings,
  type ValueOf,
} from '../lib/settings.ts';
import { corsOrigins } from './cors-origins.ts';
import production from './production.json' with { type: 'json' };

/** A setting that is unknown or breaks a rule; names the setting and says the rule. */
export class SettingError extends Error {
  override readonly name = 'SettingError';

  constructor(setting: string, rule: string) {
    super(`Setting ${setting} ${rule}`);
  }
}

/** Text that matches a pattern. */
const text = (pattern: RegExp, form: string): Rule<string> => ({
  form,
  parse: (given) => (pattern.test(given) ? given : undefined),
});

const tableName = text(/^[\w.-]{3,255}$/, 'the name of a DynamoDB table');

/** The numbers of days that CloudWatch Logs knows. */
const retentions = Object.values(RetentionDays)
  .filter((days) => typeof days === 'number')
  .filter((days) => days !== RetentionDays.INFINITE)
  .sort((a, b) => a - b);

const retention: Rule<RetentionDays> = {
  form: `one of ${retentions.join(', ')}`,
  parse: (given) => retentions.find((days) => String(days) === given),
};

/** How many run at once; `none` for as many as come. */
const concurrency: Rule<number | 'none'> = {
  form: 'none or a whole number from 1 to 999',
  parse: (given) => (given === 'none' ? given : integer(1, 999).parse(given)),
};

/** A setting that only the stack reads. */
interface StackSetting<T> extends Setting<T> {
  /** The setting whose number this one must not exceed. */
  readonly atMost?: string;
}

const stackSettings = {
  /** Whether data outlives the stack (production) or goes with it. */
  stage: { rule: oneOf(['development', 'production']), otherwise: 'development' },
  corsOrigins,
  /** Where alarms are sent; absent: alarms are only shown. */
  alarmEmail: {
    rule: text(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an email address'),
    otherwise: undefined,
  },
  /** The API's own host name; needs the certificate. */
  domainName: {
    rule: text(
      /^(?=.{4,253}$)([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z]{2,63}$/,
      'a host name in lower case such as accounts.example.com',
    ),
    otherwise: undefined,
    together: 'certificateArn',
  },
  certificateArn: {
    rule: text(
      /^arn:aws[a-z-]*:acm:[a-z\d-]+:\d{12}:certificate\/[\w-]+$/,
      'the ARN of a certificate in AWS Certificate Manager',
    ),
    otherwise: undefined,
    together: 'domainName',
  },
  /** Whether the audit trail is sealed; and days for which nobody can delete what is, in production. */
  auditSeal: { rule: fromLaxest(['off', 'on']), otherwise: 'off' },
  auditLockDays: { rule: greaterIsStricter(integer(1, 36_500)), otherwise: '365' },
  logRetentionDays: { rule: retention, otherwise: '90' },
  /** Requests a second, and at once, that the stage takes. */
  throttleRate: { rule: integer(1, 100_000), otherwise: '500' },
  throttleBurst: { rule: integer(1, 100_000), otherwise: '1000' },
  /** The same for each route that hashes a password. */
  credentialsThrottleRate: {
    rule: integer(1, 100_000),
    otherwise: '50',
    atMost: 'throttleRate',
  },
  credentialsThrottleBurst: {
    rule: integer(1, 100_000),
    otherwise: '100',
    atMost: 'throttleBurst',
  },
  /** How many copies of the in-memory variant may run at once, each with users of its own. */
  v1ReservedConcurrency: { rule: concurrency, otherwise: '1' },
  /** Tables that another stack has left or that were restored, to use in place of own ones. */
  usersTableName: { rule: tableName, otherwise: undefined, together: 'auditTableName' },
  auditTableName: { rule: tableName, otherwise: undefined, together: 'usersTableName' },
} as const satisfies Readonly<Record<string, StackSetting<unknown>>>;

/** Every setting of a deployment. */
export const deploymentSettings = { ...stackSettings, ...serviceSettings };

type Catalogue = typeof deploymentSettings;
type Name = keyof Catalogue;

/** The value of each; undefined for one that has no default and was not given. */
export type DeploymentSettings = {
  readonly [K in Name]:
    | ValueOf<Catalogue[K]>
    | (undefined extends Catalogue[K]['otherwise'] ? undefined : never);
};

const names = Object.keys(deploymentSettings) as Name[];

/** @returns the rule that a deployment's value keeps */
const deploymentRule = (setting: Setting<unknown> & { deployed?: Rule<unknown> }) =>
  setting.deployed ?? setting.rule;

type Given = Readonly<Record<string, unknown>>;

const textOf = (name: string, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value).trim();
  throw new SettingError(name, 'must be text or a number');
};

const read = (name: Name, given: Given): unknown => {
  const setting = deploymentSettings[name];
  const chosen = textOf(name, given[name]) ?? setting.otherwise;
  if (chosen === undefined) return undefined;
  const rule = deploymentRule(setting);
  const value = rule.parse(chosen);
  if (value === undefined) throw new SettingError(name, `must be ${rule.form}`);
  return value;
};

/** What the CDK and its command line keep in the same context. */
const isToolsOwn = (name: string) =>
  /[:/]/.test(name) || ['acknowledged-issue-numbers', 'cli-telemetry'].includes(name);

/** The least number of characters to insert, delete or replace (Levenshtein’s distance). */
const editDistance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [line, character] of [...one].entries()) {
    const next = [line + 1];
    for (const [column, each] of [...other].entries()) {
      const [diagonal = 0, above = 0] = row.slice(column, column + 2);
      const left = next[column] ?? 0;
      next.push(Math.min(diagonal + (character === each ? 0 : 1), above + 1, left + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

/** A name without regard to letter case and to the style in which words are joined. */
const bare = (name: string) => name.toLowerCase().replaceAll(/[^a-z\d]/g, '');

/** The setting whose name differs least, in a third of its characters at most. */
const closeTo = (unknown: string): Name | undefined => {
  const distances = names.map((name) => ({
    name,
    distance: editDistance(bare(unknown), bare(name)),
  }));
  const [closest] = distances
    .filter(({ name, distance }) => distance <= name.length / 3)
    .sort((a, b) => a.distance - b.distance);
  return closest?.name;
};

const requireKnown = (given: Given): void => {
  for (const name of Object.keys(given)) {
    if (isToolsOwn(name) || Object.hasOwn(deploymentSettings, name)) continue;
    const close = closeTo(name);
    const hint = close ? `did you mean ${close}?` : `the settings are ${names.join(', ')}`;
    throw new SettingError(name, `is unknown; ${hint}`);
  }
};

/** A setting without a value is undefined, or '' where functions read it. */
const isGiven = (value: unknown) => value !== undefined && value !== '';

/** Entries leave a table only where they are sealed, and the archive never before the table. */
const requireKept = (settings: DeploymentSettings): void => {
  const { auditSeal, auditRetentionDays, auditArchiveDays, auditLockDays } = settings;
  if (auditRetentionDays > 0 && auditSeal === 'off') {
    throw new SettingError('auditRetentionDays', 'must be 0, for ever, where auditSeal is off');
  }
  for (const [name, least] of Object.entries({ auditRetentionDays, auditLockDays })) {
    if (!isShorter(auditArchiveDays, least)) continue;
    const value = least === 0 ? '0, for ever' : least;
    throw new SettingError('auditArchiveDays', `must not be below ${name}, which is ${value}`);
  }
};

const requireConsistent = (values: Given): void => {
  const settings: readonly [string, StackSetting<unknown>][] = Object.entries(deploymentSettings);
  for (const [name, { together, atMost }] of settings) {
    if (together && isGiven(values[name]) && !isGiven(values[together])) {
      throw new SettingError(together, `must be given together with ${name}`);
    }
    if (atMost && Number(values[name]) > Number(values[atMost])) {
      throw new SettingError(name, `must not be above ${atMost}, which is ${values[atMost]}`);
    }
  }
};

/**
 * Reads the settings of a deployment from the CDK's context (`-c name=value`) and, for stage
 * production, from infra/production.json, before which the context goes.
 * @throws {SettingError} on the first setting that is unknown or breaks its rule
 */
export const readDeploymentSettings = (
  context: Given,
  file: Given = production,
): DeploymentSettings => {
  const isProduction = textOf('stage', context.stage) === 'production';
  const given = isProduction ? { ...file, ...context } : context;
  requireKnown(given);
  const values = names.map((name) => [name, read(name, given)]);
  const settings: DeploymentSettings = Object.fromEntries(values);
  requireConsistent(settings);
  requireKept(settings);
  return settings;
};

/** One line for each setting of stage production that is laxer than infra/production.json's. */
export const laxerSettings = (settings: DeploymentSettings, file: Given = production): string[] => {
  if (settings.stage !== 'production') return [];
  return names.flatMap((name) => {
    const [value, usual] = [settings[name], read(name, file)];
    const rule = deploymentRule(deploymentSettings[name]);
    return rule.strictness && rule.strictness(value) < rule.strictness(usual)
      ? [`production: ${name}=${value} is laxer than ${usual}`]
      : [];
  });
};

/** One line for each thing that whoever deploys stage production should know. */
export const productionWarnings = (
  settings: DeploymentSettings,
  file: Given = production,
): string[] => {
  const { stage, alarmEmail, corsOrigins } = settings;
  if (stage !== 'production') return [];
  return [
    ...laxerSettings(settings, file),
    ...(alarmEmail ? [] : ['production: alarmEmail is not set: nobody will be told of alarms']),
    ...(corsOrigins.includes('*')
      ? ['production: corsOrigins is *: every page may call the API']
      : []),
  ];
};

/** The settings that functions read, as their environment variables. */
export const functionVariables = (
  settings: DeploymentSettings,
): Readonly<Record<ServiceVariable, string>> =>
  Object.fromEntries(
    Object.entries(serviceSettings).map(([name, { variable }]) => [
      variable,
      String(settings[name as keyof typeof serviceSettings]),
    ]),
  ) as Record<ServiceVariable, string>;
