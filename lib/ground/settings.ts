/**
 * The settings of the service, each said once, as data, and their values in an environment, where
 * `sessionDays` is SESSION_DAYS. The other settings of a deployment are in
 * infra/deployment-settings.ts, and the settings of `npm start` in infra/local/settings.ts.
 *
 * The rules are data, not valibot schemas: the stack, the local service and the documents read them too.
 */

/** The values that a setting may have. */
export type Allowed =
  /** One of these. */
  | readonly (string | number)[]
  /** A whole number within these bounds, or one other value. */
  | { readonly from: number; readonly to: number; readonly or?: string | number }
  /** Text that follows a rule; the rule completes a sentence that begins with `must be`. */
  | { readonly rule: string; isAllowed(text: string): boolean };

export interface Setting {
  readonly allowed: Allowed;
  /** As text, which is always allowed. Absent: the setting has no default. */
  readonly default?: string;
  /** The names of other settings that must not be at their defaults unless this one is. */
  readonly requires?: string | readonly string[];
  /** The same where a further setting, which is the key, is not at its default. */
  readonly requiresWith?: Readonly<Record<string, string>>;
}

type Catalogue = Readonly<Record<string, Setting>>;

/** The environment variable of a setting. */
export const variableOf = (name: string): string => name.replace(/[A-Z]/g, '_$&').toUpperCase();

/** Any text, which must be set; and any text that is '' by default. */
const anyText = {
  allowed: { rule: 'text', isAllowed: () => true },
} as const satisfies Setting;
export const optionalText = { ...anyText, default: '' } as const satisfies Setting;

/** Days for which an entry stays in the audit table at least, because sealing may fail for days. */
export const leastRetention = 30;

/** The languages of mails, each with its texts in lib/options/mails/texts. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/** A plain address, which needs no quoting in a header or in a condition of an IAM policy. */
const mailAddress = /^[\w.+-]{1,64}@[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?$/i;

/** The name and the address in `My App <no-reply@example.com>`; an address alone has no name. */
export const senderIn = (mailFrom: string): { readonly name: string; readonly address: string } => {
  const [, name = '', address = mailFrom] = /^(.+) <(.*)>$/.exec(mailFrom) ?? [];
  return { name, address };
};

/** Characters that part names from addresses, or an authenticator's label from its issuer. */
const isName = (text: string) => text.trim() === text && /^[^\p{C}"\\<>:;,@()[\]]+$/u.test(text);

/** Bytes of a name: what one encoded-word (RFC 2047) holds. */
const longestName = 45;

/** Without characters that programs read in several ways or that look like other ones. */
const plainUrl = /^https?:\/\/(?!\/)[!-~]+$/i;

const isPageUrl = (text: string): boolean => {
  const url = plainUrl.test(text) && !/[\\#]/.test(text) ? URL.parse(text) : null;
  if (!url || url.username || url.password) return false;
  return url.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
};

/** An OpenID Connect issuer whose ID tokens log users in, and for which apps they may be. */
export interface IdentityProvider {
  readonly issuer: string;
  readonly audiences: readonly string[];
}

/** The file beside the code of a function that holds the list, which is no variable there. */
export const providersFile = 'identity-providers.json';

/** Of Entra ID for many tenants: its tokens name the tenant's own issuer, and never this one. */
const ofManyTenants = /\/(?:common|organizations|consumers)\/v2\.0\/?$/i;

const isProvider = ({ issuer, audiences, ...others }: Partial<IdentityProvider>): boolean =>
  typeof issuer === 'string' &&
  isPageUrl(issuer) &&
  issuer.length <= 255 &&
  !issuer.includes('?') &&
  !ofManyTenants.test(issuer) &&
  Array.isArray(audiences) &&
  audiences.length > 0 &&
  audiences.every((each) => typeof each === 'string' && each !== '') &&
  Object.keys(others).length === 0;

/** Whether each issuer stands once, however it is written. */
const areDistinct = (list: readonly IdentityProvider[]): boolean =>
  new Set(list.map(({ issuer }) => new URL(issuer).href.replace(/\/$/, ''))).size === list.length;

const isProviderList = (text: string): boolean => {
  try {
    const list = JSON.parse(text);
    const isList = Array.isArray(list) && list.length > 0;
    return isList && list.every((each) => each && isProvider(each)) && areDistinct(list);
  } catch {
    return false;
  }
};

/** The domain whose passkeys log users in, and the pages and apps that may ask for them. */
export interface PasskeySettings {
  readonly rpId: string;
  readonly origins: readonly string[];
}

/** A domain, or the host of a page on one machine. */
const relyingParty = /^(?=.{1,253}$)(?:localhost|(?:[a-z\d-]{1,63}\.)+[a-z][a-z\d-]*[a-z\d])$/;

/** The origin of an app, as Android and iOS name it. */
const appOrigin = /^(?:android:apk-key-hash:[\w-]{43}|ios:[!-~]+)$/;

const isOriginOf = (rpId: string, origin: unknown): boolean => {
  if (typeof origin !== 'string') return false;
  if (appOrigin.test(origin)) return true;
  const url = URL.parse(origin);
  if (url?.origin !== origin) return false;
  const { protocol, hostname } = url;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  const isWithin = hostname === rpId || hostname.endsWith(`.${rpId}`);
  return isWithin && (protocol === 'https:' || (protocol === 'http:' && isLocal));
};

const isPasskeySettings = (text: string): boolean => {
  try {
    const { rpId, origins, ...others }: Partial<PasskeySettings> = JSON.parse(text);
    return (
      typeof rpId === 'string' &&
      relyingParty.test(rpId) &&
      Array.isArray(origins) &&
      origins.length > 0 &&
      origins.every((origin) => isOriginOf(rpId, origin)) &&
      Object.keys(others).length === 0 &&
      text.length <= 1024
    );
  } catch {
    return false;
  }
};

const pageUrl = {
  rule: 'an https URL without fragment, or an http one of localhost',
  isAllowed: isPageUrl,
} as const satisfies Allowed;

/** A URL whose scheme is an app's own, and none by which browsers run or show something themselves. */
const appUrl =
  /^(?!(?:https?|javascript|data|vbscript|blob|file|about):)[a-z][a-z\d+.-]*:\/\/[!-~]*$/i;

/** Where a link may lead: to a page, with a fragment too, or to an app. */
const isReturnUrl = (text: string): boolean =>
  appUrl.test(text) || isPageUrl(text.replace(/#[!-~]*$/, ''));

/** How often something may be tried; 0 sets no limit. */
const limit = { from: 0, to: 1_000_000 } as const;

/** A part of the service that can be left out. */
const onByDefault = { allowed: ['on', 'off'], default: 'on' } as const satisfies Setting;

/** Chosen by whoever deploys the service or starts it on one machine. */
export const serviceSettings = {
  /** Whether users see each other, and logins tell who has an account. */
  accounts: { allowed: ['open', 'private'], default: 'open' },
  passwordMinLength: { allowed: { from: 1, to: 255 }, default: '1' },
  bcryptCost: { allowed: { from: 4, to: 16 }, default: '10' },
  loginFailuresPerAccount: { allowed: limit, default: '10' },
  loginFailuresPerAddress: { allowed: limit, default: '1000' },
  registrationsPerAddress: { allowed: limit, default: '0' },
  /** Days after which a session ends, however often it is refreshed; 0: there are no sessions. */
  sessionDays: { allowed: { from: 0, to: 400 }, default: '0' },
  /** Days without a refresh after which a session ends. */
  sessionIdleDays: { allowed: { from: 1, to: 400 }, default: '30', requires: 'sessionDays' },
  /** Minutes for which a token is valid. */
  tokenMinutes: { allowed: { from: 5, to: 1440 }, default: '1440', requires: 'sessionDays' },
  /** The algorithm that signs tokens: with a secret, or a key whose public half others can read. */
  tokenSigning: { allowed: ['HS256', 'RS256'], default: 'HS256' },
  /** The issuer that such tokens name, by default the address of the API; and their audience. */
  tokenIssuer: {
    allowed: {
      rule: 'an https URL without query, fragment and final slash, or an http one of localhost',
      isAllowed: (given) => isPageUrl(given) && !/\?|\/$/.test(given),
    },
    default: '',
    requires: 'tokenSigning',
  },
  tokenAudience: {
    allowed: { rule: 'text without spaces', isAllowed: (given) => /^[!-~]+$/.test(given) },
    default: '',
    requires: 'tokenSigning',
  },
  /** Whether users can delete their own account. */
  selfDeletion: { allowed: ['off', 'on'], default: 'off', requires: 'sessionDays' },
  /** Whether users can have a second factor, and whether admins must. */
  secondFactor: {
    allowed: ['off', 'optional', 'admins'],
    default: 'off',
    requires: 'sessionDays',
  },
  /** The sender of mails. With it passwords can be reset. */
  mailFrom: {
    allowed: {
      rule: `an email address, or a name of at most ${longestName} bytes and one as in My App <no-reply@example.com>`,
      isAllowed: (given) => {
        const { name, address } = senderIn(given);
        const isShort = Buffer.byteLength(name) <= longestName;
        return mailAddress.test(address) && (address === given || (isName(name) && isShort));
      },
    },
    default: '',
  },
  /** The page to which reset links lead; '': the service's own. No request has a say in it. */
  resetUrl: { allowed: pageUrl, default: '', requires: 'mailFrom' },
  /** Whether users verify their addresses by a mailed link, and whether they log in only then. */
  emailVerification: {
    allowed: ['off', 'on', 'required'],
    default: 'off',
    requires: 'mailFrom',
    // Users without a password confirm by an ID token, which only the app can get.
    requiresWith: { identityProviders: 'verifyUrl' },
  },
  /** The page to which links lead that verify addresses; '': the service's own. */
  verifyUrl: { allowed: pageUrl, default: '', requires: 'mailFrom' },
  /** The place to which the service's own pages link when they are done. */
  returnUrl: {
    allowed: {
      rule: 'an https URL, an http one of localhost, or one of an app as in my-app://login',
      isAllowed: isReturnUrl,
    },
    default: '',
    requires: 'mailFrom',
  },
  /** The language of mails whose request names none of {@link languages}. */
  mailLanguage: { allowed: languages, default: 'en', requires: 'mailFrom' },
  /** The name of the product in mails, authenticator apps and the console; '': the host. */
  productName: {
    allowed: {
      rule: 'a name of at most 60 characters without " \\ < > : ; , @ ( ) [ ]',
      isAllowed: (given) => given.length <= 60 && isName(given),
    },
    default: '',
  },
  /** The issuers by whose ID tokens users log in, as JSON (functions/README.md, Identities). */
  identityProviders: {
    allowed: {
      rule: `a JSON list of {"issuer": an https URL, or an http one of localhost, "audiences": a list of text}, each issuer once; of Entra ID a tenant's own issuer, not common, organizations or consumers`,
      isAllowed: (given) => given === providersFile || isProviderList(given),
    },
    default: '',
    requires: ['sessionDays', 'mailFrom'],
  },
  /** The domain of passkeys, and the origins of its pages and apps, as JSON (functions/README.md, Passkeys). */
  passkeys: {
    allowed: {
      rule: 'JSON of at most 1,024 characters {"rpId": a domain in lower case, "origins": a list of https origins within it, of http ones of localhost, both without a final slash, or of apps as android:apk-key-hash:… or ios:…}',
      isAllowed: isPasskeySettings,
    },
    default: '',
    requires: 'sessionDays',
  },
  /** Whether audit entries hold names and addresses, and queries of the trail leave entries. */
  auditDetail: { allowed: ['standard', 'full'], default: 'standard' },
  /** Whether there is the in-memory variant. */
  v1Users: onByDefault,
  /** Whether there are GET /openapi.json and the page that shows it, GET /docs. */
  docs: onByDefault,
  /** Whether there is the page GET /console. */
  console: onByDefault,
} as const satisfies Catalogue;

/**
 * The settings that a stack only passes on to functions. There a value may be a reference that AWS resolves when it
 * deploys, so that only functions can check it.
 */
export const passedOn = [
  'tokenIssuer',
  'tokenAudience',
  'resetUrl',
  'verifyUrl',
  'returnUrl',
  'productName',
  'passkeys',
] as const satisfies readonly (keyof typeof serviceSettings)[];

export const serviceNames = Object.keys(serviceSettings) as (keyof typeof serviceSettings)[];

/**
 * The settings of the service, and the settings that whatever runs the service gives. Where the signing secret
 * and the keys of requests to AWS are found is read beside them, in lib/keys and lib/http/edge.ts.
 */
export const settings = {
  ...serviceSettings,
  usersTable: anyText,
  auditTable: anyText,
  /**
   * Days after which entries leave the audit table; they must be sealed. 0: they stay for ever. A
   * deployment says it to functions; on one machine nothing removes entries.
   */
  auditRetentionDays: { allowed: { from: leastRetention, to: 36_500, or: 0 }, default: '0' },
  /** Seconds from one run of the sealer of the audit trail to the next. */
  auditSealInterval: { allowed: { from: 1, to: 86_400 }, default: '300' },
  /** Whether the audit trail is sealed. A deployment says it to functions; one machine always does. */
  auditSeal: { allowed: ['on', 'paused', 'off'], default: 'on' },
  /** The bucket of the sealed trail, or its folder on one machine; '': nothing is sealed there. */
  auditArchiveBucket: optionalText,
  auditArchiveFolder: optionalText,
  /** The key in AWS KMS that signs what is sealed. */
  auditSealKey: optionalText,
  /** Days after which sealed files leave the archive, not before their entries. 0: they stay. */
  auditArchiveDays: { allowed: { from: 1, to: 36_500, or: 0 }, default: '0' },
  /** Days for which nobody can delete what is sealed. 0: whoever has the permission can. */
  auditLockDays: { allowed: { from: 1, to: 36_500, or: 0 }, default: '0' },
  /** The URL at which the function that sends mails is invoked; '': no mails are sent. */
  mailFunctionUrl: optionalText,
  /** The key in AWS KMS that encrypts the secrets of second factors; and the URL of KMS. */
  secondFactorKey: optionalText,
  kmsUrl: optionalText,
  /** That key on one machine, 32 bytes in base64; '': it is in KMS. */
  secondFactorLocalKey: optionalText,
  /** The first key of tokens, and how the names of those begin that follow it (lib/keys/signing-key.ts). */
  tokenSigningKey: optionalText,
  tokenKeys: optionalText,
  /** The address of the API. */
  apiUrl: optionalText,
  /** The folder of the files that pages load; see infra/static-files.ts. */
  staticFiles: anyText,
  /** The URL of EventBridge, the name of the bus, and the source of its events. */
  eventsUrl: optionalText,
  eventBus: optionalText,
  eventSource: optionalText,
  /** The queue of events that the bus refuses. */
  refusedEventsQueueUrl: optionalText,
} as const satisfies Catalogue;

type ValueIn<A> = A extends readonly (infer Value)[]
  ? Value
  : A extends { from: number }
    ? number | (A extends { or: infer Other } ? Other : never)
    : string;

/** The type of the value of a setting. */
export type ValueOf<S extends Setting> = ValueIn<S['allowed']>;

type Values<C extends Catalogue> = { readonly [K in keyof C]: ValueOf<C[K]> };

/**
 * The values of {@link serviceSettings}, and whether the trail is sealed: what there is follows
 * from them.
 */
export type ServiceValues = Values<typeof serviceSettings> &
  Pick<Values<typeof settings>, 'auditSeal'>;

/** The values of {@link settings}. */
export type Config = Values<typeof settings>;

/** Whether what runs the service keeps a sealed trail. */
export const keepsSeal = ({
  auditArchiveFolder,
  auditSealKey,
}: Pick<Config, 'auditArchiveFolder' | 'auditSealKey'>) =>
  auditArchiveFolder !== '' || auditSealKey !== '';

/** Whether the service sends mails, and so has password reset. */
export const sendsMail = ({ mailFrom }: Pick<ServiceValues, 'mailFrom'>) => mailFrom !== '';

/** Whether there are sessions (functions/README.md, Sessions). */
export const hasSessions = ({ sessionDays }: Pick<ServiceValues, 'sessionDays'>) => sessionDays > 0;

/** Whether users can log in by identities of other issuers. */
export const hasIdentities = ({ identityProviders }: Pick<ServiceValues, 'identityProviders'>) =>
  identityProviders !== '';

/** Whether users can log in by passkeys. */
export const hasPasskeys = ({ passkeys }: Pick<ServiceValues, 'passkeys'>) => passkeys !== '';

/** Whether users can have a second factor. */
export const hasSecondFactors = ({ secondFactor }: Pick<ServiceValues, 'secondFactor'>) =>
  secondFactor !== 'off';

/**
 * Whether nobody can tell from registrations, or from changes of their own address, who has an
 * account.
 */
export const hidesAccounts = ({
  accounts,
  emailVerification,
}: Pick<ServiceValues, 'accounts' | 'emailVerification'>) =>
  accounts === 'private' && emailVerification === 'required';

/** The value that a text means. @returns undefined for a text that is not allowed */
export const parseSetting = (setting: Setting, text: string): string | number | undefined => {
  const { allowed } = setting;
  if ('rule' in allowed) {
    return text === setting.default || allowed.isAllowed(text) ? text : undefined;
  }
  if (!('from' in allowed)) return allowed.find((value) => String(value) === text);
  const { from, to, or } = allowed;
  if (text === String(or)) return or;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return number >= from && number <= to ? number : undefined;
};

/** The rule for the values of a setting, as a message says it: `must be …`. */
export const ruleOf = ({ allowed }: Setting): string => {
  if ('rule' in allowed) return `must be ${allowed.rule}`;
  if (!('from' in allowed)) return `must be one of ${allowed.join(', ')}`;
  const { from, to, or } = allowed;
  return `must be ${or === undefined ? '' : `${or}, or `}a whole number from ${from} to ${to}`;
};

/** A setting that is missing or not allowed; names the variable, never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(variable: string, rule: string) {
    super(`Environment variable ${variable} ${rule}`);
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** @throws {ConfigError} unless the environment has a value that is allowed, or there is a default */
export const readSetting = (env: Environment, name: string, setting: Setting) => {
  const variable = variableOf(name);
  const given = env[variable] || setting.default;
  if (given === undefined) throw new ConfigError(variable, 'is not set');
  const value = parseSetting(setting, given);
  if (value === undefined) throw new ConfigError(variable, ruleOf(setting));
  return value;
};

/**
 * The values of settings in an environment. A setting is read when it is used, and not before, so that a
 * function that never uses a table needs no name of it; and only once, unless its text changes.
 * @throws {ConfigError} from the getter of a setting that is missing or not allowed
 */
// @__NO_SIDE_EFFECTS__
export const valuesIn = <C extends Catalogue>(env: Environment, catalogue: C): Values<C> => {
  const getterOf = (name: string, setting: Setting) => {
    const variable = variableOf(name);
    let read: { readonly text: string | undefined; readonly value: string | number } | undefined;
    return () => {
      const text = env[variable];
      if (read?.text !== text || !read) read = { text, value: readSetting(env, name, setting) };
      return read.value;
    };
  };
  const getters = Object.entries(catalogue).map(([name, setting]) => [
    name,
    { get: getterOf(name, setting), enumerable: true, configurable: true },
  ]);
  return Object.defineProperties({}, Object.fromEntries(getters)) as Values<C>;
};

// @__NO_SIDE_EFFECTS__
export const configFrom = (env: Environment): Config => valuesIn(env, settings);

export const config = configFrom(process.env);

/** @throws {ConfigError} naming the first of the settings {@link passedOn} whose value is not allowed */
export function requirePassedOn(): void {
  for (const name of passedOn) void config[name];
}
