import { Token } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { type Attribute, attributesFile } from '../lib/ground/attribute.ts';
import {
  type IdentityProvider,
  type PasskeySettings,
  parseJson,
  providersFile,
} from '../lib/ground/rules.ts';
import { type Rule, type Setting, type ValueOf, variableOf } from '../lib/ground/setting.ts';
import { serviceNames, serviceSettings, trailSettings } from '../lib/ground/settings.ts';
import { corsOrigins } from './cors.ts';
import { attributesHash } from './parameter.ts';

/** A setting is unknown or not allowed; the message names the setting and its rule. */
export class SettingError extends Error {
  override readonly name = 'SettingError';

  constructor(setting: string, rule: string) {
    super(`Setting ${setting} ${rule}`);
  }
}

export interface DeploymentSetting extends Setting {
  /** The name of a setting whose number this one must not exceed. */
  readonly atMost?: string;
}

const tableName = text(/^[\w.-]{3,255}$/, 'the name of a DynamoDB table');

const retentions = Object.values(RetentionDays)
  .filter((days) => typeof days === 'number')
  .filter((days) => days !== RetentionDays.INFINITE)
  .sort((a, b) => a - b);

const keyArn = arn('kms', /key\/[\w-]+/, 'a key in AWS KMS');

const throttle = { from: 1, to: 100_000 } as const;

/**
 * Every setting of a deployment: the settings of the stack, and the settings of the service, which also has them on one
 * machine. Their meanings are in infra/settings.md.
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
  alarmTopicArn: { allowed: arn('sns', /[\w-]+/, 'a topic in Amazon SNS'), isPassedOn: true },
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
    allowed: arn('acm', /certificate\/[\w-]+/, 'a certificate in AWS Certificate Manager'),
    requires: 'domainName',
    isPassedOn: true,
  },
  edge: { allowed: ['none', 'cloudfront'], default: 'none', requires: 'domainName' },
  auditSeal: { allowed: ['off', 'paused', 'on'], default: 'off' },
  // After the seal was off, its chain of sealed files is never continued.
  abandonAuditSeal: { allowed: ['yes', 'no'], default: 'no' },
  auditLockDays: { allowed: { from: 0, to: 36_500 } },
  auditRetentionDays: trailSettings.auditRetentionDays,
  auditArchiveDays: trailSettings.auditArchiveDays,
  events: { allowed: ['off', 'on'], default: 'off' },
  auditStreamArn: {
    allowed: arn('dynamodb', /table\/[\w.-]+\/stream\/[\w:.-]+/, 'a stream of DynamoDB'),
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
  // The bucket in which an earlier stack has sealed the entries of the audit table that is taken over.
  auditArchiveBucketName: {
    allowed: text(/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/, 'the name of a bucket in Amazon S3'),
    requires: ['auditSealKeyArn', 'auditTableName', 'auditSeal'],
    isPassedOn: true,
  },
  auditSealKeyArn: { allowed: keyArn, requires: 'auditArchiveBucketName', isPassedOn: true },
  // The key with which an earlier stack, or an earlier deployment of this stack, has encrypted secrets.
  secondFactorKeyArn: { allowed: keyArn, requires: 'secondFactor', isPassedOn: true },
  ...serviceSettings,
  // OWASP recommends a cost of at least 10; a hash at cost 14 takes seconds.
  bcryptCost: { ...serviceSettings.bcryptCost, allowed: { from: 10, to: 14 } },
} as const satisfies Readonly<Record<string, DeploymentSetting>>;

type Catalogue = typeof deploymentSettings;
export type Name = keyof Catalogue;

export type JsonName = {
  [K in Name]: Catalogue[K]['allowed'] extends { isJson: true } ? K : never;
}[Name];

/** The value of each setting; undefined for a setting that has no default and was not given. */
export type DeploymentSettings = {
  readonly [K in Name]:
    | ValueOf<Catalogue[K]>
    | (Catalogue[K] extends { default: string } ? never : undefined);
} & { readonly auditLockDays: number };

interface JsonValues {
  readonly tags: Readonly<Record<string, string>>;
  readonly identityProviders: readonly IdentityProvider[];
  readonly passkeys: PasskeySettings;
  readonly userAttributes: readonly Attribute[];
}

/** The settings of a deployment in the form in which they are given; a setting that is left out has its default. */
export type AccountsSettings = {
  readonly [K in Name]?: (K extends JsonName ? JsonValues[K] : ValueOf<Catalogue[K]>) | undefined;
};

export const names = Object.keys(deploymentSettings) as Name[];

export type Given = Readonly<Record<string, unknown>>;

/** The settings that every function gets, as environment variables; settings without a value are left out. */
export function functionVariables(settings: DeploymentSettings): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...serviceNames, 'auditSeal' as const, 'auditRetentionDays' as const]
      .map((name) => [
        variableOf(name),
        settings[name] === '' ? '' : (fileOf(name) ?? String(settings[name])),
      ])
      .filter(([, value]) => value !== ''),
  );
}

/**
 * The settings that the operator's commands get, with the hash of the declared attributes instead of their list, which
 * is in a file.
 */
export function operatorVariables(settings: DeploymentSettings): Readonly<Record<string, string>> {
  const { userAttributes } = settings;
  const variables = functionVariables(settings);
  return userAttributes
    ? { ...variables, USER_ATTRIBUTES: attributesHash(userAttributes) }
    : variables;
}

/** The file that holds the value of a setting, beside the code of functions; undefined: no file does. */
export function fileOf(name: Name): string | undefined {
  return { identityProviders: providersFile, userAttributes: attributesFile }[name as string];
}

/** The tags in the text of a setting. @returns undefined for a text that is not a list of tags */
export function tagsIn(given: string): Readonly<Record<string, string>> | undefined {
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
}

function arn(service: string, { source }: RegExp, resource: string) {
  const pattern = new RegExp(`^arn:aws[a-z-]*:${service}:[a-z\\d-]+:\\d{12}:${source}$`);
  return text(pattern, `the ARN of ${resource}`);
}

function text(pattern: RegExp, rule: string) {
  return { rule, isAllowed: (given) => pattern.test(given) } as const satisfies Rule;
}
