import { describe, expect, it } from 'vitest';
import * as auth from '../../functions/auth/contract.ts';
import * as resets from '../../functions/password-resets/contract.ts';
import * as users from '../../functions/users/contract.ts';
import * as v1 from '../../functions/v1-users/contract.ts';
import type { Contract } from '../../lib/contract/contract.ts';
import type { DomainError } from '../../lib/ground/errors.ts';
import { checkBody } from '../../lib/http/endpoint.ts';
import { type Role, roles } from '../../lib/users/user.ts';

type Body = Readonly<Record<string, unknown>>;

const check = (contract: Contract, body: Body, role: Role = 'user') =>
  checkBody(contract, body, { claims: { id: 1, role } } as never);

const errorOf = (contract: Contract, body: Body, role?: Role): DomainError => {
  try {
    throw new Error(`It was taken: ${JSON.stringify(check(contract, body, role))}`);
  } catch (error) {
    return error as DomainError;
  }
};

/** The message of a field that breaks a rule, or the code of another error. */
const refusalOf = (contract: Contract, body: Body, role?: Role): string => {
  const { code, message } = errorOf(contract, body, role);
  return !code || code === 'FIELD_INVALID' ? message : code;
};

const astral = '😀';
const user = { name: 'Ada', email: 'ada@example.org', password: 'p' };
const token = { token: '1.x', password: 'p' };
const unknownRole = 'role must be one of user, admin';

describe('A body is converted to the form of its contract', () => {
  it.each<[Contract, Body, Body]>([
    [
      auth.register,
      { name: ' Ada ', email: ' a@b ', password: ' p ', role: 'admin', id: 1 },
      { name: 'Ada', email: 'a@b', password: ' p ' },
    ],
    [
      auth.login,
      { email: ' Ada@B ', password: ' p ', name: 'x' },
      { email: ' Ada@B ', password: ' p ' },
    ],
    [auth.login, { email: 'a', password: 'p', code: 7 }, { email: 'a', password: 'p' }],
    [resets.request, { email: ' a@b ' }, { email: 'a@b' }],
    [resets.set, { ...token, password: ' p ', email: 'a@b' }, { ...token, password: ' p ' }],
    [users.update, { name: ' n ' }, { name: 'n' }],
    [users.update, { email: ' a@b ' }, { email: 'a@b' }],
    [users.update, { password: ' p ' }, { password: ' p ' }],
    [users.update, { name: 'n', id: 1, created_at: 'x' }, { name: 'n' }],
    [users.update, { name: 'n', role: 'user' }, { name: 'n' }],
    [users.update, { role: 'user' }, {}],
    [users.update, { name: 'n', currentPassword: 7 }, { name: 'n' }],
    [v1.create, { name: ' n ', email: ' a@b\n', id: 1 }, { name: ' n ', email: ' a@b\n' }],
    [v1.create, { name: ' ', email: '\t' }, { name: ' ', email: '\t' }],
    [v1.create, { name: '\0', email: 'no address' }, { name: '\0', email: 'no address' }],
    [v1.change, {}, {}],
    [v1.change, { name: '', email: null }, {}],
    [v1.change, { name: null, email: ' ' }, { email: ' ' }],
    [v1.change, { name: ' n ' }, { name: ' n ' }],
  ])('of $route: %j', (contract, body, expected) => {
    expect(check(contract, body)).toStrictEqual(expected);
  });

  it.each([
    [{ role: 'user' }, { role: 'user' }],
    [{ name: 'n' }, { name: 'n' }],
    [
      { ...user, role: 'admin' },
      { ...user, role: 'admin' },
    ],
  ])('of PUT /api/users/{id} with the role, for an admin: %j', (body, expected) => {
    expect(check(users.update, body, 'admin')).toStrictEqual(expected);
  });

  it.each([
    ['admin', 'user', 'user'],
    ['admin', 'admin', 'admin'],
    ['admin', undefined, undefined],
    ['admin', null, null],
    ...['user', 'root', 1, ['admin'], null].map((role) => ['user', role, undefined] as const),
  ] as const)(
    'of POST /api/users by a caller with the role %s: the role %j becomes %j',
    (caller, role, expected) => {
      expect(check(users.create, { ...user, role }, caller)).toEqual({ ...user, role: expected });
    },
  );
});

describe('A body is refused', () => {
  const without = (body: Body) =>
    Object.keys(body).flatMap((field) =>
      [undefined, null, ''].map((none) => ({ ...body, [field]: none })),
    );
  const each = (contract: Contract, code: string, bodies: readonly Body[]) =>
    bodies.map((body): [Contract, Body, string] => [contract, body, code]);

  // biome-ignore format: a table
  it.each<[Contract, Body, string]>([
    ...each(auth.register, 'FIELDS_REQUIRED', [
      ...without(user),
      { ...user, name: ' ' },
      { ...user, name: '\u200b\u3164' },
      { ...user, email: '\t' },
      {},
      { name: 7, email: 'no address', password: '' },
      { Name: 'n', EMAIL: 'a@b', Password: 'p' },
    ]),
    [auth.register, { ...user, name: 0 }, 'name must be a string'],
    [auth.register, { ...user, email: false }, 'email must be a string'],
    [auth.register, { ...user, password: 0 }, 'password must be a string'],
    [auth.register, { name: 1, email: 2, password: 3 }, 'name must be a string'],
    ...each(auth.login, 'CREDENTIALS_REQUIRED', [
      ...without({ email: 'a@b', password: 'p' }),
      ...['  ', 0, {}, ['a@b']].map((email) => ({ email, password: 'p' })),
      ...[0, {}, ['p']].map((password) => ({ email: 'a@b', password })),
    ]),
    ...each(auth.refresh, 'REFRESH_TOKEN_REQUIRED', [
      ...without({ refreshToken: 'x' }),
      ...[7, {}, ['x']].map((refreshToken) => ({ refreshToken })),
    ]),
    ...each(resets.request, 'EMAIL_REQUIRED', [...without({ email: 'a@b' }), { email: '  ' }]),
    [resets.request, { email: 1 }, 'email must be a string'],
    [resets.request, { email: 'a@b\r\nBcc: c@d' }, 'email must be a valid email address'],
    [resets.request, { email: 'a@b, c@d' }, 'email must be a valid email address'],
    ...each(resets.set, 'TOKEN_AND_PASSWORD_REQUIRED', [...without(token), {}]),
    [resets.set, { ...token, token: 1 }, 'token must be a string'],
    [resets.set, { ...token, password: 12345678 }, 'password must be a string'],
    [resets.set, { ...token, password: 'x'.repeat(256) }, 'password must be at most 255 characters'],
    [resets.set, { ...token, password: '\ud800' }, 'password must be well-formed Unicode'],
    ...each(users.update, 'NO_FIELDS_TO_UPDATE', [{}, { id: 1 }, { created_at: 'x', Name: 'x' }, { currentPassword: 'p' }]),
    [users.update, { name: '' }, 'name must not be empty'],
    [users.update, { name: null }, 'name must be a string'],
    [users.update, { email: null }, 'email must be a string'],
    [users.update, { email: '' }, 'email must be a valid email address'],
    [users.update, { password: '' }, 'password must be at least 1 character'],
    [users.update, { password: null }, 'password must be a string'],
    [users.update, { name: 'n', email: 'none' }, 'email must be a valid email address'],
    [users.update, { role: null, name: 'n' }, unknownRole],
    ...each(v1.create, 'NAME_AND_EMAIL_REQUIRED', without({ name: 'n', email: 'a@b' })),
    [v1.create, { ...user, name: 1 }, 'name must be a string'],
    [v1.create, { ...user, email: ['a@b'] }, 'email must be a string'],
    [v1.create, { ...user, name: '\ud800' }, 'name must be well-formed Unicode'],
    [v1.create, { ...user, name: ` ${'x'.repeat(100)}` }, 'name must be at most 100 characters'],
    [v1.create, { ...user, email: astral.repeat(192) }, 'email must be at most 191 characters'],
    [v1.change, { name: 0 }, 'name must be a string'],
    [v1.change, { email: 'x'.repeat(192) }, 'email must be at most 191 characters'],
  ])('of $route: %j', (contract, body, expected) => {
    expect(refusalOf(contract, body)).toBe(expected);
  });

  it.each(['', 'root', 'Admin', 1, true, ['admin'], { role: 'admin' }])(
    'of an admin with the role %j, even before a missing field is reported',
    (role) => {
      expect(refusalOf(users.create, { ...user, role }, 'admin')).toBe(unknownRole);
      expect(refusalOf(users.create, { role }, 'admin')).toBe(unknownRole);
      expect(refusalOf(users.update, { role }, 'admin')).toBe(unknownRole);
    },
  );

  it.each(roles)('of POST /api/users without a name, by a caller with the role %s', (role) => {
    expect(refusalOf(users.create, { ...user, name: ' ' }, role)).toBe('FIELDS_REQUIRED');
  });

  // biome-ignore format: a table
  it.each<[Contract, Body, string]>([
    [auth.login, { email: ' ', password: '' }, 'email REQUIRED, password REQUIRED'],
    [auth.login, { email: 7, password: 7 }, 'email WRONG_TYPE, password WRONG_TYPE'],
    [auth.register, { name: 'n', password: 'p', email: 'x'.repeat(192) }, 'email TOO_LONG, email INVALID_FORMAT'],
    [users.create, { role: 'root' }, 'role UNKNOWN_VALUE, name REQUIRED, email REQUIRED, password REQUIRED'],
    [users.update, { name: ' ', email: null, role: '' }, 'name EMPTY, email WRONG_TYPE, role UNKNOWN_VALUE'],
    [v1.create, { name: '\ud800' }, 'name NOT_WELL_FORMED, email REQUIRED'],
    [v1.create, { name: ' ' }, 'email REQUIRED'],
    [v1.change, { name: 1, email: 'x'.repeat(192) }, 'name WRONG_TYPE, email TOO_LONG'],
  ])(
    'of $route for an admin with all its faults, in the order of the fields: %j',
    (contract, body, told) => {
      const { faults } = errorOf(contract, body, 'admin');

      expect(faults.map(({ field, code }) => `${field} ${code}`).join(', ')).toBe(told);
    },
  );
});
