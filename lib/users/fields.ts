/** The fields of users in bodies, each with its rule (functions/README.md, Input). */
import * as v from 'valibot';
import { type FieldFault, invalidField } from '../ground/errors.ts';
import {
  config,
  hasIdentities,
  hasSecondFactors,
  languages,
  type ServiceValues,
} from '../ground/settings.ts';
import {
  atLeast,
  atMost,
  described,
  fieldsIf,
  hasNoControls,
  isReadable,
  isVisible,
  type Keywords,
  oneOf,
  readable,
  rule,
  text,
  validate,
} from '../ground/validation.ts';
import { isAddress, isVerifiable, mailedAs, nobodysEmail, uniqueness } from './address.ts';
import { type GivenAttributes, longest, type Role, roles } from './user.ts';

/** Character ranges for patterns in the document: not every reader of JSON Schema supports `\p{}`. */
const controls = '\\u0000-\\u001f\\u007f-\\u009f';
/** Format characters up to U+FFFF; the service also refuses the format characters after U+FFFF. */
const formats =
  '\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb';
/** Other invisible characters, up to U+FFFF. */
const blanks =
  '\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180d\\u180f\\u2065\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0\\ufff0-\\ufff8';

export const name = shortText(longest.name);

const emailPart = `[^\\s@${controls}${formats}]+`;
/** A domain in ASCII, or any other domain without characters that have a meaning in URLs. */
const domainPart = `(?:[!-?A-~]+|[^\\s@#%\\/:<>?\\[\\]\\\\\\^\\|${controls}${formats}]+)`;

export const emailPattern = `^\\s*${emailPart}@${domainPart}\\s*$`;

export const email = v.pipe(
  text,
  readable(longest.email),
  v.trim(),
  atMost(longest.email),
  v.description(`Without the white space around it. ${uniqueness}`),
  rule({
    code: 'INVALID_FORMAT',
    message: () => 'must be a valid email address',
    holds: isAddress,
    keywords: () => ({ pattern: emailPattern }),
  }),
);

export const wantedEmail = nobodysIfUnreadable(email);

const verifiableRule = 'must be an address that mails can be sent to';

/** An address that a user will get: see {@link requireVerifiable}. */
export const newEmail = v.pipe(
  email,
  rule({
    code: 'INVALID_FORMAT',
    message: () => verifiableRule,
    // Text that is not an address breaks only the rule of `email`.
    holds: (value) => !isAddress(value) || isVerifiable(value),
  }),
);

export const password = v.pipe(
  text,
  atMost(longest.password),
  atLeast(() => config.passwordMinLength),
  v.metadata({ format: 'password' }),
);

export const role = oneOf(roles);

export interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly attributes?: GivenAttributes | undefined;
}

export type UserChanges = Partial<NewUser & { readonly role: Role; readonly auditor: boolean }>;

/** Requires the rule of {@link newEmail}. @throws {DomainError} FIELD_INVALID */
export function requireVerifiable(email: string): void {
  if (!isVerifiable(email)) throw invalidField('email', verifiableRule);
}

/** Requires an address that can get mail, even if addresses are not verified. @throws {DomainError} FIELD_INVALID */
export function requireMailable(email: string): void {
  if (mailedAs(email) === undefined) throw invalidField('email', verifiableRule);
}

/** Text of one line with at least one visible character. @param maximum characters */
// @__NO_SIDE_EFFECTS__
export function shortText(maximum: number) {
  return v.pipe(
    text,
    readable(maximum),
    v.trim(),
    atMost(maximum),
    v.description('Without the white space around it.'),
    rule({
      code: 'EMPTY',
      holds: isVisible,
      message: () => 'must not be empty',
      keywords: () => ({ minLength: 1 }),
    }),
    rule({
      code: 'INVALID_FORMAT',
      holds: hasNoControls,
      message: () => 'must not have control characters',
      keywords: () => ({
        pattern: `^\\s*[^${controls}]*[^\\s${controls}${formats}${blanks}][^${controls}]*\\s*$`,
      }),
    }),
  );
}

/** The language of a mail to somebody who is not the caller; absent: MAIL_LANGUAGE. */
export const mailLanguage = v.exactOptional(oneOf(languages));

export function linkToken() {
  return v.pipe(
    text,
    atLeast(() => 1),
    v.description('The part of the mailed link after `#token=`.'),
  );
}

export function userChanges() {
  return {
    name: v.exactOptional(name),
    email: v.exactOptional(email),
    password: v.exactOptional(password),
  };
}

export function confirmation(settings: ServiceValues) {
  const currentPassword = hasIdentities(settings) ? passwordIfAny() : knownPassword();
  return { currentPassword, ...idTokenIfAny(settings) };
}

/** The ID token by which users without a password confirm a request. */
export function idTokenIfAny(settings: ServiceValues) {
  return fieldsIf(hasIdentities(settings), {
    idToken: textIfAny({
      minLength: 1,
      description: 'Of users without a password; with its `nonce`.',
    }),
    nonce: textIfAny(),
  });
}

/** The code of a second factor. It is checked only if everything else is right. */
export function codeIfAny(settings: ServiceValues) {
  const description = 'Required of users who have a second factor: of the app, or a recovery code.';
  return fieldsIf(hasSecondFactors(settings), { code: textIfAny({ description }) });
}

export function passwordIfAny() {
  return textIfAny({ minLength: 1, format: 'password' });
}

/**
 * Text that only some requests need. An empty text, and a value that is not a text, count as absent.
 * @param keywords the keywords for the document: a minimum length of 1 unless an empty text has a meaning
 */
export function textIfAny({ description, ...keywords }: Keywords = { minLength: 1 }) {
  return v.optional(
    v.pipe(
      v.unknown(),
      v.transform((value) => (typeof value === 'string' && value !== '' ? value : undefined)),
      v.metadata({ type: 'string', ...keywords }),
      v.metadata({ description }),
    ),
  );
}

/** An existing password, to which the rules for new passwords do not apply. */
export function knownPassword() {
  return v.pipe(filledText(), v.metadata({ format: 'password' }));
}

export function filledText() {
  return v.pipe(
    v.string('must be a string'),
    atLeast(() => 1),
  );
}

export function credentials() {
  return { email: knownEmail(), password: knownPassword() };
}

export function code() {
  return described(
    filledText(),
    'Six digits from the app, or a recovery code. White space, dashes and case do not count.',
  );
}

/**
 * Parses a required field of a new user on its own, outside a body.
 * @throws {DomainError} FIELD_INVALID naming the field and the rule
 */
export function parseField(field: 'name' | 'email' | 'password', value: unknown): string {
  const schema = v.object({ [field]: { name, email, password }[field] });
  const validated = validate(schema, { [field]: value });
  if ('output' in validated) return validated.output[field] as string;
  const [{ rule, code }] = validated.faults as readonly [FieldFault];
  throw invalidField(field, rule, code);
}

/** A blank address counts as missing. */
function knownEmail() {
  return nobodysIfUnreadable(
    v.pipe(
      v.string('must be a string'),
      rule({
        code: 'REQUIRED',
        holds: (value) => value.trim() !== '',
        message: () => 'is required',
        keywords: () => ({ pattern: '\\S' }),
      }),
    ),
  );
}

/** Changes a schema of an address so that text that is too long to be processed becomes {@link nobodysEmail}. */
// @__NO_SIDE_EFFECTS__
function nobodysIfUnreadable<Schema extends v.GenericSchema<string>>(schema: Schema): Schema {
  return {
    ...schema,
    '~run': (dataset, settings) => {
      const { value } = dataset;
      const isTooLong = typeof value === 'string' && !isReadable(value, longest.email);
      return isTooLong ? { typed: true, value: nobodysEmail } : schema['~run'](dataset, settings);
    },
  };
}
