/** The fields of users in bodies, each with its rule (functions/README.md, Input). */
import * as v from 'valibot';
import { invalidField } from '../errors.ts';
import { config, hasIdentities } from '../settings.ts';
import { atLeast, atMost, oneOf, rule, text, validate } from '../validation.ts';
import { type Role, roles, uniqueness } from './user.ts';

export const name = v.pipe(
  text,
  v.trim(),
  atMost(100),
  v.description('Without the white space around it.'),
  rule({
    code: 'EMPTY',
    holds: (value) => value !== '',
    message: () => 'must not be empty',
    keywords: () => ({ minLength: 1, pattern: '\\S' }),
  }),
);

/** something@something, with one @, and without white space and control characters. */
const emailForm = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

/** The same as a pattern without `\p{}`, which not every reader of JSON Schema supports. */
const emailPattern =
  '[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+@[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+';

export const email = v.pipe(
  text,
  v.trim(),
  atMost(191),
  v.description(`Without the white space around it. ${uniqueness}`),
  rule({
    code: 'INVALID_FORMAT',
    message: () => 'must be a valid email address',
    holds: (value) => emailForm.test(value),
    keywords: () => ({ pattern: `^\\s*${emailPattern}\\s*$` }),
  }),
);

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
      'Six digits from the app, or a recovery code. Spaces, hyphens and case do not count.',
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
  throw invalidField(field, fault?.rule ?? 'is invalid');
};

/**
 * A user's name, trimmed: 1 to 100 characters.
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
