/**
 * The settings of the service, each defined once, as data, and their values in an environment. The
 * other settings of a deployment are in infra/deployment-settings.ts, and those of `npm start` in
 * infra/local/settings.ts.
 *
 * The rules are data, not valibot schemas, because every function reads settings: the library would
 * add 2.8 KB to the bundles of those that check no body and no query.
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
  /** The name of another setting that must not be at its default unless this one is. */
  readonly requires?: string;
}

/** A setting that is read from an environment variable. */
export interface VariableSetting extends Setting {
  readonly variable: string;
}

type Catalogue = Readonly<Record<string, VariableSetting>>;

export const anyText = { rule: 'text', isAllowed: () => true } as const satisfies Allowed;

/** Days for which an entry stays in the audit table at least, because sealing may fail for days. */
export const leastRetention = 30;

/** A plain address, which needs no quoting in a header or in a condition of an IAM policy. */
const mailAddress = /^[\w.+-]{1,64}@[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?$/i;

/** Without characters that programs read in several ways or that look like other ones. */
const plainUrl = /^https?:\/\/(?!\/)[!-~]+$/i;

const isPageUrl = (text: string): boolean => {
  const url = plainUrl.test(text) && !/[\\#]/.test(text) ? URL.parse(text) : null;
  if (!url || url.username || url.password) return false;
  return url.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
};

const pageUrl = {
  rule: 'an https URL without fragment, or an http one of localhost',
  isAllowed: isPageUrl,
} as const satisfies Allowed;

/** How often something may be tried; 0 sets no limit. */
const limit = { from: 0, to: 1_000_000 } as const;

/** Chosen by whoever deploys the service or starts it on one machine. */
export const serviceSettings = {
  /** Whether users see each other, and logins tell who has an account. */
  accounts: { variable: 'ACCOUNTS', allowed: ['open', 'private'], default: 'open' },
  passwordMinLength: {
    variable: 'PASSWORD_MIN_LENGTH',
    allowed: { from: 1, to: 255 },
    default: '1',
  },
  bcryptCost: { variable: 'BCRYPT_COST', allowed: { from: 4, to: 16 }, default: '10' },
  loginFailuresPerAccount: {
    variable: 'LOGIN_FAILURES_PER_ACCOUNT',
    allowed: limit,
    default: '10',
  },
  loginFailuresPerAddress: {
    variable: 'LOGIN_FAILURES_PER_ADDRESS',
    allowed: limit,
    default: '1000',
  },
  registrationsPerAddress: { variable: 'REGISTRATIONS_PER_ADDRESS', allowed: limit, default: '0' },
  /** Days after which a session ends, however often it is refreshed; 0: there are no sessions. */
  sessionDays: { variable: 'SESSION_DAYS', allowed: { from: 0, to: 400 }, default: '0' },
  /** Days without a refresh after which a session ends. */
  sessionIdleDays: {
    variable: 'SESSION_IDLE_DAYS',
    allowed: { from: 1, to: 400 },
    default: '30',
    requires: 'sessionDays',
  },
  /** Whether users can delete their own account. */
  selfDeletion: {
    variable: 'SELF_DELETION',
    allowed: ['off', 'on'],
    default: 'off',
    requires: 'sessionDays',
  },
  /** Whether users can have a second factor, and whether admins must. */
  secondFactor: {
    variable: 'SECOND_FACTOR',
    allowed: ['off', 'optional', 'admins'],
    default: 'off',
    requires: 'sessionDays',
  },
  /** The sender of mails. With it and the next setting, passwords can be reset. */
  mailFrom: {
    variable: 'MAIL_FROM',
    allowed: { rule: 'an email address', isAllowed: (text) => mailAddress.test(text) },
    default: '',
    requires: 'resetUrl',
  },
  /** The page to which reset links lead: their host comes from this setting alone. */
  resetUrl: {
    variable: 'RESET_URL',
    allowed: pageUrl,
    default: '',
    requires: 'mailFrom',
  },
  /** Whether users verify their addresses by a mailed link, and whether they log in only then. */
  emailVerification: {
    variable: 'EMAIL_VERIFICATION',
    allowed: ['off', 'on', 'required'],
    default: 'off',
    requires: 'verifyUrl',
  },
  /** The page to which links lead that verify addresses. */
  verifyUrl: { variable: 'VERIFY_URL', allowed: pageUrl, default: '', requires: 'resetUrl' },
  /** Whether audit entries hold names and addresses, and queries of the trail leave entries. */
  auditDetail: { variable: 'AUDIT_DETAIL', allowed: ['standard', 'full'], default: 'standard' },
  /** Whether there is the in-memory variant. */
  v1Users: { variable: 'V1_USERS', allowed: ['on', 'off'], default: 'on' },
  /** Whether there are GET /openapi.json and the page that shows it, GET /docs. */
  docs: { variable: 'DOCS', allowed: ['on', 'off'], default: 'on' },
  /** Whether there is the page GET /console. */
  console: { variable: 'CONSOLE', allowed: ['on', 'off'], default: 'on' },
} as const satisfies Catalogue;

type ServiceSetting = keyof typeof serviceSettings;

/**
 * The settings that the operator's commands read too, because they change users as functions do. A
 * stack has an output for each, and a local service keeps them in its data folder.
 */
export const operatorSettings = [
  'passwordMinLength',
  'bcryptCost',
  'sessionDays',
  'secondFactor',
  'mailFrom',
  'resetUrl',
  'emailVerification',
  'auditDetail',
  'auditRetentionDays',
] as const;

/** The name of the output by which a stack tells the value of a setting. */
export const outputOf = (setting: (typeof operatorSettings)[number]): string =>
  setting.charAt(0).toUpperCase() + setting.slice(1);

/** All settings that lib reads: those above, and those given by what runs the service. */
export const settings = {
  ...serviceSettings,
  usersTable: { variable: 'USERS_TABLE', allowed: anyText },
  auditTable: { variable: 'AUDIT_TABLE', allowed: anyText },
  /**
   * Days after which entries leave the audit table; they must be sealed. 0: they stay for ever. A
   * deployment says it to functions; on one machine nothing removes entries.
   */
  auditRetentionDays: {
    variable: 'AUDIT_RETENTION_DAYS',
    allowed: { from: leastRetention, to: 36_500, or: 0 },
    default: '0',
  },
  /** Seconds from one run of the sealer of the audit trail to the next. */
  auditSealInterval: {
    variable: 'AUDIT_SEAL_INTERVAL',
    allowed: { from: 1, to: 86_400 },
    default: '300',
  },
  /** Whether the audit trail is sealed. A deployment says it to functions; one machine always does. */
  auditSeal: { variable: 'AUDIT_SEAL', allowed: ['on', 'paused', 'off'], default: 'on' },
  /** The folder of the sealed trail on one machine; '': nothing is sealed there. */
  auditArchiveFolder: { variable: 'AUDIT_ARCHIVE_FOLDER', allowed: anyText, default: '' },
  /** The URL at which the function that sends mails is invoked; '': no mails are sent. */
  mailFunctionUrl: { variable: 'MAIL_FUNCTION_URL', allowed: anyText, default: '' },
  /** The key in AWS KMS that encrypts the secrets of second factors; and the URL of KMS. */
  secondFactorKey: { variable: 'SECOND_FACTOR_KEY', allowed: anyText, default: '' },
  kmsUrl: { variable: 'KMS_URL', allowed: anyText, default: '' },
  /** That key on one machine, 32 bytes in base64; '': it is in KMS. */
  secondFactorLocalKey: { variable: 'SECOND_FACTOR_LOCAL_KEY', allowed: anyText, default: '' },
  /** The folder of the files that pages load; see infra/static-files.ts. */
  staticFiles: { variable: 'STATIC_FILES', allowed: anyText },
} as const satisfies Catalogue;

/** Given by the stack to the functions of the seal: its bucket, and the id of its key in AWS KMS. */
export const sealerSettings = {
  /** '' where nothing is sealed. */
  auditArchiveBucket: { variable: 'AUDIT_ARCHIVE_BUCKET', allowed: anyText, default: '' },
  auditSealKey: { variable: 'AUDIT_SEAL_KEY', allowed: anyText, default: '' },
  /** Days after which sealed files leave the archive, not before their entries. 0: they stay. */
  auditArchiveDays: {
    variable: 'AUDIT_ARCHIVE_DAYS',
    allowed: { from: 1, to: 36_500, or: 0 },
    default: '0',
  },
} as const satisfies Catalogue;

/** Given by the stack to the function that publishes the audit trail. */
export const eventSettings = {
  /** The URL of EventBridge, the name of the bus, and the source of its events. */
  eventsUrl: { variable: 'EVENTS_URL', allowed: anyText },
  eventBus: { variable: 'EVENT_BUS', allowed: anyText },
  eventSource: { variable: 'EVENT_SOURCE', allowed: anyText },
  /** The queue of events that the bus refuses. */
  sqsUrl: { variable: 'REFUSED_EVENTS_QUEUE_URL', allowed: anyText },
} as const satisfies Catalogue;

/** The origins that a value of {@link corsOrigins} lists. */
export const originsIn = (text: string): string[] => text.split(',').map((each) => each.trim());

const isOrigin = (text: string) => /^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text;

/** The origins whose pages may call the API from a browser. Only the gateway reads them. */
export const corsOrigins = {
  variable: 'CORS_ORIGINS',
  allowed: {
    rule: '* or a comma-separated list of origins such as https://app.example.com',
    isAllowed: (text) => originsIn(text).every(isOrigin),
  },
  default: '*',
} as const satisfies VariableSetting;

/** A variable by which a deployment gives a setting to functions. */
export type ServiceVariable =
  | (typeof serviceSettings)[ServiceSetting]['variable']
  | (typeof settings)['auditSeal' | 'auditRetentionDays']['variable'];

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

/** Whether the service sends mails, and so has password reset. */
export const sendsMail = ({ mailFrom, resetUrl }: Pick<ServiceValues, 'mailFrom' | 'resetUrl'>) =>
  mailFrom !== '' && resetUrl !== '';

/** Whether there are sessions (functions/README.md, Sessions). */
export const hasSessions = ({ sessionDays }: Pick<ServiceValues, 'sessionDays'>) => sessionDays > 0;

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

/**
 * The rule that a number of days breaks if it is smaller than one of others. 0 means for ever.
 * @param others by the names under which users set them
 */
export const tooFewDays = (
  days: number,
  others: Readonly<Record<string, number>>,
): string | undefined => {
  const orEver = (each: number) => each || Number.POSITIVE_INFINITY;
  const broken = Object.entries(others).find(([, other]) => orEver(days) < orEver(other));
  return broken && `must not be below ${broken[0]}, which is ${broken[1] || '0, for ever'}`;
};

/** A setting that is missing or not allowed; names the variable, never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(variable: string, rule: string) {
    super(`Environment variable ${variable} ${rule}`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const read = (env: Environment, setting: VariableSetting) => {
  const { variable } = setting;
  const text = env[variable] || setting.default;
  if (text === undefined) throw new ConfigError(variable, 'is not set');
  const value = parseSetting(setting, text);
  if (value === undefined) throw new ConfigError(variable, ruleOf(setting));
  return value;
};

/**
 * The values of settings in an environment. Each is read whenever it is used, and not before, so
 * that a function that never uses a table needs no name of it.
 * @throws {ConfigError} from the getter of a setting that is missing or not allowed
 */
// @__NO_SIDE_EFFECTS__
export const valuesIn = <C extends Catalogue>(env: Environment, catalogue: C): Values<C> => {
  const getters = Object.entries(catalogue).map(([name, setting]) => [
    name,
    { get: () => read(env, setting), enumerable: true, configurable: true },
  ]);
  return Object.defineProperties({}, Object.fromEntries(getters)) as Values<C>;
};

/** The names of settings that one requires, each through the one before. */
const requiredBy = (name: string, all: Readonly<Record<string, Setting>>): readonly string[] => {
  const required = new Set<string>();
  for (
    let next = all[name]?.requires;
    next && next !== name && !required.has(next);
    next = all[next]?.requires
  ) {
    required.add(next);
  }
  return [...required];
};

/**
 * What a setting that has a value lacks: settings that it requires, directly or through others, and
 * that are at their defaults.
 * @param isAtDefault whether a setting, by its key, has no value of its own
 * @param nameOf the name under which users know a setting
 * @returns it completes a sentence that begins with the name of the setting; undefined: nothing, or
 *   the same as a setting that it requires
 */
export const lackOf = (
  name: string,
  all: Readonly<Record<string, Setting>>,
  {
    isAtDefault,
    nameOf = (each) => each,
  }: { isAtDefault(name: string): boolean; nameOf?(name: string): string },
): string | undefined => {
  const [direct = '', ...others] = requiredBy(name, all);
  if (!direct || isAtDefault(name) || !isAtDefault(direct)) return undefined;
  const lacking = [direct, ...others.filter(isAtDefault)].map((each) => {
    const value = all[each]?.default;
    return value ? `that ${nameOf(each)} is not ${value}` : nameOf(each);
  });
  return `requires ${new Intl.ListFormat('en-GB').format(lacking)}`;
};

/**
 * Everything that is wrong with the settings in the environment of a whole service, a sentence each:
 * first the values that are not allowed, then what those that are set lack. A function has only the
 * settings that it reads.
 */
export const faultsIn = (env: Environment, all: Catalogue): readonly string[] => {
  const variableOf = (name: string): string => all[name]?.variable ?? name;
  const isAtDefault = (name: string): boolean => {
    const { default: standard } = all[name] ?? {};
    return (env[variableOf(name)] || standard) === standard;
  };
  const values = Object.values(all).flatMap((setting) => {
    try {
      read(env, setting);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  const lacking = Object.keys(all).flatMap((name) => {
    const lack = lackOf(name, all, { isAtDefault, nameOf: variableOf });
    return lack ? [new ConfigError(variableOf(name), lack).message] : [];
  });
  return [...values, ...lacking];
};

// @__NO_SIDE_EFFECTS__
export const configFrom = (env: Environment): Config => valuesIn(env, settings);

export const config = configFrom(process.env);

/** The settings of the seal on AWS besides. */
export const sealerConfig = valuesIn(process.env, sealerSettings);

/** The settings of the function that publishes the audit trail. */
export const eventConfig = valuesIn(process.env, eventSettings);
