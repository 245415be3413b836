import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashOfKey, idInKey, makeKey } from '../../../../lib/options/machines/key.ts';

const zeros = new Uint8Array(32);
const ones = new Uint8Array(32).fill(255);

describe('A key of a machine', () => {
  // The checksums are of another implementation: `zlib.crc32` of Python, in base62.
  it.each([
    [1, zeros, `mk_1_${'0'.repeat(43)}0XF5xZ`],
    [100, ones, 'mk_100_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp11yY8ZF'],
    [9007199254740991, zeros, `mk_9007199254740991_${'0'.repeat(43)}3SLd1Q`],
  ])('of machine %i has 43 characters of randomness and 6 of a checksum', (id, random, key) => {
    expect(makeKey(id, random)).toBe(key);
    expect(idInKey(key)).toBe(id);
  });

  it('is another one each time', () => {
    const keys = Array.from({ length: 100 }, () => makeKey(7));

    expect(new Set(keys).size).toBe(100);
    for (const key of keys) expect(key).toMatch(/^mk_7_[0-9A-Za-z]{49}$/);
  });

  it('has no id once any character is another one', () => {
    const key = makeKey(31, ones);
    const altered = [...key].map((old, at) => {
      const other = /\d/.test(old) ? String((Number(old) + 1) % 10) : old === 'a' ? 'b' : 'a';
      return key.slice(0, at) + other + key.slice(at + 1);
    });

    expect(altered.map(idInKey)).toEqual(altered.map(() => undefined));
  });

  it('has no id once two neighbours changed places', () => {
    const key = makeKey(31, ones);
    const swapped = [...key].slice(1).map((_, at) => {
      return key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
    });

    expect(swapped.filter((each) => each !== key && idInKey(each) !== undefined)).toEqual([]);
  });

  it.each([
    '',
    'mk_',
    'mk_1_',
    `mk_0_${'0'.repeat(49)}`,
    `mk_01_${'0'.repeat(49)}`,
    `mk_-1_${'0'.repeat(49)}`,
    `${makeKey(1, ones)} `,
    `${makeKey(1, ones)}\n`,
    ` ${makeKey(1, ones)}`,
    makeKey(1, ones).toUpperCase(),
    makeKey(1, ones).slice(0, -1),
    makeKey(9007199254740992, ones),
    'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl',
  ])('is not %j', (text) => {
    expect(idInKey(text)).toBeUndefined();
  });

  it('is stored as its SHA-256', () => {
    const key = makeKey(1, zeros);

    expect(hashOfKey(key)).toBe(createHash('sha256').update(key).digest('hex'));
  });
});
