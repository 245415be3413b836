import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { parseEmail, parseName, parsePassword, textIfAny } from '../../../lib/users/fields.ts';
import { parseUserId } from '../../../lib/users/user.ts';

const outcomeOf = (parse: () => unknown): unknown => {
  try {
    return parse();
  } catch (error) {
    const { code, message } = error as Error & { code: string };
    return code === 'FIELD_INVALID' ? message : code;
  }
};

const astral = '😀';

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

describe('textIfAny', () => {
  it.each([
    [' p ', ' p '],
    ['', undefined],
    [7, undefined],
    [['p'], undefined],
    [null, undefined],
    [undefined, undefined],
  ])('makes of %j %j', (given, kept) => {
    expect(v.parse(textIfAny(), given)).toBe(kept);
  });
});
