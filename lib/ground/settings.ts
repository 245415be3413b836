/**
 * The settings of the service, defined as data, and their values in an environment: `sessionDays` is SESSION_DAYS
 * there. The other settings of a deployment are in infra/deployment-settings.ts, and the settings of `npm start` in
 * infra/local-settings.ts. The meanings of all settings are in infra/settings.md.
 */
import { attributeList } from './attribute.ts';
import {
  displayName,
  issuerUrl,
  mailSender,
  pageUrl,
  providerList,
  relyingParty,
  returnUrl,
} from './rules.ts';
import {
  anyText,
  type Catalogue,
  type Environment,
  optionalText,
  type Setting,
  type Values,
  valuesIn,
} from './setting.ts';

/** The languages of mails, each with its texts in lib/options/mails/texts. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/** The fewest days for which entries stay in the audit table, because sealing may fail for days. */
export const leastRetention = 30;

/** How often something may be tried; 0 sets no limit. */
const limit = { from: 0, to: 1_000_000 } as const;

const onByDefault = { allowed: ['on', 'off'], default: 'on' } as const satisfies Setting;

/** The settings that whoever deploys the service, or starts it on one machine, chooses. */
export const serviceSettings = {
  accounts: { allowed: ['open', 'private'], default: 'open' },
  passwordMinLength: { allowed: { from: 1, to: 255 }, default: '1' },
  bcryptCost: { allowed: { from: 4, to: 16 }, default: '10' },
  loginFailuresPerAccount: { allowed: limit, default: '10' },
  loginFailuresPerAddress: { allowed: limit, default: '1000' },
  registrationsPerAddress: { allowed: limit, default: '0' },
  sessionDays: { allowed: { from: 0, to: 400 }, default: '0' },
  sessionIdleDays: { allowed: { from: 1, to: 400 }, default: '30', requires: 'sessionDays' },
  tokenMinutes: { allowed: { from: 5, to: 1440 }, default: '1440', requires: 'sessionDays' },
  tokenSigning: { allowed: ['HS256', 'RS256'], default: 'HS256' },
  tokenIssuer: { allowed: issuerUrl, default: '', requires: 'tokenSigning', isPassedOn: true },
  tokenAudience: {
    allowed: { rule: 'text without spaces', isAllowed: (given) => /^[!-~]+$/.test(given) },
    default: '',
    requires: 'tokenSigning',
    isPassedOn: true,
  },
  selfDeletion: { allowed: ['off', 'on'], default: 'off', requires: 'sessionDays' },
  secondFactor: {
    allowed: ['off', 'optional', 'admins'],
    default: 'off',
    requires: 'sessionDays',
  },
  mailFrom: { allowed: mailSender, default: '' },
  // A request cannot choose the pages to which links lead.
  resetUrl: { allowed: pageUrl, default: '', requires: 'mailFrom', isPassedOn: true },
  emailVerification: {
    allowed: ['off', 'on', 'required'],
    default: 'off',
    requires: 'mailFrom',
    // Users without a password confirm by an ID token, which only the app can get.
    requiresWith: { identityProviders: 'verifyUrl' },
  },
  verifyUrl: { allowed: pageUrl, default: '', requires: 'mailFrom', isPassedOn: true },
  returnUrl: { allowed: returnUrl, default: '', requires: 'mailFrom', isPassedOn: true },
  mailLanguage: { allowed: languages, default: 'en', requires: 'mailFrom' },
  productName: { allowed: displayName, default: '', isPassedOn: true },
  identityProviders: { allowed: providerList, default: '', requires: ['sessionDays', 'mailFrom'] },
  passkeys: { allowed: relyingParty, default: '', requires: 'sessionDays', isPassedOn: true },
  userAttributes: { allowed: attributeList, default: '' },
  machines: { allowed: ['off', 'on'], default: 'off' },
  auditDetail: { allowed: ['standard', 'full'], default: 'standard' },
  v1Users: onByDefault,
  docs: onByDefault,
  console: onByDefault,
} as const satisfies Catalogue;

export const serviceNames = Object.keys(serviceSettings) as (keyof typeof serviceSettings)[];

/** The settings that a stack only passes on to functions, which check them. */
export const passedOn = serviceNames.filter((name) => 'isPassedOn' in serviceSettings[name]);

/** The settings of the audit trail that whoever deploys the service chooses, and that functions get. */
export const trailSettings = {
  // A service on one machine always seals.
  auditSeal: { allowed: ['on', 'paused', 'off'], default: 'on' },
  // On one machine no process removes entries.
  auditRetentionDays: { allowed: { from: leastRetention, to: 36_500, or: 0 }, default: '0' },
  auditArchiveDays: { allowed: { from: 1, to: 36_500, or: 0 }, default: '0' },
  auditLockDays: { allowed: { from: 1, to: 36_500, or: 0 }, default: '0' },
} as const satisfies Catalogue;

export const shownSettings = { ...serviceSettings, ...trailSettings };

/**
 * All settings: the ones above, and settings that a stack or a start gives to the service. The locations of the signing
 * secret and of the keys for requests to AWS are read elsewhere, in lib/keys and lib/http/edge.ts.
 */
export const settings = {
  ...shownSettings,
  usersTable: anyText,
  auditTable: anyText,
  auditSealInterval: { allowed: { from: 1, to: 86_400 }, default: '300' },
  /** The bucket of the sealed trail, or its folder on one machine; '': nothing is sealed there. */
  auditArchiveBucket: optionalText,
  auditArchiveFolder: optionalText,
  auditArchiveUrl: optionalText,
  /** Whether an earlier stack made the bucket. Its lock and lifecycle may then differ from the settings. */
  auditArchiveTakenOver: { allowed: ['yes', 'no'], default: 'no' },
  auditSealKey: optionalText,
  /** The URL at which the function that sends mails is invoked; '': this process does not hand over any mails. */
  mailFunctionUrl: optionalText,
  /** The key in AWS KMS that encrypts the secrets of second factors; and the URL of KMS. */
  secondFactorKey: optionalText,
  kmsUrl: optionalText,
  /** The key of second factors on one machine, 32 bytes in base64; '': the key is in KMS. */
  secondFactorLocalKey: optionalText,
  /** The first key of tokens, and the beginning of the names of later keys (lib/keys/signing-key.ts). */
  tokenSigningKey: optionalText,
  tokenKeys: optionalText,
  apiUrl: optionalText,
  staticFiles: anyText,
  /** The URL of EventBridge, the name of the bus, and the source of its events. */
  eventsUrl: optionalText,
  eventBus: optionalText,
  eventSource: optionalText,
  refusedEventsQueueUrl: optionalText,
} as const satisfies Catalogue;

/** The values of {@link serviceSettings}, and whether the trail is sealed. They determine which endpoints exist. */
export type ServiceValues = Values<typeof serviceSettings> &
  Pick<Values<typeof settings>, 'auditSeal'>;

export type Config = Values<typeof settings>;

export function keepsSeal({
  auditArchiveFolder,
  auditSealKey,
}: Pick<Config, 'auditArchiveFolder' | 'auditSealKey'>) {
  return auditArchiveFolder !== '' || auditSealKey !== '';
}

/** Whether the service sends mails, and so has password reset. */
export function sendsMail({ mailFrom }: Pick<ServiceValues, 'mailFrom'>) {
  return mailFrom !== '';
}

/** Whether this process hands mails over: functions that never do so have no URL, even if the service sends mails. */
export function handsMailsOver(): boolean {
  return config.mailFunctionUrl !== '';
}

export function hasSessions({ sessionDays }: Pick<ServiceValues, 'sessionDays'>) {
  return sessionDays > 0;
}

export function hasIdentities({ identityProviders }: Pick<ServiceValues, 'identityProviders'>) {
  return identityProviders !== '';
}

export function hasAttributes({ userAttributes }: Pick<ServiceValues, 'userAttributes'>) {
  return userAttributes !== '';
}

export function hasMachines({ machines }: Pick<ServiceValues, 'machines'>) {
  return machines === 'on';
}

export function hasPasskeys({ passkeys }: Pick<ServiceValues, 'passkeys'>) {
  return passkeys !== '';
}

export function hasSecondFactors({ secondFactor }: Pick<ServiceValues, 'secondFactor'>) {
  return secondFactor !== 'off';
}

/** Whether users can have a second factor: codes, or passkeys, which are second factors too. */
export function hasFactors(settings: Pick<ServiceValues, 'secondFactor' | 'passkeys'>) {
  return hasSecondFactors(settings) || hasPasskeys(settings);
}

/**
 * Whether neither registrations nor changes of one's own address reveal which addresses have an account.
 */
export function hidesAccounts({
  accounts,
  emailVerification,
}: Pick<ServiceValues, 'accounts' | 'emailVerification'>) {
  return accounts === 'private' && emailVerification === 'required';
}

// @__NO_SIDE_EFFECTS__
export function configFrom(env: Environment): Config {
  return valuesIn(env, settings);
}

export const config = configFrom(process.env);

/** @throws {ConfigError} naming the first setting of {@link passedOn} whose value is not allowed */
export function requirePassedOn(): void {
  for (const name of passedOn) void config[name];
}
