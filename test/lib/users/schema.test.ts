import { describe, expect, it } from 'vitest';
import { parseCredentials } from '../../../lib/auth/credentials.ts';
import type { DomainError } from '../../../lib/errors.ts';
import {
  parseNameAndEmail,
  parseNameOrEmail,
  parseResetRequest,
} from '../../../lib/users/fields.ts';
import {
  parseEmail,
  parseName,
  parseNewUser,
  parseNewUserBy,
  parsePassword,
  parsePasswordReset,
  parseRole,
  parseUserChanges,
} from '../../../lib/users/schema.ts';
import { parseUserId, roles } from '../../../lib/users/user.ts';

const outcomeOf = (parse: () => unknown): unknown => {
  try {
    return parse();
  } catch (error) {
    const { code, message } = error as Error & { code: string };
    return code === 'FIELD_INVALID' ? message : code;
  }
};

const faultsOf = (parse: () => unknown): unknown => {
  try {
    return parse();
  } catch (error) {
    return (error as DomainError).faults;
  }
};

const astral = '😀';
const user = { name: 'Ada', email: 'ada@example.org', password: 'p' };

describe('parseName', () => {
  it.each([
    ['x', 'x'],
    ['x'.repeat(100), 'x'.repeat(100)],
    [astral.repeat(100), astral.repeat(100)],
    [` \t\n${'x'.repeat(100)}\u00a0`, 'x'.repeat(100)],
    ['Ada  King', 'Ada  King'],
    ['line\nbreak and \u0007', 'line\nbreak and \u0007'],
  ])('takes %j', (given, kept) => {
    expect(parseName(given)).toBe(kept);
  });

  it.each([
    ['x'.repeat(101), 'name must be at most 100 characters'],
    [astral.repeat(101), 'name must be at most 100 characters'],
    ['', 'name must not be empty'],
    [' \u2003\ufeff', 'name must not be empty'],
    ['\ud83d', 'name must be well-formed Unicode'],
    [`${astral}\ude00`, 'name must be well-formed Unicode'],
    [7, 'name must be a string'],
    [Object('boxed'), 'name must be a string'],
  ])('refuses %j', (given, message) => {
    expect(outcomeOf(() => parseName(given))).toBe(message);
  });
});

describe('parseEmail', () => {
  const of = (length: number, character = 'x') => `${character.repeat(length - 2)}@b`;

  it.each([
    ['a@b', 'a@b'],
    [of(191), of(191)],
    [of(191, astral), of(191, astral)],
    [` ${of(191)}\n`, of(191)],
    ['Ada.Lovelace+x@Example.ORG', 'Ada.Lovelace+x@Example.ORG'],
    ['ünï@ёxample', 'ünï@ёxample'],
    ['"quoted"@[192.0.2.1]', '"quoted"@[192.0.2.1]'],
  ])('takes %j', (given, kept) => {
    expect(parseEmail(given)).toBe(kept);
  });

  it.each([of(192), of(192, astral), 'x'.repeat(192)])('refuses %j, which is too long', (given) => {
    expect(outcomeOf(() => parseEmail(given))).toBe('email must be at most 191 characters');
  });

  const controls = Array.from({ length: 0xa0 }, (_, code) => code).filter(
    (code) => code < 0x20 || code >= 0x7f,
  );
  const spaces = [0x20, 0xa0, 0x1680, 0x2003, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff];

  it.each([...controls, ...spaces].map((code) => [code.toString(16), String.fromCodePoint(code)]))(
    'refuses U+%s inside',
    (_, character) => {
      for (const email of [`a${character}a@b`, `a@b${character}b`]) {
        expect(outcomeOf(() => parseEmail(email))).toBe('email must be a valid email address');
      }
    },
  );

  it.each([
    ['a@\ud800', 'email must be well-formed Unicode'],
    [7, 'email must be a string'],
    [['a@b'], 'email must be a string'],
    [{ S: 'a@b' }, 'email must be a string'],
  ])('refuses %j', (given, message) => {
    expect(outcomeOf(() => parseEmail(given))).toBe(message);
  });

  it.each(['', ' ', '@', 'a', 'a@', '@b', 'a@b@c', '@@', 'a@@b'])('refuses %j', (given) => {
    expect(outcomeOf(() => parseEmail(given))).toBe('email must be a valid email address');
  });
});

describe('parsePassword', () => {
  it.each(['x', ' ', '\0', 'x'.repeat(255), astral.repeat(255), ' as it is '])(
    'takes %j as it is',
    (given) => {
      expect(parsePassword(given)).toBe(given);
    },
  );

  it.each([
    ['', 'password must be at least 1 character'],
    ['x'.repeat(256), 'password must be at most 255 characters'],
    [astral.repeat(256), 'password must be at most 255 characters'],
    ['p\udc00', 'password must be well-formed Unicode'],
    [['p'], 'password must be a string'],
  ])('refuses %j', (given, message) => {
    expect(outcomeOf(() => parsePassword(given))).toBe(message);
  });
});

describe('parseNewUser', () => {
  it('returns its three fields, trimmed, and no others', () => {
    const body = { name: ' Ada ', email: ' a@b ', password: ' p ', role: 'admin', id: 1 };

    expect(parseNewUser(body)).toEqual({ name: 'Ada', email: 'a@b', password: ' p ' });
  });

  it.each([
    ...(['name', 'email', 'password'] as const).flatMap((field) => [
      { ...user, [field]: undefined },
      { ...user, [field]: null },
      { ...user, [field]: '' },
    ]),
    { ...user, name: ' ' },
    { ...user, email: '\t' },
    {},
    { name: 7, email: 'no address', password: '' },
    { Name: 'n', EMAIL: 'a@b', Password: 'p' },
  ])('reports a missing field in %j', (body) => {
    expect(outcomeOf(() => parseNewUser(body))).toBe('FIELDS_REQUIRED');
  });

  it.each([
    [{ ...user, name: 0 }, 'name must be a string'],
    [{ ...user, email: false }, 'email must be a string'],
    [{ ...user, password: 0 }, 'password must be a string'],
    [{ name: 1, email: 2, password: 3 }, 'name must be a string'],
  ])('does not take the wrong type in %j for a missing field', (body, message) => {
    expect(outcomeOf(() => parseNewUser(body))).toBe(message);
  });
});

describe('parseNewUserBy', () => {
  it.each([
    ['admin', 'user', 'user'],
    ['admin', 'admin', 'admin'],
    ['admin', undefined, 'user'],
    ['admin', null, 'user'],
    ['admin', 'root', 'role must be one of user, admin'],
    ...['', 'Admin', 1, true, ['admin'], { role: 'admin' }].map(
      (role) => ['admin', role, 'role must be one of user, admin'] as const,
    ),
    ['user', 'user', 'user'],
    ...['root', 1, ['admin'], null, undefined].map((role) => ['user', role, 'user'] as const),
    ['user', 'admin', 'FORBIDDEN'],
  ] as const)('gives a caller of role %s who asks for %j: %s', (caller, role, expected) => {
    const parsed = outcomeOf(() => parseNewUserBy(caller, { ...user, role }));

    expect(parsed).toEqual(
      roles.some((one) => one === expected) ? { ...user, role: expected } : expected,
    );
  });

  it.each(roles)('reports a missing field to a caller of role %s', (caller) => {
    expect(outcomeOf(() => parseNewUserBy(caller, { ...user, name: ' ' }))).toBe('FIELDS_REQUIRED');
  });

  it('reports an unknown role before a missing field', () => {
    expect(outcomeOf(() => parseNewUserBy('admin', { role: 'root' }))).toBe(
      'role must be one of user, admin',
    );
  });
});

describe('parseCredentials', () => {
  it('returns email and password as they were typed', () => {
    const body = { email: ' Ada@B ', password: ' p ', name: 'x' };

    expect(parseCredentials(body)).toEqual({ email: ' Ada@B ', password: ' p ' });
  });

  it.each([
    ...[undefined, null, '', '  ', 0, {}, ['a@b']].map((email) => ({ email, password: 'p' })),
    ...[undefined, null, '', 0, {}, ['p']].map((password) => ({ email: 'a@b', password })),
  ])('reports that a field is missing in %j', (body) => {
    expect(outcomeOf(() => parseCredentials(body))).toBe('CREDENTIALS_REQUIRED');
  });

  it('names the missing fields, and those that are not text', () => {
    const missing = (field: string) => ({ field, code: 'REQUIRED', rule: 'is required' });
    const noText = (field: string) => ({ field, code: 'WRONG_TYPE', rule: 'must be a string' });

    expect(faultsOf(() => parseCredentials({ email: ' ', password: '' }))).toEqual([
      missing('email'),
      missing('password'),
    ]);
    expect(faultsOf(() => parseCredentials({ email: 7, password: 7 }))).toEqual([
      noText('email'),
      noText('password'),
    ]);
  });
});

describe('parseUserChanges', () => {
  it.each([
    [{ name: ' n ' }, { name: 'n' }],
    [{ email: ' a@b ' }, { email: 'a@b' }],
    [{ password: ' p ' }, { password: ' p ' }],
    [{ name: 'n', id: 1, created_at: 'x' }, { name: 'n' }],
    [{ name: 'n', role: 'user' }, { name: 'n' }],
    [{ role: 'user' }, {}],
  ])('lets a user change %j', (body, changes) => {
    expect(parseUserChanges(body, 'user')).toEqual(changes);
  });

  it('lets an admin change the role as well', () => {
    expect(parseUserChanges({ role: 'user' }, 'admin')).toEqual({ role: 'user' });
    expect(parseUserChanges({ name: 'n' }, 'admin')).toStrictEqual({ name: 'n' });
    expect(parseUserChanges({ ...user, role: 'admin' }, 'admin')).toEqual({
      ...user,
      role: 'admin',
    });
  });

  it.each([
    [{}, 'NO_FIELDS_TO_UPDATE'],
    [{ id: 1 }, 'NO_FIELDS_TO_UPDATE'],
    [{ name: '' }, 'name must not be empty'],
    [{ name: null }, 'name must be a string'],
    [{ email: null }, 'email must be a string'],
    [{ email: '' }, 'email must be a valid email address'],
    [{ password: '' }, 'password must be at least 1 character'],
    [{ password: null }, 'password must be a string'],
    [{ created_at: 'x', Name: 'x' }, 'NO_FIELDS_TO_UPDATE'],
    [{ name: 'n', email: 'none' }, 'email must be a valid email address'],
    [{ role: 'admin' }, 'FORBIDDEN'],
    [{ role: null, name: 'n' }, 'role must be one of user, admin'],
    [{ role: 'root', name: '' }, 'FORBIDDEN'],
    [{ role: ['user'] }, 'FORBIDDEN'],
  ])('refuses %j of a user', (body, expected) => {
    expect(outcomeOf(() => parseUserChanges(body, 'user'))).toBe(expected);
  });

  it('reports an empty name by the code EMPTY', () => {
    expect(faultsOf(() => parseUserChanges({ name: ' ' }, 'user'))).toEqual([
      { field: 'name', code: 'EMPTY', rule: 'must not be empty' },
    ]);
  });

  it.each([null, '', 'root', 'Admin', 1, ['admin']])('refuses role %j of an admin', (role) => {
    expect(outcomeOf(() => parseUserChanges({ role }, 'admin'))).toBe(
      'role must be one of user, admin',
    );
  });
});

describe('parseNameAndEmail', () => {
  it.each([
    { name: ' n ', email: ' a@b\n' },
    { name: ' ', email: '\t' },
    { name: '\0', email: 'no address' },
    { name: astral.repeat(100), email: astral.repeat(191) },
  ])('returns both of %j as they were given', (body) => {
    expect(parseNameAndEmail({ ...body, password: 'p' })).toEqual(body);
  });

  it.each([
    {},
    { name: 'n' },
    { email: 'a@b' },
    { name: '', email: 'a@b' },
    { name: 'n', email: null },
  ])('reports that one of the two is missing in %j', (body) => {
    expect(outcomeOf(() => parseNameAndEmail(body))).toBe('NAME_AND_EMAIL_REQUIRED');
  });

  it('reports a missing email beside a blank name', () => {
    expect(faultsOf(() => parseNameAndEmail({ name: ' ' }))).toEqual([
      { field: 'email', code: 'REQUIRED', rule: 'is required' },
    ]);
  });

  it.each([
    [{ name: 1 }, 'name must be a string'],
    [{ email: ['a@b'] }, 'email must be a string'],
    [{ name: '\ud800' }, 'name must be well-formed Unicode'],
    [{ name: ` ${'x'.repeat(100)}` }, 'name must be at most 100 characters'],
    [{ email: astral.repeat(192) }, 'email must be at most 191 characters'],
  ])('refuses %j', (fields, message) => {
    expect(outcomeOf(() => parseNameAndEmail({ ...user, ...fields }))).toBe(message);
  });
});

describe('parseNameOrEmail', () => {
  it.each([
    [{}, {}],
    [{ name: '', email: null }, {}],
    [{ name: null, email: ' ' }, { email: ' ' }],
    [{ name: ' n ' }, { name: ' n ' }],
    [{ name: '', email: ' no address ' }, { email: ' no address ' }],
  ])('returns the fields of %j that are not empty', (body, supplied) => {
    expect(parseNameOrEmail(body)).toEqual(supplied);
  });

  it.each([
    [{ name: 0 }, 'name must be a string'],
    [{ email: 'x'.repeat(192) }, 'email must be at most 191 characters'],
  ])('refuses %j', (body, message) => {
    expect(outcomeOf(() => parseNameOrEmail(body))).toBe(message);
  });
});

describe('parseRole', () => {
  it.each([
    ['admin', 'admin'],
    ['user', 'user'],
    [undefined, 'user'],
    [null, 'user'],
    ['root', 'role must be one of user, admin'],
  ])('reads %j as %s', (given, expected) => {
    expect(outcomeOf(() => parseRole(given))).toBe(expected);
  });
});

describe('parsePasswordReset', () => {
  it('returns the token and the password as they were given', () => {
    const body = { token: '1.x', password: ' p ', email: 'a@b' };

    expect(parsePasswordReset(body)).toEqual({ token: '1.x', password: ' p ' });
  });

  it.each([
    {},
    { token: '1.x' },
    { password: 'p' },
    { token: '', password: 'p' },
    { token: '1.x', password: '' },
    { token: null, password: null },
  ])('reports that one of the two is missing in %j', (body) => {
    expect(outcomeOf(() => parsePasswordReset(body))).toBe('TOKEN_AND_PASSWORD_REQUIRED');
  });

  it.each([
    [{ token: 1, password: 'p' }, 'token must be a string'],
    [{ token: '1.x', password: 12345678 }, 'password must be a string'],
    [{ token: '1.x', password: 'x'.repeat(256) }, 'password must be at most 255 characters'],
    [{ token: '1.x', password: '\ud800' }, 'password must be well-formed Unicode'],
  ])('refuses %j', (body, message) => {
    expect(outcomeOf(() => parsePasswordReset(body))).toBe(message);
  });
});

describe('parseResetRequest', () => {
  it('returns the address without the white space around it', () => {
    expect(parseResetRequest({ email: ' a@b ' })).toEqual({ email: 'a@b' });
  });

  it.each([{}, { email: null }, { email: '' }, { email: '  ' }])(
    'reports that the address is missing in %j',
    (body) => {
      expect(outcomeOf(() => parseResetRequest(body))).toBe('EMAIL_REQUIRED');
    },
  );

  it.each([
    [1, 'email must be a string'],
    ['a@b\r\nBcc: c@d', 'email must be a valid email address'],
    ['a@b, c@d', 'email must be a valid email address'],
    [`${'a'.repeat(190)}@b`, 'email must be at most 191 characters'],
  ])('refuses %j', (email, message) => {
    expect(outcomeOf(() => parseResetRequest({ email }))).toBe(message);
  });
});

describe('parseUserId', () => {
  it.each([
    ['1', 1],
    ['10', 10],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('takes %s', (text, id) => {
    expect(parseUserId(text)).toBe(id);
  });

  it.each([
    undefined,
    '',
    '0',
    '00',
    '01',
    '-1',
    '+1',
    '1.5',
    '1.',
    '.5',
    '1e3',
    '0x10',
    '1_000',
    '9007199254740992',
    '9007199254740993',
    '10000000000000000',
    '99999999999999999999',
    ' 1',
    '1 ',
    '1\n',
    '١',
    '１',
    'NaN',
    'Infinity',
    '1,2',
    '1;2',
    'null',
    '0b1',
    '1'.repeat(500),
    'me',
    '[object Object]',
    '{id}',
    '*',
    '__proto__',
    'constructor',
    "1' OR '1'='1",
  ])('refuses %j as an id that no user has', (text) => {
    expect(outcomeOf(() => parseUserId(text))).toBe('USER_NOT_FOUND');
  });
});
