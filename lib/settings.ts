/**
 * The settings of the service, each once, as data. lib/config.ts reads their values from the
 * environment; infra/deployment-settings.ts has those that a deployment chooses.
 */

/** What texts a setting takes. */
export interface Rule<T> {
  /** What it is, to follow `must be`. */
  readonly form: string;
  /** Undefined for a text that is not so. */
  parse(text: string): T | undefined;
  /** Greater for a stricter value; absent where no value is stricter than another. */
  strictness?(value: T): number;
}

export interface Setting<T> {
  readonly rule: Rule<T>;
  /** As text; undefined: none. */
  readonly otherwise: string | undefined;
  /** The name of the setting without which this one means nothing. */
  readonly together?: string;
}

/** A setting that lib reads, and from which variable. */
export interface VariableSetting<T> extends Setting<T> {
  readonly variable: string;
}

/** One that a deployment sets for the functions that read it. */
export interface ServiceSetting<T> extends VariableSetting<T> {
  /** What a deployment takes of what lib does; absent: all of it. */
  readonly deployed?: Rule<T>;
  /** Commands of the operator read it too, because they change users as the functions do. */
  readonly operator?: true;
}

/** One of a list of words. */
export const oneOf = <T extends string>(words: readonly T[]): Rule<T> => ({
  form: `one of ${words.join(', ')}`,
  parse: (text) => words.find((word) => word === text),
});

/** One of a list of words, from the laxest to the strictest. */
export const fromLaxest = <T extends string>(words: readonly T[]): Rule<T> => ({
  ...oneOf(words),
  strictness: (word) => words.indexOf(word),
});

/** A whole number within bounds. */
export const integer = (minimum: number, maximum: number): Rule<number> => ({
  form: `a whole number from ${minimum} to ${maximum}`,
  parse: (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  },
});

/** A number that is the stricter the greater. */
export const greaterIsStricter = (rule: Rule<number>): Rule<number> => ({
  ...rule,
  strictness: (value) => value,
});

/** How often something may be tried, the stricter the smaller; but 0 sets no limit. */
const limit: Rule<number> = {
  ...integer(0, 1_000_000),
  strictness: (value) => (value === 0 ? Number.NEGATIVE_INFINITY : -value),
};

/** Days; 0 for ever. */
const days = (minimum: number): Rule<number> => {
  const { form, parse } = integer(minimum, 36_500);
  return { form: `0, or ${form}`, parse: (text) => (text === '0' ? 0 : parse(text)) };
};

/** Days for which an entry stays in the audit table at least: sealing may be down for some. */
export const leastRetention = 30;

/** Compares times in days, of which 0 is for ever. */
export const isShorter = (one: number, other: number): boolean =>
  (one || Number.POSITIVE_INFINITY) < (other || Number.POSITIVE_INFINITY);

const anyText: Rule<string> = { form: 'text', parse: (text) => text };

/** Text that keeps a rule, or none, which is ''. */
const orNone = (form: string, holds: (text: string) => boolean): Rule<string> => ({
  form,
  parse: (text) => (text === '' || holds(text) ? text : undefined),
});

/** Plain, so that it can stand in a header and in a condition of IAM as it is. */
const mailAddress = /^[\w.+-]{1,64}@[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?$/i;

/** As it stands in a mail: nothing that programs read in several ways, or that shows as another one. */
const plainUrl = /^https?:\/\/(?!\/)[!-~]+$/i;

const isPageUrl = (text: string): boolean => {
  const url = plainUrl.test(text) && !/[\\#]/.test(text) ? URL.parse(text) : null;
  if (!url || url.username || url.password) return false;
  return url.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
};

/** Chosen by whoever deploys the service or starts it on one machine. */
export const serviceSettings = {
  userDirectory: {
    variable: 'USER_DIRECTORY',
    rule: fromLaxest(['open', 'closed']),
    otherwise: 'open',
  },
  passwordMinLength: {
    variable: 'PASSWORD_MIN_LENGTH',
    rule: greaterIsStricter(integer(1, 255)),
    otherwise: '1',
    operator: true,
  },
  bcryptCost: {
    variable: 'BCRYPT_COST',
    rule: integer(4, 16),
    // 10 is the least that OWASP advises; 14 takes seconds.
    deployed: greaterIsStricter(integer(10, 14)),
    otherwise: '10',
    operator: true,
  },
  loginAnswers: {
    variable: 'LOGIN_ANSWERS',
    rule: fromLaxest(['distinct', 'uniform']),
    otherwise: 'distinct',
  },
  loginFailuresPerAccount: {
    variable: 'LOGIN_FAILURES_PER_ACCOUNT',
    rule: limit,
    otherwise: '10',
  },
  loginFailuresPerAddress: {
    variable: 'LOGIN_FAILURES_PER_ADDRESS',
    rule: limit,
    otherwise: '1000',
  },
  registrationsPerAddress: {
    variable: 'REGISTRATIONS_PER_ADDRESS',
    rule: limit,
    otherwise: '0',
  },
  /** Whether a session can be ended before its token expires; see lib/users/sessions.ts. */
  sessions: {
    variable: 'SESSIONS',
    rule: fromLaxest(['stateless', 'revocable']),
    otherwise: 'stateless',
    operator: true,
  },
  /** Whether who changes its own password or address must say its current password. */
  currentPassword: {
    variable: 'CURRENT_PASSWORD',
    rule: fromLaxest(['optional', 'required']),
    otherwise: 'optional',
  },
  /** Whom mails are from. With the page that a mail leads to, password reset is there. */
  mailFrom: {
    variable: 'MAIL_FROM',
    rule: orNone('an email address', (text) => mailAddress.test(text)),
    otherwise: '',
    together: 'resetUrl',
    operator: true,
  },
  /** The page that a mailed link leads to: a link's host comes from here alone. */
  resetUrl: {
    variable: 'RESET_URL',
    rule: orNone('an https URL without fragment, or an http one of localhost', isPageUrl),
    otherwise: '',
    together: 'mailFrom',
    operator: true,
  },
  /** Whether audit entries hold names and addresses, and queries of the log leave entries. */
  auditDetail: {
    variable: 'AUDIT_DETAIL',
    rule: oneOf(['standard', 'full']),
    otherwise: 'standard',
    operator: true,
  },
  /** Days after which entries leave the audit table; they must be sealed before. 0: none does. */
  auditRetentionDays: {
    variable: 'AUDIT_RETENTION_DAYS',
    rule: days(leastRetention),
    otherwise: '0',
    operator: true,
  },
  /** Days after which sealed windows leave the archive, never before their entries; 0: none does. */
  auditArchiveDays: {
    variable: 'AUDIT_ARCHIVE_DAYS',
    rule: days(1),
    otherwise: '0',
    operator: true,
  },
  /** Whether the in-memory variant is there at all. */
  v1Users: { variable: 'V1_USERS', rule: fromLaxest(['on', 'off']), otherwise: 'on' },
  /** Whether GET /openapi.json and the page of it, GET /docs, are there. */
  docs: { variable: 'DOCS', rule: fromLaxest(['on', 'off']), otherwise: 'on' },
} as const satisfies Readonly<Record<string, ServiceSetting<unknown>>>;

/** Given by what runs the service: the stack, the local service, the operator's commands. */
const runtimeSettings = {
  usersTable: { variable: 'USERS_TABLE', rule: anyText, otherwise: undefined },
  auditTable: { variable: 'AUDIT_TABLE', rule: anyText, otherwise: undefined },
  /** Seconds from one sealed window of the audit trail to the next. */
  auditSealInterval: {
    variable: 'AUDIT_SEAL_INTERVAL',
    rule: integer(1, 86_400),
    otherwise: '300',
  },
  /** Where the function that mails is invoked; absent: nothing is mailed. */
  mailFunctionUrl: { variable: 'MAIL_FUNCTION_URL', rule: anyText, otherwise: '' },
  /** The folder of the files that pages load; see infra/static-files.ts. */
  staticFiles: { variable: 'STATIC_FILES', rule: anyText, otherwise: undefined },
  /** How many times as long as on AWS storage may take, where it shares a busy machine. */
  storagePatience: { variable: 'STORAGE_PATIENCE', rule: integer(1, 10), otherwise: '1' },
} as const satisfies Readonly<Record<string, VariableSetting<unknown>>>;

/** All that lib reads. */
export const settings = { ...serviceSettings, ...runtimeSettings };

/** Given by the stack to the sealer alone: its bucket, and the id of its key in AWS KMS. */
export const sealerSettings = {
  auditArchiveBucket: { variable: 'AUDIT_ARCHIVE_BUCKET', rule: anyText, otherwise: undefined },
  auditSealKey: { variable: 'AUDIT_SEAL_KEY', rule: anyText, otherwise: undefined },
} as const satisfies Readonly<Record<string, VariableSetting<unknown>>>;

/** A variable by which a deployment hands a setting to functions. */
export type ServiceVariable = (typeof serviceSettings)[keyof typeof serviceSettings]['variable'];

/** The type of a setting's value. */
export type ValueOf<S extends Setting<unknown>> = NonNullable<ReturnType<S['rule']['parse']>>;

/** The values of {@link serviceSettings}. */
export type ServiceValues = {
  readonly [K in keyof typeof serviceSettings]: ValueOf<(typeof serviceSettings)[K]>;
};

/** Whether the service sends mails, and so has password reset. */
export const sendsMail = ({ mailFrom, resetUrl }: Pick<ServiceValues, 'mailFrom' | 'resetUrl'>) =>
  mailFrom !== '' && resetUrl !== '';
