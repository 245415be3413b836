import { describe, expect, it } from 'vitest';
import { emailKey, isUserId } from '../../../lib/users/user.ts';

/** Every character that has another letter case. */
const letters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter(
  (character) => character.toLowerCase() !== character.toUpperCase(),
);

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
  it('is the same for each letter in any case and at any place', () => {
    const told = letters.filter((character) => {
      const addresses = [`${character}@b`, `a${character}@b`, `a${character}a@b`];
      return addresses.some((address) => {
        const [lower, upper] = [address.toLowerCase(), address.toUpperCase()];
        const spellings = [address, lower, upper, lower.toUpperCase(), upper.toLowerCase()];
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
    ['white space around it', ' a@b\t', 'A@B'],
  ])('does not distinguish %s', (_, one, other) => {
    expect(emailKey(one)).toBe(emailKey(other));
  });

  it('is in lower case for ASCII letters', () => {
    expect(emailKey('Ada.Lovelace+1@Example.COM')).toBe('ada.lovelace+1@example.com');
  });
});
