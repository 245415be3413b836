/** The bodies of the in-memory variant, whose users have no password. */
import * as v from 'valibot';
import { atLeast, atMost, type Fields, parseBody, text } from '../validation.ts';

const name = v.pipe(text, atMost(100), v.description('Kept as it was given.'));
const email = v.pipe(
  text,
  atMost(191),
  v.description('Kept as it was given; unique without regard to letter case.'),
);
const filled = atLeast(() => 1);

/** The body of POST and PUT under /api/v1/users. */
export const nameAndEmail = v.object({
  name: v.pipe(name, filled),
  email: v.pipe(email, filled),
});

/** The body of PATCH under /api/v1/users. */
export const nameOrEmail = v.object({
  name: v.exactOptional(v.nullable(name)),
  email: v.exactOptional(v.nullable(email)),
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
