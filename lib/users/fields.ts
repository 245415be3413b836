/**
 * The rules for a name and an email address (functions/README.md, Input), and bodies that depend on no
 * setting: they are apart from schema.ts, because a function has only the settings that its bundle
 * reads.
 */
import * as v from 'valibot';
import { atLeast, atMost, type Fields, parseBody, rule, text } from '../validation.ts';

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

const unique = 'Kept as it was given; unique without regard to letter case.';

/** something@something, with one @, and without white space and control characters. */
const emailForm = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

/** The same as a pattern without `\p{}`, which not every reader of JSON Schema supports. */
const emailPattern =
  '[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+@[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+';

export const email = v.pipe(
  text,
  v.trim(),
  atMost(191),
  v.description(`Without the white space around it. ${unique}`),
  rule({
    code: 'INVALID_FORMAT',
    message: () => 'must be a valid email address',
    holds: (value) => emailForm.test(value),
    keywords: () => ({ pattern: `^\\s*${emailPattern}\\s*$` }),
  }),
);

/** The body of POST /api/password-resets. */
export const resetRequest = v.object({ email });

/** @throws {DomainError} EMAIL_REQUIRED, or FIELD_INVALID */
export const parseResetRequest = (body: Fields): v.InferOutput<typeof resetRequest> =>
  parseBody(resetRequest, body, 'EMAIL_REQUIRED');

export const linkToken = v.pipe(
  text,
  atLeast(() => 1),
  v.description('The part of the mailed link after `#token=`.'),
);

/** The body of PUT /api/email-verifications. The password exists already, and follows no new rule. */
export const emailVerification = v.object({
  token: linkToken,
  password: v.pipe(
    text,
    atMost(255),
    atLeast(() => 1),
    v.description('The password of the account.'),
    v.metadata({ format: 'password' }),
  ),
});

/**
 * @throws {DomainError} TOKEN_AND_PASSWORD_REQUIRED, or FIELD_INVALID naming the field and the rule
 */
export const parseEmailVerification = (body: Fields): v.InferOutput<typeof emailVerification> =>
  parseBody(emailVerification, body, 'TOKEN_AND_PASSWORD_REQUIRED');

/** In the in-memory variant, whose users have no password, names and addresses are kept as given. */
const nameAsGiven = v.pipe(text, atMost(100), v.description('Kept as it was given.'));
const emailAsGiven = v.pipe(text, atMost(191), v.description(unique));
const filled = atLeast(() => 1);

/** The body of POST and PUT under /api/v1/users. */
export const nameAndEmail = v.object({
  name: v.pipe(nameAsGiven, filled),
  email: v.pipe(emailAsGiven, filled),
});

/** The body of PATCH under /api/v1/users. */
export const nameOrEmail = v.object({
  name: v.exactOptional(v.nullable(nameAsGiven)),
  email: v.exactOptional(v.nullable(emailAsGiven)),
});

/**
 * The body of POST and PUT under /api/v1/users.
 * @throws {DomainError} NAME_AND_EMAIL_REQUIRED or FIELD_INVALID
 */
export const parseNameAndEmail = (body: Fields): v.InferOutput<typeof nameAndEmail> =>
  parseBody(nameAndEmail, body, 'NAME_AND_EMAIL_REQUIRED');

/**
 * The body of PATCH under /api/v1/users, without fields that are missing or empty.
 * @throws {DomainError} FIELD_INVALID
 */
export const parseNameOrEmail = (body: Fields): Partial<v.InferOutput<typeof nameAndEmail>> => {
  const { name, email } = parseBody(nameOrEmail, body);
  return { ...(name ? { name } : {}), ...(email ? { email } : {}) };
};
