/**
 * The meanings of all settings, in Markdown with links relative to infra. The tables of infra/settings.md, the
 * declaration file of the package and the console show them; no function contains them.
 */
import type { JsonName, Name } from './deployment-settings.ts';
import type { localSettings } from './local-settings.ts';

type SettingName = Name | keyof typeof localSettings;

export const meanings: Readonly<Record<SettingName, string>> = {
  // The settings of one machine.
  port: 'The port; 0: a free one.',
  dataDir: 'The folder of all data, for one service at a time; `memory` keeps nothing.',
  publicUrl:
    'The base of all links behind a [reverse proxy](README.md#behind-a-reverse-proxy). Another value voids RS256 tokens, unless `TOKEN_ISSUER` is set.',
  jwtSecret: 'The signing secret.',
  adminEmail:
    'The admin, made or changed as by `create-admin`; without it one is made only where there is none.',
  adminPassword: 'The password of that admin.',
  corsOrigins: 'The origins whose pages may call the API.',
  logRequests: 'Whether each request is printed.',
  auditSealInterval: 'Seconds between runs of the [sealer](runbooks.md#the-seal).',
  awsEndpointUrlDynamodb: 'A running [engine](README.md#engines) to use.',
  awsEndpointUrlSesv2: 'Where mails are sent instead of being written to files.',
  // The settings of the service.
  accounts:
    '`private`: callers who are not admins see and change [only themselves](../functions/README.md#callers), and logins do not tell [who is registered](../.github/SECURITY.md#no-promises).',
  passwordMinLength: 'Characters; a public service should require 15, never fewer than 8.',
  bcryptCost: "Base-2 logarithm of bcrypt's rounds. A login raises a hash of a lower cost.",
  loginFailuresPerAccount:
    'Failed logins of an account in 15 minutes before it must [wait](../functions/README.md#login-protection); 0: no limit.',
  loginFailuresPerAddress: 'The same for one source address (for IPv6, a /64).',
  registrationsPerAddress: 'Registrations from one source address in 15 minutes; 0: no limit.',
  sessionDays:
    'Days after which a [session](../functions/README.md#sessions) ends; 0: no sessions.',
  sessionIdleDays: 'Days without a refresh after which a session ends; requires `sessionDays`.',
  tokenMinutes: 'Minutes for which a token is valid; below 1440 it requires `sessionDays`.',
  tokenSigning:
    '`RS256`: [others verify](../functions/README.md#tokens-that-others-verify) the tokens. A change voids all tokens.',
  tokenIssuer:
    'The issuer of tokens, by default the address of the API; requires `tokenSigning=RS256`.',
  tokenAudience: 'The audience of tokens, by default the issuer; requires `tokenSigning=RS256`.',
  selfDeletion:
    '`on`: users can [delete their own account](../functions/README.md#own-account); requires `sessionDays`.',
  secondFactor:
    '`optional`: users can have a [second factor](../functions/README.md#second-factor), which requires `sessionDays`. `admins`: admins and auditors need one.',
  mailFrom:
    'The sender of [mails](runbooks.md#mails); turns on [password reset](../functions/README.md#password-reset) and [invitations](../functions/README.md#invitations).',
  resetUrl:
    'Your page where a password is set, by default one [of the service](../functions/README.md#pages-for-links); requires `mailFrom`.',
  emailVerification:
    '`on`: users [verify their addresses](../functions/README.md#verified-addresses) by a mailed link. `required`: they log in only then. Requires `mailFrom`, and with `identityProviders` `verifyUrl`.',
  verifyUrl:
    'Your page where an address is verified, by default one of the service; requires `mailFrom`.',
  returnUrl: "Where the service's own pages link to at the end; requires `mailFrom`.",
  mailLanguage:
    "The language of mails, unless the request's `Accept-Language` names one; requires `mailFrom`.",
  productName:
    'The name in mails, their pages, authenticator apps and the title of the console; by default the host.',
  identityProviders:
    'The issuers by whose ID tokens users [log in](../functions/README.md#identities); requires `sessionDays` and `mailFrom`.',
  passkeys:
    'The domain and pages of [passkeys](../functions/README.md#passkeys); requires `sessionDays`. A change of `rpId` needs [preparation](runbooks.md#another-domain-of-passkeys).',
  userAttributes:
    'The [attributes](../functions/README.md#attributes) that an app keeps of its users.',
  machines:
    '`on`: [machines](../functions/README.md#machines) call the service with keys of their own, and write entries of your other services into the trail. While it is off, only `export-audit` and the seal read these entries.',
  auditDetail:
    '`full`: [entries also hold](../functions/README.md#what-is-audited) names, addresses and roles, which nobody can erase from a locked trail, and queries leave entries.',
  v1Users: 'Whether there is `/api/v1/users`.',
  docs: 'Whether there are `/openapi.json` and `/docs`.',
  console: 'Whether there is the [console](../functions/README.md#the-console), `/console`.',
  // The settings of a deployment.
  stage:
    "Production keeps and protects data; in development they are deleted with the stack. Set in the deployment's file alone.",
  tags: 'The tags of all resources that can have some.',
  alarmEmail: 'Where alarms are mailed; confirm the subscription.',
  alarmTopicArn:
    'A topic of the region that is told when an alarm begins and ends; its policy and key must let CloudWatch publish.',
  encryption:
    '`customer`: data are [encrypted](runbooks.md#the-key-of-all-data) by one KMS key of your account.',
  encryptionKeyArn: 'The key of `encryption=customer`; by default the stack makes one.',
  domainName: 'Serves the API under this name; point DNS at the output `DomainTarget`.',
  certificateArn: 'The certificate of `domainName`.',
  edge: '`cloudfront`: requests come [through CloudFront](runbooks.md#cloudfront) alone; requires `domainName`.',
  auditSeal: 'Whether the audit trail is [sealed](runbooks.md#the-seal).',
  abandonAuditSeal: 'Whether `auditSeal=off` is allowed in stage production.',
  auditLockDays:
    'Days for which nobody can delete what is [sealed](runbooks.md#the-seal), in stage production; 0: no lock.',
  auditRetentionDays:
    'Days for which an entry stays in the table; 0: for ever. Requires the [seal](runbooks.md#how-long-entries-are-kept).',
  auditArchiveDays:
    'Days for which an entry stays in the archive; 0: for ever. Not below `auditRetentionDays` or `auditLockDays`.',
  events: '`on`: a [bus](runbooks.md#events) has audit entries, and tells of tampering at once.',
  auditStreamArn: 'The stream of [events](runbooks.md#events) of a table that was taken over.',
  logRetentionDays: 'How long logs are kept.',
  throttleRate: 'Requests a second for the whole API; the gateway answers more with 429.',
  throttleBurst: 'Requests at once for the whole API.',
  credentialsThrottleRate: 'Requests a second for each route that hashes a password.',
  credentialsThrottleBurst: 'Requests at once for each of them.',
  v1ReservedConcurrency: 'Instances of `/api/v1/users`, each with users of its own.',
  usersTableName:
    'The table of users that a new stack [takes over](runbooks.md#take-tables-over), with `auditTableName`.',
  auditTableName: 'The table of audit entries, with `usersTableName`.',
  auditArchiveBucketName:
    'The bucket of sealed entries whose [chain goes on](runbooks.md#take-tables-over), with `auditSealKeyArn`; without them a new chain begins.',
  auditSealKeyArn: 'The key that signed the entries in `auditArchiveBucketName`.',
  secondFactorKeyArn:
    'The [key of second factors](runbooks.md#the-key-of-second-factors); by default the stack makes one.',
};

/** The allowed values in words, for settings whose rule says less, or has characters that Markdown does not show. */
export const allowedInWords: Readonly<Partial<Record<SettingName, string>>> = {
  dataDir: 'a folder, or `memory`',
  publicUrl: 'an http or https origin without a final slash',
  jwtSecret: '32 bytes or more',
  adminEmail: 'an email address, together with `ADMIN_PASSWORD`',
  adminPassword: 'a password, together with `ADMIN_EMAIL`',
  corsOrigins: '`*`, or origins without a final slash, separated by commas',
  awsEndpointUrlDynamodb: 'the URL of a DynamoDB engine',
  awsEndpointUrlSesv2: 'the URL of a server with the API of Amazon SES',
  mailFrom:
    'an email address, or one with a name of at most 45 bytes (`My App <no-reply@example.com>`)',
  identityProviders:
    "a JSON list of `issuer` (an https URL, or an http one of localhost) and `audiences`, each issuer once; in a deployment's file a list",
  userAttributes:
    "a JSON list of at most 20 attributes, each with `name`, `type` and what [the table](../functions/README.md#attributes) has; in a deployment's file a list",
  passkeys: `JSON \`{"rpId": "example.com", "origins": ["https://app.example.com"]}\`, of at most 1,024 characters: a domain, and https origins within it (http for localhost), without a final slash, or apps (\`android:apk-key-hash:…\`, \`ios:…\`); in a deployment's file an object`,
  certificateArn: "the ARN of the name's ACM certificate in the region",
  auditStreamArn: 'the ARN of the stream of `auditTableName`',
};

/** The defaults in words, for settings whose defaults are not in their data because they depend on something else. */
export const defaultsInWords: Readonly<Partial<Record<SettingName, string>>> = {
  jwtSecret: 'made once, kept in `DATA_DIR`',
  adminEmail: 'the existing admin, else `admin@localhost`',
  adminPassword: 'random, printed once',
  logRequests: 'on a terminal `on`, elsewhere `off`',
  auditLockDays: '`auditArchiveDays`, at most 2555; 365 where that is 0',
};

/** The types of settings in JSON, for the declaration file of the package. */
export const jsonTypes: Readonly<Record<JsonName, string>> = {
  tags: 'Readonly<Record<string, string>>',
  identityProviders:
    'readonly { readonly issuer: string; readonly audiences: readonly string[] }[]',
  passkeys: '{ readonly rpId: string; readonly origins: readonly string[] }',
  userAttributes:
    "readonly { readonly name: string; readonly type: 'text' | 'number' | 'boolean' | 'choice' | 'date'; readonly maxLength?: number; readonly choices?: readonly string[]; readonly writer?: 'user' | 'admin'; readonly token?: boolean }[]",
};

/** A meaning in which links are only their words. */
export function withoutLinks(meaning: string): string {
  return meaning.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1');
}
