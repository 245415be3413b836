/** Bodies of the in-memory variant, whose users have no password. */
import * as v from 'valibot';
import { type Fields, parseBody } from '../validation.ts';
import { anyEmail, anyName, email, name } from './fields.ts';

/** The body of POST and PUT under /api/v1/users. */
export const nameAndEmail = v.object({ name, email });

/** The body of PATCH under /api/v1/users. */
export const nameOrEmail = v.object({
  name: v.exactOptional(v.nullable(anyName)),
  email: v.exactOptional(v.nullable(anyEmail)),
});

/**
 * The body of POST and PUT under /api/v1/users.
 * @throws {DomainError} NAME_AND_EMAIL_REQUIRED or FIELD_INVALID
 */
export const parseNameAndEmail = (body: Fields): v.InferOutput<typeof nameAndEmail> =>
  parseBody(nameAndEmail, body, 'NAME_AND_EMAIL_REQUIRED');

/**
 * The body of PATCH under /api/v1/users: what is missing or empty is left out.
 * @throws {DomainError} FIELD_INVALID
 */
export const parseNameOrEmail = (body: Fields): Partial<v.InferOutput<typeof nameAndEmail>> => {
  const { name, email } = parseBody(nameOrEmail, body);
  return { ...(name ? { name } : {}), ...(email ? { email } : {}) };
};
