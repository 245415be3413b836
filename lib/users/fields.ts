/** The fields of users in bodies, each with its rule (functions/README.md, Input). */
import * as v from 'valibot';
import { invalidField } from '../ground/errors.ts';
import { config, hasIdentities } from '../ground/settings.ts';
import { atLeast, atMost, oneOf, rule, text, validate } from '../ground/validation.ts';
import { isAddress, isVerifiable, type Role, roles, uniqueness } from './user.ts';

/** Ranges of a pattern in the document: not every reader of JSON Schema supports `\p{}`. */
const controls = '\\u0000-\\u001f\\u007f-\\u009f';
/** Format characters, up to U+FFFF; the service refuses those beyond too. */
const formats =
  '\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb';
/** Other characters that show nothing, up to U+FFFF. */
const blanks =
  '\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180d\\u180f\\u2065\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0\\ufff0-\\ufff8';

/** White space, and all that shows nothing. The blank pattern of Braille is a letter to Unicode. */
const invisible = /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

export const name = v.pipe(
  text,
  v.trim(),
  atMost(100),
  v.description('Without the white space around it.'),
  rule({
    code: 'EMPTY',
    holds: (value) => !invisible.test(value),
    message: () => 'must not be empty',
    keywords: () => ({ minLength: 1 }),
  }),
  rule({
    code: 'INVALID_FORMAT',
    holds: (value) => !/\p{Cc}/u.test(value),
    message: () => 'must not have control characters',
    keywords: () => ({
      pattern: `^\\s*[^${controls}]*[^\\s${controls}${formats}${blanks}][^${controls}]*\\s*$`,
    }),
  }),
);

const emailPart = `[^\\s@${controls}${formats}]+`;
/** A domain in ASCII, or one beyond without characters that have a meaning in URLs. */
const domainPart = `(?:[!-?A-~]+|[^\\s@#%\\/:<>?\\[\\]\\\\\\^\\|${controls}${formats}]+)`;

/** An address, with white space around it. */
export const emailPattern = `^\\s*${emailPart}@${domainPart}\\s*$`;

export const email = v.pipe(
  text,
  v.trim(),
  atMost(191),
  v.description(`Without the white space around it. ${uniqueness}`),
  rule({
    code: 'INVALID_FORMAT',
    message: () => 'must be a valid email address',
    holds: isAddress,
    keywords: () => ({ pattern: emailPattern }),
  }),
);

const verifiableRule = 'must be an address that mails can be sent to';

/** An address that somebody gets, and does not have already: see {@link requireVerifiable}. */
export const newEmail = v.pipe(
  email,
  rule({
    code: 'INVALID_FORMAT',
    message: () => verifiableRule,
    // What is no address breaks one rule.
    holds: (value) => !isAddress(value) || isVerifiable(value),
  }),
);

/**
 * Requires of a user's new address what {@link newEmail} does: where addresses are verified, that the
 * service can ever send a mail to it.
 * @throws {DomainError} FIELD_INVALID
 */
export const requireVerifiable = (email: string): void => {
  if (!isVerifiable(email)) throw invalidField('email', verifiableRule);
};

export const password = v.pipe(
  text,
  atMost(255),
  atLeast(() => config.passwordMinLength),
  v.metadata({ format: 'password' }),
);

export const role = oneOf(roles);

export const linkToken = () =>
  v.pipe(
    text,
    atLeast(() => 1),
    v.description('The part of the mailed link after `#token=`.'),
  );

/** The fields of a change of a user. */
export const userChanges = () => ({
  name: v.exactOptional(name),
  email: v.exactOptional(email),
  password: v.exactOptional(password),
});

export const filledText = () =>
  v.pipe(
    v.string('must be a string'),
    atLeast(() => 1),
  );

/** A password that exists already, and follows no new rule. */
export const knownPassword = () => v.pipe(filledText(), v.metadata({ format: 'password' }));

/** By what users confirm what they ask for: who has no password, by an ID token. */
export const confirmation = () => ({
  currentPassword: hasIdentities(config) ? textIfAny() : knownPassword(),
  idToken: textIfAny(),
  nonce: textIfAny(),
});

/** A blank address is missing. */
const knownEmail = () =>
  v.pipe(
    v.string('must be a string'),
    rule({
      code: 'REQUIRED',
      holds: (value) => value.trim() !== '',
      message: () => 'is required',
      keywords: () => ({ pattern: '\\S' }),
    }),
  );

export const credentials = () => ({ email: knownEmail(), password: knownPassword() });

export const code = () =>
  v.pipe(
    filledText(),
    v.description(
      'Six digits from the app, or a recovery code. White space, dashes and case do not count.',
    ),
  );

/** Text that only some requests need. An empty one counts as none, and so does what is no text. */
export const textIfAny = () =>
  v.optional(
    v.pipe(
      v.unknown(),
      v.transform((value) => (typeof value === 'string' && value !== '' ? value : undefined)),
    ),
  );

/** For the document, where an empty code counts as none. */
export const optionalCode = () =>
  v.exactOptional(
    v.pipe(
      v.string(),
      v.description('Required of users who have a second factor: of the app, or a recovery code.'),
    ),
  );

export interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

export type UserChanges = Partial<NewUser & { readonly role: Role }>;

/** Parses one field by itself, which is not missing. */
const parseField = <Field extends v.GenericSchema>(
  field: string,
  schema: Field,
  value: unknown,
): v.InferOutput<Field> => {
  const validated = validate(v.object({ [field]: schema }), { [field]: value });
  if ('output' in validated) return validated.output[field] as v.InferOutput<Field>;
  const [fault] = validated.faults;
  throw invalidField(field, fault?.rule ?? 'is invalid', fault?.code);
};

/**
 * A user's name, trimmed: 1 to 100 characters, of which one can be seen and none is a control character.
 * @throws {DomainError} FIELD_INVALID naming the field and the rule
 */
export const parseName = (value: unknown): string => parseField('name', name, value);

/**
 * An email address, trimmed: something@something, at most 191 characters.
 * @throws {DomainError} FIELD_INVALID naming the field and the rule
 */
export const parseEmail = (value: unknown): string => parseField('email', email, value);

/**
 * A password as it was typed: from PASSWORD_MIN_LENGTH to 255 characters.
 * @throws {DomainError} FIELD_INVALID naming the field and the rule
 */
export const parsePassword = (value: unknown): string => parseField('password', password, value);
