/** Bodies of the in-memory variant, whose users have no password. */
import * as v from 'valibot';
import { type Fields, isMissing, parseBody } from '../validation.ts';
import { email, name } from './fields.ts';

/** The body of POST and PUT under /api/v1/users. */
export const nameAndEmail = v.object({ name, email });

/** The body of PATCH under /api/v1/users. */
export const nameOrEmail = v.object({
  name: v.exactOptional(name),
  email: v.exactOptional(email),
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
export const parseNameOrEmail = (body: Fields): v.InferOutput<typeof nameOrEmail> =>
  parseBody(
    nameOrEmail,
    Object.fromEntries(Object.entries(body).filter(([field, value]) => !isMissing(field, value))),
  );
