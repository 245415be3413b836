/** The rules of every field that a client may send (functions/README.md, Input). */
import { config } from '../config.ts';
import { DomainError, invalidField } from '../errors.ts';
import { isUserId, type Role, roles } from './user.ts';

/** An object that a client sent, whatever is in it. */
export type Fields = Readonly<Record<string, unknown>>;

/** Characters (Unicode code points). */
const maxName = 100;
const maxEmail = 191;
const maxPassword = 255;

const characters = (text: string) => [...text].length;

const text = (name: string, value: unknown): string => {
  if (typeof value !== 'string') throw invalidField(name, 'must be a string');
  if (!value.isWellFormed()) throw invalidField(name, 'must be well-formed Unicode');
  return value;
};

const atMost = (name: string, value: string, maximum: number): string => {
  if (characters(value) > maximum)
    throw invalidField(name, `must be at most ${maximum} characters`);
  return value;
};

/** something@something, one @, neither white space nor a control character anywhere. */
const emailForm = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

/**
 * A user's name, trimmed: 1 to 100 characters.
 * @throws {DomainError} FIELD_INVALID naming the field and the rule
 */
export const parseName = (value: unknown): string => {
  const name = text('name', value).trim();
  if (name === '') throw invalidField('name', 'must not be empty');
  return atMost('name', name, maxName);
};

/**
 * An email address, trimmed: something@something, at most 191 characters.
 * @throws {DomainError} FIELD_INVALID naming the field and the rule
 */
export const parseEmail = (value: unknown): string => {
  const email = atMost('email', text('email', value).trim(), maxEmail);
  if (!emailForm.test(email)) throw invalidField('email', 'must be a valid email address');
  return email;
};

/**
 * A password as it was typed: from PASSWORD_MIN_LENGTH to 255 characters.
 * @throws {DomainError} FIELD_INVALID naming the field and the rule
 */
export const parsePassword = (value: unknown): string => {
  const password = atMost('password', text('password', value), maxPassword);
  const minimum = config.passwordMinLength;
  if (characters(password) < minimum) {
    throw invalidField(
      'password',
      `must be at least ${minimum} character${minimum > 1 ? 's' : ''}`,
    );
  }
  return password;
};

const parseRole = (value: unknown): Role => {
  const role = roles.find((candidate) => candidate === value);
  if (!role) throw invalidField('role', `must be one of ${roles.join(', ')}`);
  return role;
};

/** Own properties only: `constructor` and its like are never inherited from the prototype. */
const field = (body: Fields, name: string): unknown =>
  Object.hasOwn(body, name) ? body[name] : undefined;

const isMissing = (value: unknown) =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

export interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/**
 * The body of a registration, or of POST /api/users.
 * @throws {DomainError} FIELDS_REQUIRED, or FIELD_INVALID naming the field and the rule
 */
export const parseNewUser = (body: Fields): NewUser => {
  const [name, email, password] = ['name', 'email', 'password'].map((key) => field(body, key));
  if (isMissing(name) || isMissing(email) || password === '' || password == null) {
    throw new DomainError('FIELDS_REQUIRED');
  }
  return {
    name: parseName(name),
    email: parseEmail(email),
    password: parsePassword(password),
  };
};

/**
 * The role of a new user: what an admin asks for, otherwise `user`.
 * @throws {DomainError} FORBIDDEN when a non-admin asks for role admin; FIELD_INVALID
 */
export const parseNewRole = (body: Fields, caller: Role): Role => {
  const role = field(body, 'role');
  if (caller === 'admin') return role == null ? 'user' : parseRole(role);
  if (role === 'admin') throw new DomainError('FORBIDDEN');
  return 'user';
};

/** @throws {DomainError} CREDENTIALS_REQUIRED */
export const parseCredentials = (body: Fields): { email: string; password: string } => {
  const [email, password] = [field(body, 'email'), field(body, 'password')];
  if (typeof email !== 'string' || typeof password !== 'string' || isMissing(email) || !password) {
    throw new DomainError('CREDENTIALS_REQUIRED');
  }
  return { email, password };
};

export interface UserChanges {
  readonly name?: string;
  readonly email?: string;
  readonly password?: string;
  readonly role?: Role;
}

/**
 * The body of PUT /api/users/{id}: any subset of its fields. A caller that is no admin may send
 * its own role back, as it got it, which changes nothing, but not another one.
 * @throws {DomainError} FORBIDDEN, NO_FIELDS_TO_UPDATE, or FIELD_INVALID
 */
export const parseUserChanges = (body: Fields, caller: Role): UserChanges => {
  const role = field(body, 'role');
  if (caller !== 'admin' && role !== undefined && role !== caller) {
    throw new DomainError('FORBIDDEN');
  }
  const parsers = {
    name: parseName,
    email: parseEmail,
    password: parsePassword,
    role: parseRole,
  };
  const given = Object.entries(parsers).filter(([name]) => field(body, name) !== undefined);
  if (given.length === 0) throw new DomainError('NO_FIELDS_TO_UPDATE');
  const changes = given.filter(([name]) => name !== 'role' || caller === 'admin');
  return Object.fromEntries(changes.map(([name, parse]) => [name, parse(body[name])]));
};

type NameAndEmail = Pick<NewUser, 'name' | 'email'>;

/**
 * The body of POST and PUT under /api/v1/users.
 * @throws {DomainError} NAME_AND_EMAIL_REQUIRED or FIELD_INVALID
 */
export const parseNameAndEmail = (body: Fields): NameAndEmail => {
  const [name, email] = [field(body, 'name'), field(body, 'email')];
  if (isMissing(name) || isMissing(email)) throw new DomainError('NAME_AND_EMAIL_REQUIRED');
  return { name: parseName(name), email: parseEmail(email) };
};

/**
 * The body of PATCH under /api/v1/users: what is missing or empty is left out.
 * @throws {DomainError} FIELD_INVALID
 */
export const parseNameOrEmail = (body: Fields): Partial<NameAndEmail> => {
  const [name, email] = [field(body, 'name'), field(body, 'email')];
  return {
    ...(isMissing(name) ? {} : { name: parseName(name) }),
    ...(isMissing(email) ? {} : { email: parseEmail(email) }),
  };
};

/**
 * The id in a path.
 * @throws {DomainError} USER_NOT_FOUND for whatever is not a plain positive decimal number
 */
export const parseUserId = (text: string | undefined): number => {
  const id = /^[1-9]\d{0,15}$/.test(text ?? '') ? Number(text) : undefined;
  if (!isUserId(id)) throw new DomainError('USER_NOT_FOUND');
  return id;
};
