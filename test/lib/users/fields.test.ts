import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { configFrom } from '../../../lib/ground/settings.ts';
import { validateObject } from '../../../lib/ground/validation.ts';
import { nobodysEmail } from '../../../lib/users/address.ts';
import { credentials, parseField, textIfAny, wantedEmail } from '../../../lib/users/fields.ts';
import { parseUserId } from '../../../lib/users/user.ts';
import { documentFor } from '../../support/document.ts';

const outcomeOf = (parse: () => unknown): unknown => {
  try {
    return parse();
  } catch (error) {
    const { code, message } = error as Error & { code: string };
    return code === 'FIELD_INVALID' ? message : code;
  }
};

const astral = '😀';

/** The pattern in the document for a field of new users. */
const patternOf = (field: 'name' | 'email'): string => {
  const { components } = documentFor(configFrom({}), '/');
  const { NewUser } = components.schemas as Readonly<Record<string, unknown>>;
  const { properties } = NewUser as { properties: Record<'name' | 'email', { pattern: string }> };
  return properties[field].pattern;
};

describe('parseField of name', () => {
  it.each([
    ['x', 'x'],
    ['x'.repeat(100), 'x'.repeat(100)],
    [astral.repeat(100), astral.repeat(100)],
    [` \t\n${'x'.repeat(100)}\u00a0`, 'x'.repeat(100)],
    [`${' '.repeat(399)}x`, 'x'],
    ['Ada  King', 'Ada  King'],
    ['\u200bA\u3164', '\u200bA\u3164'],
    ['👩\u200d🚀', '👩\u200d🚀'],
    ['می\u200cخواهم', 'می\u200cخواهم'],
  ])('takes %j', (given, kept) => {
    expect(parseField('name', given)).toBe(kept);
  });

  it.each([
    ['x'.repeat(101), 'name must be at most 100 characters'],
    [astral.repeat(101), 'name must be at most 100 characters'],
    [`${' '.repeat(400)}x`, 'name must be at most 100 characters'],
    [' '.repeat(401), 'name must be at most 100 characters'],
    ['', 'name must not be empty'],
    [' \u2003\ufeff', 'name must not be empty'],
    ['\u200b', 'name must not be empty'],
    ['\u3164', 'name must not be empty'],
    ['\u2800\ufe0f \u{e0020}\u2066', 'name must not be empty'],
    ['line\nbreak', 'name must not have control characters'],
    ['a\u0000b', 'name must not have control characters'],
    ['a\u009b', 'name must not have control characters'],
    ['\ud83d', 'name must be well-formed Unicode'],
    [`${astral}\ude00`, 'name must be well-formed Unicode'],
    [7, 'name must be a string'],
    [Object('boxed'), 'name must be a string'],
  ])('refuses %j', (given, message) => {
    expect(outcomeOf(() => parseField('name', given))).toBe(message);
  });

  it.each([
    ['x'.repeat(101), 'TOO_LONG'],
    ['', 'EMPTY'],
    ['line\nbreak', 'INVALID_FORMAT'],
    ['\ud83d', 'NOT_WELL_FORMED'],
    [7, 'WRONG_TYPE'],
  ])('refuses %j with the code %s', (given, code) => {
    const fault = expect.objectContaining({ field: 'name', code });

    expect(() => parseField('name', given)).toThrow(expect.objectContaining({ faults: [fault] }));
  });
});

describe('parseField of email', () => {
  const of = (length: number, character = 'x') => `${character.repeat(length - 2)}@b`;

  it.each([
    ['a@b', 'a@b'],
    [of(191), of(191)],
    [of(191, astral), of(191, astral)],
    [` ${of(191)}\n`, of(191)],
    [`${' '.repeat(761)}a@b`, 'a@b'],
    ['Ada.Lovelace+x@Example.ORG', 'Ada.Lovelace+x@Example.ORG'],
    ['ünï@ёxample', 'ünï@ёxample'],
    ['zoe\u0308@bu\u0308cher.example', 'zoe\u0308@bu\u0308cher.example'],
    ['"quoted"@[192.0.2.1]', '"quoted"@[192.0.2.1]'],
    // Each of these characters takes twelve of the 2,000 bytes of a key.
    [`${'\u{1d160}'.repeat(166)}123456@b`, `${'\u{1d160}'.repeat(166)}123456@b`],
  ])('takes %j', (given, kept) => {
    expect(parseField('email', given)).toBe(kept);
  });

  it.each([of(192), of(192, astral), 'x'.repeat(192), `${' '.repeat(762)}a@b`])(
    'refuses %j because it is too long',
    (given) => {
      expect(outcomeOf(() => parseField('email', given))).toBe(
        'email must be at most 191 characters',
      );
    },
  );

  const controls = Array.from({ length: 0xa0 }, (_, code) => code).filter(
    (code) => code < 0x20 || code >= 0x7f,
  );
  const spaces = [0x20, 0xa0, 0x1680, 0x2003, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff];

  const formats = [0xad, 0x61c, 0x200b, 0x200d, 0x202e, 0x2060, 0x2066, 0xe0020];

  it.each(
    [...controls, ...spaces, ...formats].map((code) => [
      code.toString(16),
      String.fromCodePoint(code),
    ]),
  )('refuses an address with U+%s inside', (_, character) => {
    for (const email of [`a${character}a@b`, `a@b${character}b`]) {
      expect(outcomeOf(() => parseField('email', email))).toBe(
        'email must be a valid email address',
      );
    }
  });

  it.each([...'/\\?#%:[]^|<>'])(
    'refuses %j in a domain with characters beyond ASCII, and accepts it in other domains',
    (one) => {
      expect(outcomeOf(() => parseField('email', `a@ü${one}b`))).toBe(
        'email must be a valid email address',
      );
      expect(parseField('email', `a@u${one}b`)).toBe(`a@u${one}b`);
    },
  );

  it.each(['a@xn--ü', 'a@\u0301b', 'a@ü\uff0fb', `${'\u{1d160}'.repeat(166)}1234567@b`])(
    'refuses %j because no key can be stored for it',
    (given) => {
      expect(outcomeOf(() => parseField('email', given))).toBe(
        'email must be a valid email address',
      );
    },
  );

  it.each([
    ['a@\ud800', 'email must be well-formed Unicode'],
    [7, 'email must be a string'],
    [['a@b'], 'email must be a string'],
    [{ S: 'a@b' }, 'email must be a string'],
  ])('refuses %j', (given, message) => {
    expect(outcomeOf(() => parseField('email', given))).toBe(message);
  });

  it.each(['', ' ', '@', 'a', 'a@', '@b', 'a@b@c', '@@', 'a@@b'])('refuses %j', (given) => {
    expect(outcomeOf(() => parseField('email', given))).toBe('email must be a valid email address');
  });
});

describe('The pattern of a field in the document', () => {
  const units = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
    (unit) => unit.isWellFormed(),
  );
  const takes = (field: 'name' | 'email', text: string) =>
    outcomeOf(() => parseField(field, text)) === text.trim();

  it.each(['', 'u', 'v'])(
    'for a name agrees with the rule up to U+FFFF, as a regular expression with the flags %j',
    (flags) => {
      const pattern = new RegExp(patternOf('name'), flags);
      const texts = units.flatMap((unit) => [unit, `${unit}a`, `a${unit}a`]);

      expect(texts.filter((text) => pattern.test(text) !== takes('name', text))).toEqual([]);
    },
  );

  it.each(['', 'u', 'v'])(
    'for an address agrees with the rule up to U+FFFF, except some domains, with the flags %j',
    (flags) => {
      const pattern = new RegExp(patternOf('email'), flags);
      const locals = units.map((unit) => `a${unit}a@b`);
      const domains = units.flatMap((unit) => [`a@b${unit}b`, `a@ü${unit}b`]);

      expect(locals.filter((text) => pattern.test(text) !== takes('email', text))).toEqual([]);
      expect(domains.filter((text) => !pattern.test(text) && takes('email', text))).toEqual([]);
      const ascii = domains.filter((text) => /^.{3}\p{ASCII}/u.test(text));
      expect(ascii.filter((text) => pattern.test(text) !== takes('email', text))).toEqual([]);
    },
  );
});

describe('parseField of password', () => {
  it.each(['x', ' ', '\0', 'x'.repeat(255), astral.repeat(255), ' as it is '])(
    'takes %j as it is',
    (given) => {
      expect(parseField('password', given)).toBe(given);
    },
  );

  it.each([
    ['', 'password must be at least 1 character'],
    ['x'.repeat(256), 'password must be at most 255 characters'],
    [astral.repeat(256), 'password must be at most 255 characters'],
    ['p\udc00', 'password must be well-formed Unicode'],
    [['p'], 'password must be a string'],
  ])('refuses %j', (given, message) => {
    expect(outcomeOf(() => parseField('password', given))).toBe(message);
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

it('Credentials without an address and with a number as the password have a fault for each field', () => {
  const validated = validateObject(v.object(credentials()), { email: ' ', password: 7 });

  expect(validated).toEqual({
    faults: [
      { field: 'email', code: 'REQUIRED', rule: 'is required' },
      { field: 'password', code: 'WRONG_TYPE', rule: 'must be a string' },
    ],
  });
});

it('An address from 765 UTF-16 units on counts as an address that nobody has when it is looked up', () => {
  const [short, long] = [761, 762].map((spaces) => `${' '.repeat(spaces)}a@b`);
  const known = (email: unknown) =>
    validateObject(v.object(credentials()), { email, password: 'p' });
  const wanted = (email: unknown) => validateObject(v.object({ email: wantedEmail }), { email });

  expect(known(short)).toEqual({ output: { email: short, password: 'p' } });
  expect(known(long)).toEqual({ output: { email: nobodysEmail, password: 'p' } });
  expect(wanted(short)).toEqual({ output: { email: 'a@b' } });
  expect(wanted(long)).toEqual({ output: { email: nobodysEmail } });
});

describe('textIfAny', () => {
  it.each([
    [' p ', ' p '],
    ['', undefined],
    [7, undefined],
    [['p'], undefined],
    [null, undefined],
    [undefined, undefined],
  ])('turns %j into %j', (given, kept) => {
    expect(v.parse(textIfAny(), given)).toBe(kept);
  });
});
