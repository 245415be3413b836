import { Fn, Token } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import {
  type IdentityProvider,
  type PasskeySettings,
  parseJson,
  providersFile,
} from '../lib/ground/rules.ts';
import {
  parseSetting,
  type Rule,
  ruleOf,
  type Setting,
  type ValueOf,
  variableOf,
} from '../lib/ground/setting.ts';
import { serviceNames, serviceSettings, trailSettings } from '../lib/ground/settings.ts';
import { corsOrigins } from './cors.ts';
import { placeOfFault } from './json.ts';
import production from './production.json' with { type: 'json' };
import { lackOf } from './requirements.ts';

/** A setting that is unknown or not allowed; names the setting and says the rule. */
export class SettingError extends Error {
  override readonly name = 'SettingError';

  constructor(setting: string, rule: string) {
    super(`Setting ${setting} ${rule}`);
  }
}

/** Text that matches a pattern. */
const text = (pattern: RegExp, rule: string) =>
  ({ rule, isAllowed: (given) => pattern.test(given) }) as const satisfies Rule;

const tableName = text(/^[\w.-]{3,255}$/, 'the name of a DynamoDB table');

/** The numbers of days that CloudWatch Logs knows. */
const retentions = Object.values(RetentionDays)
  .filter((days) => typeof days === 'number')
  .filter((days) => days !== RetentionDays.INFINITE)
  .sort((a, b) => a - b);

const keyArn = text(
  /^arn:aws[a-z-]*:kms:[a-z\d-]+:\d{12}:key\/[\w-]+$/,
  'the ARN of a key in AWS KMS',
);

/** The tags in the text of a setting. @returns undefined for a text that has none */
export const tagsIn = (given: string): Readonly<Record<string, string>> | undefined => {
  const tags = parseJson(given);
  if (typeof tags !== 'object' || tags === null || Array.isArray(tags)) return undefined;
  const isText = (value: unknown, [least, most]: readonly [number, number]) =>
    typeof value === 'string' &&
    /^[\p{L}\p{Z}\p{N}_.:/=+@-]*$/u.test(value) &&
    value.length >= least &&
    value.length <= most;
  const all = Object.entries(tags);
  const isAllowed = all.every(
    ([key, value]) =>
      isText(key, [1, 128]) &&
      (Token.isUnresolved(value) || isText(value, [0, 256])) &&
      !/^aws:/i.test(key),
  );
  return isAllowed && all.length <= 40 ? (tags as Record<string, string>) : undefined;
};

const throttle = { from: 1, to: 100_000 } as const;

export interface DeploymentSetting extends Setting {
  /** The name of a setting whose number this one must not exceed. */
  readonly atMost?: string;
}

/**
 * Every setting of a deployment: the settings that only the stack reads, and the settings of the service. The meanings
 * of all are in infra/meanings.ts.
 */
export const deploymentSettings = {
  stage: { allowed: ['development', 'production'], default: 'development' },
  tags: {
    allowed: {
      rule: 'an object of at most 40 tags as AWS allows them',
      isJson: true,
      isAllowed: (given) => tagsIn(given) !== undefined,
    },
    default: '{}',
    isPassedOn: true,
  },
  corsOrigins,
  alarmEmail: { allowed: text(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an email address'), isPassedOn: true },
  alarmTopicArn: {
    allowed: text(
      /^arn:aws[a-z-]*:sns:[a-z\d-]+:\d{12}:[\w-]+$/,
      'the ARN of a topic in Amazon SNS',
    ),
    isPassedOn: true,
  },
  encryption: { allowed: ['aws', 'customer'], default: 'aws' },
  encryptionKeyArn: { allowed: keyArn, requires: 'encryption', isPassedOn: true },
  domainName: {
    allowed: text(
      /^(?=.{4,253}$)([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z]{2,63}$/,
      'a host name in lower case such as accounts.example.com',
    ),
    requires: 'certificateArn',
    isPassedOn: true,
  },
  certificateArn: {
    allowed: text(
      /^arn:aws[a-z-]*:acm:[a-z\d-]+:\d{12}:certificate\/[\w-]+$/,
      'the ARN of a certificate in AWS Certificate Manager',
    ),
    requires: 'domainName',
    isPassedOn: true,
  },
  edge: { allowed: ['none', 'cloudfront'], default: 'none', requires: 'domainName' },
  auditSeal: { allowed: ['off', 'paused', 'on'], default: 'off' },
  // A chain whose seal was off is never continued.
  abandonAuditSeal: { allowed: ['yes', 'no'], default: 'no' },
  auditLockDays: { allowed: { from: 0, to: 36_500 } },
  auditRetentionDays: trailSettings.auditRetentionDays,
  auditArchiveDays: trailSettings.auditArchiveDays,
  events: { allowed: ['off', 'on'], default: 'off' },
  auditStreamArn: {
    allowed: text(
      /^arn:aws[a-z-]*:dynamodb:[a-z\d-]+:\d{12}:table\/[\w.-]+\/stream\/[\w:.-]+$/,
      'the ARN of a stream of DynamoDB',
    ),
    requires: 'events',
    isPassedOn: true,
  },
  logRetentionDays: { allowed: retentions, default: '90' },
  throttleRate: { allowed: throttle, default: '500' },
  throttleBurst: { allowed: throttle, default: '1000' },
  credentialsThrottleRate: { allowed: throttle, default: '50', atMost: 'throttleRate' },
  credentialsThrottleBurst: { allowed: throttle, default: '100', atMost: 'throttleBurst' },
  v1ReservedConcurrency: { allowed: { from: 1, to: 999, or: 'none' }, default: '1' },
  usersTableName: { allowed: tableName, requires: 'auditTableName', isPassedOn: true },
  auditTableName: { allowed: tableName, requires: 'usersTableName', isPassedOn: true },
  // The key by which an earlier stack, or this one before, encrypted secrets.
  secondFactorKeyArn: { allowed: keyArn, requires: 'secondFactor', isPassedOn: true },
  ...serviceSettings,
  // 10 is the least that OWASP advises; 14 takes seconds.
  bcryptCost: { ...serviceSettings.bcryptCost, allowed: { from: 10, to: 14 } },
} as const satisfies Readonly<Record<string, DeploymentSetting>>;

type Catalogue = typeof deploymentSettings;
export type Name = keyof Catalogue;

/** The settings whose text is JSON. */
export type JsonName = {
  [K in Name]: Catalogue[K]['allowed'] extends { isJson: true } ? K : never;
}[Name];

/** The value of each; undefined for one that has no default and was not given. */
export type DeploymentSettings = {
  readonly [K in Name]:
    | ValueOf<Catalogue[K]>
    | (Catalogue[K] extends { default: string } ? never : undefined);
} & { readonly auditLockDays: number };

/** The settings of a deployment as they are given: what is left out has its default. */
export type AccountsSettings = {
  readonly [K in Name]?: (K extends JsonName ? JsonValues[K] : ValueOf<Catalogue[K]>) | undefined;
};

interface JsonValues {
  readonly tags: Readonly<Record<string, string>>;
  readonly identityProviders: readonly IdentityProvider[];
  readonly passkeys: PasskeySettings;
}

export const names = Object.keys(deploymentSettings) as Name[];

export type Given = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A construct, such as a certificate in place of its ARN, knows the whole application, itself included. */
const hasReference = (value: unknown): boolean =>
  Token.isUnresolved(value) ||
  (isObject(value) && !Construct.isConstruct(value) && Object.values(value).some(hasReference));

/** JSON in which a list that is a reference is one with all of its texts, and no construct is a value. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, each) => {
    if (Construct.isConstruct(each)) return null;
    return Array.isArray(each) && Token.isUnresolved(each) ? [Fn.join('","', each)] : each;
  });

const textOf = (name: Name, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value).trim();
  if ('isJson' in deploymentSettings[name].allowed) return jsonOf(value);
  throw new SettingError(name, 'must be text or a number');
};

/** @throws {SettingError} for a reference in a setting that must be known, or in place of an object */
const requireResolved = (name: Name, value: unknown): void => {
  const isWhole = isObject(value) && Token.isUnresolved(value);
  if (!hasReference(value) || ('isPassedOn' in deploymentSettings[name] && !isWhole)) return;
  throw new SettingError(
    name,
    'must be known when the template is made, and not a reference that AWS resolves later',
  );
};

/** The value of one setting, or its default. @throws {SettingError} */
export const readSetting = (name: Name, given: Given): string | number | undefined => {
  const setting: Setting = deploymentSettings[name];
  requireResolved(name, given[name]);
  const chosen = textOf(name, given[name]) ?? setting.default;
  if (chosen === undefined) return undefined;
  // Of tags the keys are known, and values beside references.
  if (Token.isUnresolved(chosen) && name !== 'tags') return chosen;
  const value = parseSetting(setting, chosen);
  if (value === undefined) {
    throw new SettingError(name, ruleOf(setting) + placeOfFault(setting, chosen));
  }
  return value;
};

/** Whether a name in the context belongs to the CDK or its command line. */
const isToolsOwn = (name: string) =>
  /[:/]/.test(name) || ['acknowledged-issue-numbers', 'cli-telemetry'].includes(name);

const requireKnown = (given: Given): void => {
  for (const name of Object.keys(given)) {
    if (isToolsOwn(name) || Object.hasOwn(deploymentSettings, name)) continue;
    throw new SettingError(name, 'is unknown; infra/settings.md has all settings');
  }
};

const requireConsistent = (values: Given): void => {
  for (const [name, { atMost }] of Object.entries<DeploymentSetting>(deploymentSettings)) {
    const lack = lackOf(name, deploymentSettings, (each) => values[each]);
    if (lack) throw new SettingError(name, lack);
    if (atMost && Number(values[name]) > Number(values[atMost])) {
      throw new SettingError(name, `must not be above ${atMost}, which is ${values[atMost]}`);
    }
  }
};

/** Entries leave a table only where they are sealed, and the archive never before the table. */
const requireKept = (settings: DeploymentSettings): void => {
  const { auditSeal, auditRetentionDays, auditArchiveDays, auditLockDays } = settings;
  if (auditRetentionDays > 0 && auditSeal !== 'on') {
    const message = `must be 0, for ever, where auditSeal is ${auditSeal}`;
    throw new SettingError('auditRetentionDays', message);
  }
  const orEver = (days: number) => days || Number.POSITIVE_INFINITY;
  const leasts = { auditRetentionDays: orEver(auditRetentionDays), auditLockDays };
  for (const [name, least] of Object.entries(leasts)) {
    if (orEver(auditArchiveDays) >= least) continue;
    const rule = `must not be below ${name}, which is ${Number.isFinite(least) ? least : '0, for ever'}`;
    throw new SettingError('auditArchiveDays', rule);
  }
};

/** A table of its own has its stream by the stack, any other one by whoever brings it along. */
const requireStream = (settings: DeploymentSettings): void => {
  const { events, auditTableName, auditStreamArn } = settings;
  if (events === 'off') return;
  if (auditTableName && !auditStreamArn) {
    throw new SettingError('events', 'requires auditStreamArn where auditTableName is given');
  }
  if (Token.isUnresolved(auditStreamArn) || Token.isUnresolved(auditTableName)) return;
  if (auditStreamArn && auditStreamArn.split('/')[1] !== auditTableName) {
    throw new SettingError('auditStreamArn', 'must be of the table auditTableName');
  }
};

/** In stage production the seal is not switched off by oversight. */
const requireSealed = ({ stage, auditSeal, abandonAuditSeal }: DeploymentSettings): void => {
  if (stage !== 'production' || auditSeal !== 'off' || abandonAuditSeal === 'yes') return;
  throw new SettingError(
    'auditSeal',
    'must not be off in stage production, because nothing continues the chain afterwards: give auditSeal=paused, or besides abandonAuditSeal=yes',
  );
};

/** As long as the archive keeps entries, which is for ever where it is 0, and at most seven years. */
const defaultLockDays = (auditArchiveDays: number) => Math.min(auditArchiveDays || 365, 2555);

/**
 * Reads the settings of a deployment. Those of stage production stand in infra/production.json; what
 * is given overrides them.
 * @throws {SettingError} on the first setting that is unknown or not allowed
 */
export const readDeploymentSettings = (chosen: Given): DeploymentSettings => {
  const isProduction = textOf('stage', chosen.stage) === 'production';
  const own = Object.entries(chosen).filter(([, value]) => value !== undefined);
  const given = { ...(isProduction ? production : {}), ...Object.fromEntries(own) };
  requireKnown(given);
  const values = names.map((name) => [name, readSetting(name, given)]);
  const read = Object.fromEntries(values);
  const auditLockDays = read.auditLockDays ?? defaultLockDays(read.auditArchiveDays);
  const settings: DeploymentSettings = { ...read, auditLockDays };
  requireConsistent(settings);
  requireKept(settings);
  requireStream(settings);
  requireSealed(settings);
  return settings;
};

/** The settings that every function gets, as environment variables; one without a value is none. */
export const functionVariables = (settings: DeploymentSettings): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...serviceNames, 'auditSeal' as const, 'auditRetentionDays' as const]
      // The list of providers is a file beside the code.
      .map((name) => [
        variableOf(name),
        name === 'identityProviders' && settings[name] ? providersFile : String(settings[name]),
      ])
      .filter(([, value]) => value !== ''),
  );
