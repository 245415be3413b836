/** The bodies of requests about users, each field with its rules (functions/README.md, Input). */
import * as v from 'valibot';
import { DomainError, invalidField } from '../errors.ts';
import { config } from '../settings.ts';
import { atLeast, atMost, type Fields, oneOf, parseBody, text, validate } from '../validation.ts';
import { email, linkToken, name } from './fields.ts';
import { type Role, roles } from './user.ts';

const password = v.pipe(
  text,
  atMost(255),
  atLeast(() => config.passwordMinLength),
  v.metadata({ format: 'password' }),
);

const role = oneOf(roles);

/** The body of a registration. */
export const newUser = v.object({ name, email, password });

/** The body of POST /api/users. */
export const newUserByAdmin = v.object({
  role: v.pipe(
    v.nullish(role),
    v.description('Only admins may ask for `admin`; other callers always make a `user`.'),
  ),
  name,
  email,
  password,
});

/** The body of PUT /api/users/{id}. */
export const userChanges = v.pipe(
  v.object({
    name: v.exactOptional(name),
    email: v.exactOptional(email),
    password: v.exactOptional(password),
    role: v.exactOptional(
      v.pipe(role, v.description('Changed by admins only; others may send their own back.')),
    ),
  }),
  v.metadata({ minProperties: 1 }),
);

/** The body of PUT /api/password-resets. */
export const passwordReset = v.object({ token: linkToken, password });

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

/**
 * The role of a new user, `user` unless it is given.
 * @throws {DomainError} FIELD_INVALID naming the field and the rule
 */
export const parseRole = (value: unknown): Role =>
  parseField('role', newUserByAdmin.entries.role, value) ?? 'user';

export type NewUser = v.InferOutput<typeof newUser>;

/**
 * The body of a registration.
 * @throws {DomainError} FIELDS_REQUIRED, or FIELD_INVALID naming the field and the rule
 */
export const parseNewUser = (body: Fields): NewUser => parseBody(newUser, body, 'FIELDS_REQUIRED');

/**
 * The body of POST /api/users: the role is what an admin asks for, otherwise `user`.
 * @throws {DomainError} FORBIDDEN when a caller who is not an admin asks for the role admin; the
 *   errors of {@link parseNewUser}
 */
export const parseNewUserBy = (caller: Role, body: Fields): NewUser & { readonly role: Role } => {
  if (caller === 'admin') {
    const user = parseBody(newUserByAdmin, body, 'FIELDS_REQUIRED');
    return { ...user, role: user.role ?? 'user' };
  }
  if (body.role === 'admin') throw new DomainError('FORBIDDEN');
  return { ...parseNewUser(body), role: 'user' };
};

export type UserChanges = v.InferOutput<typeof userChanges>;

/**
 * The body of PUT /api/users/{id}: any subset of its fields. A caller who is not an admin may send
 * the role `user` back, which the user has who is changed, but no other role.
 * @throws {DomainError} FORBIDDEN, NO_FIELDS_TO_UPDATE, or FIELD_INVALID
 */
export const parseUserChanges = (body: Fields, caller: Role): UserChanges => {
  if (caller !== 'admin' && (body.role ?? 'user') !== 'user') {
    throw new DomainError('FORBIDDEN');
  }
  if (!Object.keys(userChanges.entries).some((field) => body[field] !== undefined)) {
    throw new DomainError('NO_FIELDS_TO_UPDATE');
  }
  const { role, ...changes } = parseBody(userChanges, body);
  return caller === 'admin' && role !== undefined ? { ...changes, role } : changes;
};

/**
 * @throws {DomainError} TOKEN_AND_PASSWORD_REQUIRED, or FIELD_INVALID naming the field and the rule
 */
export const parsePasswordReset = (body: Fields): v.InferOutput<typeof passwordReset> =>
  parseBody(passwordReset, body, 'TOKEN_AND_PASSWORD_REQUIRED');
