import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { configFrom } from '../../../lib/ground/settings.ts';
import { emailKey, mailedAs } from '../../../lib/users/address.ts';
import { isUserId, statusesUnder } from '../../../lib/users/user.ts';
import { counted, holds } from '../../support/runs.ts';

const characters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));

/** Every character that has another letter case. */
const letters = characters.filter(
  (character) => character.toLowerCase() !== character.toUpperCase(),
);

/**
 * These letters, and every character that has an equivalent spelling by other characters, or that combines with others.
 */
const changing = characters.filter(
  (character) =>
    character.isWellFormed() &&
    (character.toLowerCase() !== character.toUpperCase() ||
      character.normalize('NFKD') !== character ||
      /^\p{M}$/u.test(character)),
);

const longDomain = 'ü'.repeat(383);

const forms = ['NFC', 'NFD'] as const;

it.each([
  [{}, []],
  [{ MAIL_FROM: 'accounts@example.com' }, ['invited']],
  [{ SESSION_DAYS: '1' }, ['suspended']],
  [{ EMAIL_VERIFICATION: 'on' }, ['unverified']],
  [{ EMAIL_VERIFICATION: 'required', SESSION_DAYS: '1' }, ['suspended', 'unverified']],
])('With the settings %j, lists are filtered by the statuses %j', (settings, expected) => {
  expect(statusesUnder(configFrom(settings))).toEqual(expected);
});

describe('isUserId', () => {
  it.each([
    [1, true],
    [Number.MAX_SAFE_INTEGER, true],
    [Number.MAX_SAFE_INTEGER + 1, false],
    [0, false],
    [-1, false],
    [1.5, false],
    [Number.NaN, false],
    ['1', false],
    [undefined, false],
  ])('of %j is %s', (value, expected) => {
    expect(isUserId(value)).toBe(expected);
  });
});

describe('emailKey', () => {
  it('is the same for both cases of each letter at any place', () => {
    const told = letters.filter((character) => {
      const addresses = [`${character}@b`, `a${character}@b`, `a${character}a@b`];
      return addresses.some((address) => {
        const [lower, upper] = [address.toLowerCase(), address.toUpperCase()];
        const cases = [address, lower, upper, lower.toUpperCase(), upper.toLowerCase()];
        const spellings = cases.flatMap((one) => forms.map((form) => one.normalize(form)));
        return new Set(spellings.map(emailKey)).size > 1;
      });
    });

    expect(letters.length).toBeGreaterThan(2000);
    expect(told).toEqual([]);
  });

  it.each([
    ['a final and an inner sigma', 'σας@b', 'ΣΑΣ@B'],
    ['a sharp s and its capitals', 'straße@b', 'STRASSE@B'],
    ['a dotless i and its capital', 'ı@b', 'I@b'],
    ['a long s and its capital', 'ſ@b', 'S@b'],
    ['a capital I with a dot and its small letter', 'İ@b', 'i\u0307@b'],
    ['the sign for kelvin and a small k', '\u212a@b', 'k@b'],
    ['a letter with an accent and the letter followed by the accent', 'zoë@b', 'zoe\u0308@b'],
    ['an accent on a capital', 'zoë@b', 'ZOE\u0308@B'],
    ['the two orders of two accents', 'a\u0323\u0307@b', 'a\u0307\u0323@b'],
    ['a domain and its punycode', 'a@bücher.example', 'a@xn--bcher-kva.example'],
    ['the capitals of either', 'a@BÜCHER.Example', 'a@XN--BCHER-KVA.EXAMPLE'],
    ['an accent in a domain', 'a@bücher.example', 'a@bu\u0308cher.example'],
    ['wide letters and dots in a domain', 'a@bücher.example', 'a@bücher。ｅxample'],
    [
      'a domain and its punycode, no longer than an address can be',
      `a@${longDomain.slice(1)}`,
      `a@${domainToASCII(longDomain.slice(1))}`,
    ],
    ['white space around it', ' a@b\t', 'A@B'],
  ])('does not distinguish %s', (_, one, other) => {
    expect(emailKey(one)).toBe(emailKey(other));
  });

  it.each([
    ['wide letters before the @', 'ａ@b', 'a@b'],
    ['a letter with and without its accent', 'zoë@b', 'zoe@b'],
    ['a word with and without a final sigma', 'σας@b', 'σα@b'],
    ['a domain with and without a path', 'a@ü/x', 'a@ü'],
    ['a domain and its percent-encoding', 'a@üA', 'a@ü%41'],
    ['a domain with and without a port', 'a@ü:1', 'a@ü'],
    ['a domain with and without a tab', 'a@ü\tx', 'a@üx'],
    ['a domain with and without a soft hyphen', 'a@ü\u00adx', 'a@üx'],
    [
      'a domain and its punycode, longer than any address',
      `a@${longDomain}`,
      `a@${domainToASCII(longDomain)}`,
    ],
  ])('distinguishes %s', (_, one, other) => {
    expect(emailKey(one)).not.toBe(emailKey(other));
  });

  it('has itself as its key, whatever character is at any place', () => {
    const places = changing.flatMap((one) => [`${one}@b`, `a${one}a@b`, `a@${one}`, `a@b${one}ü`]);

    expect(changing.length).toBeGreaterThan(15_000);
    expect(places.filter((text) => emailKey(emailKey(text)) !== emailKey(text))).toEqual([]);
  });

  it('has itself as its key, and is the same in both normal forms, for any text', async () => {
    const part = fc.string({ unit: fc.constantFrom(...changing, 'a', 'Σ', 'ς', 'ß', '.', '-') });
    const text = fc.oneof(
      fc.tuple(part, part).map(([local, domain]) => `${local}@${domain}`),
      fc.string({ unit: 'binary' }),
    );
    const keyOf = counted(emailKey);
    const hasOneKey = async (email: string) => {
      const key = keyOf(email);
      const spellings = [key, ...forms.map((form) => email.normalize(form))];
      expect(spellings.map(emailKey)).toEqual([key, key, key]);
    };

    await holds(4000, fc.asyncProperty(text, hasOneKey));
  });

  it('is in lower case for ASCII letters', () => {
    expect(emailKey('Ada.Lovelace+1@Example.COM')).toBe('ada.lovelace+1@example.com');
  });
});

describe('mailedAs', () => {
  it.each([
    'ada@example.org',
    "o'hara+x&co@example.org",
    'a@b',
    'Ada@EXAMPLE.org',
    '!#$%*/=?^_`{|}~-.a@b',
    `a@${'b'.repeat(63)}.c`,
    '=?@b',
    '=?utf-8?x?a?=@b',
    'utf-8?q?a?=@b',
    '=?utf-8?q?a@b',
    'a=?b?=c@b',
  ])('of %s is the same address', (address) => {
    expect(mailedAs(address)).toBe(address);
  });

  it.each([
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['Ada@Bu\u0308cher.example', 'Ada@xn--bcher-kva.example'],
    ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    ['ada@例え。テスト', 'ada@xn--r8jz45g.xn--zckzah'],
  ])('of %s has its domain in punycode, and has the same key', (address, mailed) => {
    expect(mailedAs(address)).toBe(mailed);
    expect(emailKey(mailed)).toBe(emailKey(address));
  });

  it.each([
    '=?utf-8?q?x?=@b',
    '=?utf-8?B?eA==?=@b',
    '=?iso-8859-1*en?q?a=40b=2C?=@b',
    '=?x?q?a?b?=@b',
    'a.=?utf-8?q?x?=.=?utf-8?q?y?=@b',
    '=?utf-8?q?a@b?=',
    'a@=?utf-8?q?b?=',
  ])('is undefined for %s, because it contains a MIME encoded-word', (address) => {
    expect(mailedAs(address)).toBeUndefined();
  });

  const misread = [...',;:<>()[]"\\ \t\n\u0000\u007f\u202e'];
  it.each(misread)(
    'is undefined for an address with %j anywhere, because it could be read as another address',
    (one) => {
      const addresses = [
        `${one}a@b`,
        `a${one}a@b`,
        `a${one}@b`,
        `a@${one}b`,
        `a@b${one}b`,
        `a@b${one}`,
      ];

      expect(addresses.map(mailedAs)).toEqual(addresses.map(() => undefined));
    },
  );

  // biome-ignore format: a table
  it.each([
    ...['', 'a', '@', 'a@', '@b', 'a@b@c', 'a@@b'],
    ...['jörg@b', 'а@b', '\u212a@b', '.a@b', 'a.@b', 'a..b@c', 'a@b.', 'a@.b', 'a@b..c', 'a@b_c', 'a@b!'],
    ...['a@-b', 'a@b-', `a@${'b'.repeat(64)}.c`, `a@${'b.'.repeat(127)}c`, 'a@ü_b', 'a@xn--ü', 'a@ü/b'],
  ])('is undefined for %j, because it is no address that SES and DNS accept', (address) => {
    expect(mailedAs(address)).toBeUndefined();
  });
});
