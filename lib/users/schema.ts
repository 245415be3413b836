/** The bodies that a client may send (functions/README.md, Input), each field with its rules. */
import * as v from 'valibot';
import { config } from '../config.ts';
import { DomainError, type ErrorCode, type FieldFault, invalidField } from '../errors.ts';
import { atLeast, atMost, hold, oneOf, rule, text } from '../validation.ts';
import { type Role, roles } from './role.ts';

/** An object that a client sent, whatever is in it. */
export type Fields = Readonly<Record<string, unknown>>;

const name = v.pipe(
  text,
  v.trim(),
  rule({
    code: 'EMPTY',
    holds: (value) => value !== '',
    message: () => 'must not be empty',
    keywords: () => ({ minLength: 1, pattern: '\\S' }),
  }),
  atMost(100),
  v.description('Without the white space around it.'),
);

/** something@something, one @, neither white space nor a control character anywhere. */
const emailForm = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

const email = v.pipe(
  text,
  v.trim(),
  atMost(191),
  rule({
    code: 'INVALID_FORMAT',
    holds: (value) => emailForm.test(value),
    message: () => 'must be a valid email address',
    keywords: () => ({
      pattern:
        '^\\s*[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+@[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+\\s*$',
    }),
  }),
  v.description(
    'Without the white space around it. Kept as it was given; unique without regard to letter case.',
  ),
);

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
    v.description('Only an admin may ask for `admin`; of others `user` is all that counts.'),
  ),
  name,
  email,
  password,
});

const filled = rule({
  code: 'REQUIRED',
  holds: (value) => value.trim() !== '',
  message: () => 'is required',
  keywords: () => ({ pattern: '\\S' }),
});

/** The body of a login. */
export const credentials = v.object({
  email: v.pipe(v.string('must be a string'), filled),
  password: v.pipe(
    v.string('must be a string'),
    atLeast(() => 1),
    v.metadata({ format: 'password' }),
  ),
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

/** The body of POST and PUT under /api/v1/users. */
export const nameAndEmail = v.object({ name, email });

/** The body of PATCH under /api/v1/users. */
export const nameOrEmail = v.object({
  name: v.exactOptional(name),
  email: v.exactOptional(email),
});

/** Of a password, white space counts. */
const isMissing = (field: string, value: unknown) =>
  value == null ||
  (typeof value === 'string' && (field === 'password' ? value : value.trim()) === '');

type BodySchema = v.ObjectSchema<v.ObjectEntries, undefined>;

const isRequired = ({ type }: v.ObjectEntries[string]) => !/optional|nullish/.test(type);

/** Whether a field that must be there is missing, null or empty. */
const lacks = ({ entries }: BodySchema, field: string, body: Fields) =>
  isRequired(entries[field] as v.ObjectEntries[string]) && isMissing(field, body[field]);

/** All faults of a body, in the order of its schema. */
const faultsIn = (schema: BodySchema, body: Fields, found: readonly FieldFault[]) =>
  Object.keys(schema.entries).flatMap((field): readonly FieldFault[] =>
    lacks(schema, field, body)
      ? [{ field, code: 'REQUIRED', rule: 'is required' }]
      : found.filter((fault) => fault.field === field),
  );

/**
 * A body in the form of its schema.
 * @param whenMissing the error's code when a field is missing, null or empty
 * @throws {DomainError} that code or FIELD_INVALID, with all faults
 */
const parse = <Schema extends BodySchema>(
  schema: Schema,
  body: Fields,
  whenMissing: ErrorCode = 'FIELD_INVALID',
): v.InferOutput<Schema> => {
  const held = hold(schema, body);
  if ('output' in held) return held.output;
  const faults = faultsIn(schema, body, held.faults);
  const [first] = faults;
  // A role that nobody has is told before a field that is missing.
  const tellsMissing = first?.field !== 'role' && faults.some(({ code }) => code === 'REQUIRED');
  if (tellsMissing) throw new DomainError(whenMissing, { faults });
  throw new DomainError('FIELD_INVALID', { message: `${first?.field} ${first?.rule}`, faults });
};

/** One field by itself, which is not missing but breaks a rule. */
const parseField = <Field extends v.GenericSchema>(
  field: string,
  schema: Field,
  value: unknown,
): v.InferOutput<Field> => {
  const held = hold(v.object({ [field]: schema }), { [field]: value });
  if ('output' in held) return held.output[field] as v.InferOutput<Field>;
  const [fault] = held.faults;
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
export const parseNewUser = (body: Fields): NewUser => parse(newUser, body, 'FIELDS_REQUIRED');

/**
 * The body of POST /api/users: the role is what an admin asks for, otherwise `user`.
 * @throws {DomainError} FORBIDDEN when a non-admin asks for role admin; else as for a registration
 */
export const parseNewUserBy = (caller: Role, body: Fields): NewUser & { readonly role: Role } => {
  if (caller === 'admin') {
    const user = parse(newUserByAdmin, body, 'FIELDS_REQUIRED');
    return { ...user, role: user.role ?? 'user' };
  }
  if (body.role === 'admin') throw new DomainError('FORBIDDEN');
  return { ...parseNewUser(body), role: 'user' };
};

/** @throws {DomainError} CREDENTIALS_REQUIRED */
export const parseCredentials = (body: Fields): v.InferOutput<typeof credentials> => {
  const held = hold(credentials, body);
  if ('output' in held) return held.output;
  const faults = faultsIn(credentials, body, held.faults);
  throw new DomainError('CREDENTIALS_REQUIRED', { faults });
};

export type UserChanges = v.InferOutput<typeof userChanges>;

/**
 * The body of PUT /api/users/{id}: any subset of its fields. A caller that is no admin may send
 * its own role back, as it got it, which changes nothing, but not another one.
 * @throws {DomainError} FORBIDDEN, NO_FIELDS_TO_UPDATE, or FIELD_INVALID
 */
export const parseUserChanges = (body: Fields, caller: Role): UserChanges => {
  if (caller !== 'admin' && body.role !== undefined && body.role !== caller) {
    throw new DomainError('FORBIDDEN');
  }
  if (!Object.keys(userChanges.entries).some((field) => body[field] !== undefined)) {
    throw new DomainError('NO_FIELDS_TO_UPDATE');
  }
  const { role, ...changes } = parse(userChanges, body);
  return caller === 'admin' && role !== undefined ? { ...changes, role } : changes;
};

/**
 * The body of POST and PUT under /api/v1/users.
 * @throws {DomainError} NAME_AND_EMAIL_REQUIRED or FIELD_INVALID
 */
export const parseNameAndEmail = (body: Fields): v.InferOutput<typeof nameAndEmail> =>
  parse(nameAndEmail, body, 'NAME_AND_EMAIL_REQUIRED');

/**
 * The body of PATCH under /api/v1/users: what is missing or empty is left out.
 * @throws {DomainError} FIELD_INVALID
 */
export const parseNameOrEmail = (body: Fields): v.InferOutput<typeof nameOrEmail> =>
  parse(
    nameOrEmail,
    Object.fromEntries(Object.entries(body).filter(([field, value]) => !isMissing(field, value))),
  );
