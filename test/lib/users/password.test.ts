import { createHash } from 'node:crypto';
import { compare, hash } from 'bcryptjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  hashPassword,
  isPasswordHash,
  matchesHash,
  needsRehash,
} from '../../../lib/users/password.ts';
import { isUnmatchable, unmatchableHash } from '../../../lib/users/user.ts';

const marker = '$bcrypt-sha256$v=1';
const plain = /^\$2b\$04\$[./\w]{53}$/;
const reduced = /^\$bcrypt-sha256\$v=1\$2b\$04\$[./\w]{53}$/;
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');

/** Hashes of these passwords that other implementations of bcrypt have made, and that this service must accept. */
const vectors = [
  ['correct horse', '$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e'],
  ['correct horse', '$2a$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2'],
  ['correct horse', '$2y$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e'],
  ['pässwörd 😀', '$2b$04$abcdefghijklmnopqrstuua6Rxt7n/MYVLlPl0HSs709j39214mZy'],
  ['x'.repeat(72), '$2b$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i'],
  ['x'.repeat(73), `${marker}$2b$04$abcdefghijklmnopqrstuu1QFLCSIi24M6jYRTQl3M6yob0afu182`],
  ['a\0b', `${marker}$2b$04$abcdefghijklmnopqrstuu2X0FcrbQfE7fdn2w/LQX6oynRxOq9qy`],
] as const;

describe('hashPassword', () => {
  it.each([
    ['a short password', 'p', plain],
    ['72 bytes', 'x'.repeat(72), plain],
    ['72 bytes in 24 characters', '€'.repeat(24), plain],
    ['73 bytes', 'x'.repeat(73), reduced],
    ['74 bytes in 25 characters', `${'€'.repeat(24)}é`, reduced],
    ['255 characters of four bytes', '😀'.repeat(255), reduced],
    ['a NUL', 'a\0b', reduced],
    ['nothing but a NUL', '\0', reduced],
  ])(
    'hashes %s into the right form, and the password matches the hash',
    async (_, password, form) => {
      const stored = await hashPassword(password);

      expect(stored).toMatch(form);
      expect(stored.length).toBeLessThanOrEqual(255);
      expect(await matchesHash(password, stored)).toBe(true);
    },
  );

  it('uses a new salt each time, so that the same password has different hashes', async () => {
    expect(await hashPassword('p')).not.toBe(await hashPassword('p'));
  });

  it('uses the cost that its caller gives instead of the setting', async () => {
    expect(await hashPassword('p', { cost: 5 })).toMatch(/^\$2b\$05\$/);
  });

  it('makes hashes that other implementations of bcrypt verify', async () => {
    expect(await compare('correct horse', await hashPassword('correct horse'))).toBe(true);
  });

  it('returns each of several simultaneous callers its own hash', async () => {
    const passwords = Array.from({ length: 10 }, (_, i) => `password ${i}`);

    const stored = await Promise.all(passwords.map((password) => hashPassword(password)));

    const verified = passwords.map((password, i) => matchesHash(password, stored[i] ?? ''));
    expect(await Promise.all(verified)).toEqual(Array(10).fill(true));
  });
});

describe('hashPassword with a cost out of range', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('fails with HASHING_FAULT, and the error does not contain the password', async () => {
    vi.stubEnv('BCRYPT_COST', '99');

    const error = await hashPassword('my password').catch((reason) => reason);

    expect([error.code, error.cause.name]).toEqual(['HASHING_FAULT', 'ConfigError']);
    expect(`${error.message} ${error.cause.message}`).not.toContain('my password');
  });
});

describe('matchesHash', () => {
  it.each(vectors)('recognizes %j by %s', async (password, stored) => {
    expect(await matchesHash(password, stored)).toBe(true);
    expect(await matchesHash(`${password}!`, stored)).toBe(false);
  });

  it.each([
    ['past byte 72', 'x'.repeat(72), `${'x'.repeat(72)}a`],
    ['past byte 72 although both are longer', `${'x'.repeat(72)}a`, `${'x'.repeat(72)}b`],
    ['in a character that byte 72 cuts', `${'x'.repeat(71)}é`, `${'x'.repeat(71)}è`],
    ['past a NUL', 'same\0a', 'same\0b'],
    ['by a NUL at the end', 'same', 'same\0'],
    ['by a NUL in front', 'same', '\0same'],
    ['in letter case', 'Same', 'same'],
    ['in compatible letters', 'ﬁ', 'fi'],
    ['in white space', 'same', 'same '],
  ])('distinguishes passwords that differ %s', async (_, one, other) => {
    expect(await matchesHash(other, await hashPassword(one))).toBe(false);
    expect(await matchesHash(one, await hashPassword(other))).toBe(false);
  });

  it('recognizes no text of more than 1,020 UTF-16 units, whatever password the hash has', async () => {
    const [longest, longer] = [1020, 1021].map((units) => 'x'.repeat(units)) as [string, string];

    expect(await matchesHash(longest, await hashPassword(longest))).toBe(true);
    for (const set of [longer, longest, 'x', '']) {
      expect(await matchesHash(longer, await hashPassword(set))).toBe(false);
    }
  });

  it.each([
    ['short', 'pässwörd'],
    ['longer than 72 bytes in both forms', 'ö'.repeat(40)],
    ['longer than 72 bytes in one form', 'ö'.repeat(30)],
    ['longer in the composed form', '\u{1d160}'.repeat(10)],
  ])('does not distinguish the normal forms of a password that is %s', async (_, password) => {
    const forms = ['NFC', 'NFD'].map((form) => password.normalize(form));

    for (const set of [password, ...forms]) {
      const stored = await hashPassword(set);
      for (const typed of [password, ...forms]) {
        expect(await matchesHash(typed, stored)).toBe(true);
      }
      expect(await matchesHash(`${password}!`, stored)).toBe(false);
    }
  });

  it('recognizes a hash of another system by the password as it was typed, in any normal form', async () => {
    const decomposed = 'zoe\u0308';

    expect(await matchesHash(decomposed, await hash(decomposed, 4))).toBe(true);
    expect(await matchesHash(decomposed, await hash('zoë', 4))).toBe(true);
    expect(await matchesHash('zoë', await hash('zoë', 4))).toBe(true);
    expect(await matchesHash('zoe', await hash(decomposed, 4))).toBe(false);
  });

  it('does not accept the digest of a long password as the password', async () => {
    const long = 'x'.repeat(100);

    expect(await matchesHash(sha256(long), await hashPassword(long))).toBe(false);
  });

  it('does not accept a long password for a plain hash, because the hash covers only 72 bytes', async () => {
    const stored = await hash('x'.repeat(72), 4);

    expect(await matchesHash('x'.repeat(73), stored)).toBe(false);
  });

  it('does not accept the replacement character for ill-formed text', async () => {
    expect(await matchesHash('a\ud800', await hashPassword('a\ufffd'))).toBe(false);
    const long = 'x'.repeat(80);
    expect(await matchesHash(`${long}\ud800`, await hashPassword(`${long}\ufffd`))).toBe(false);
  });

  it.each(['', 'nonsense', marker, '$2b$04$short', `${marker}nonsense`])(
    'refuses every password if the stored text is not a hash: %j',
    async (stored) => {
      expect(await matchesHash('p', stored)).toBe(false);
      expect(await matchesHash('', stored)).toBe(false);
    },
  );

  it('works again after a hash that could not be computed', async () => {
    const broken = `$9z$04$${'a'.repeat(53)}`;
    await matchesHash('p', broken).catch(() => undefined);

    expect(await matchesHash('p', await hashPassword('p'))).toBe(true);
  });
});

describe('unmatchableHash', () => {
  it('has the cost of a new hash, and matches no password', async () => {
    const stored = unmatchableHash();

    expect(stored).toMatch(plain);
    for (const password of ['p', '.', '\0', 'x'.repeat(100)]) {
      expect(await matchesHash(password, stored)).toBe(false);
    }
  });
});

describe('isUnmatchable', () => {
  it.each([
    ['that no password has', unmatchableHash(), true],
    ['that no password has, at another cost', unmatchableHash(12), true],
    ['of a password', vectors[0][1], false],
    ['that only ends like a hash that no password has', `$2b$04$a${'.'.repeat(52)}`, false],
    ['that is too long for a hash that no password has', `$2b$04$.${'.'.repeat(53)}`, false],
  ])('returns for a hash %s, %s: %s', (_, stored, expected) => {
    expect(isUnmatchable(stored)).toBe(expected);
  });
});

describe('needsRehash', () => {
  const hashOf = (version: string, cost: string) => `$${version}$${cost}$${'a'.repeat(53)}`;

  it.each([
    ['of today', hashOf('2b', '04'), false],
    ['at a higher cost', hashOf('2b', '12'), false],
    ['at a lower cost', hashOf('2b', '03'), true],
    ['of an older bcrypt', hashOf('2a', '04'), false],
    ['of another bcrypt', hashOf('2y', '04'), false],
    ['of an older bcrypt at a higher cost', hashOf('2a', '14'), false],
    ['of another bcrypt at a higher cost', hashOf('2y', '12'), false],
    ['of another bcrypt at a lower cost', hashOf('2y', '03'), true],
    ['of today, of a reduced password', marker + hashOf('2b', '04'), false],
    ['at a lower cost, of a reduced password', marker + hashOf('2b', '03'), true],
  ])('returns for a hash %s: %s', (_, stored, due) => {
    expect(needsRehash(stored)).toBe(due);
  });
});

describe('isPasswordHash', () => {
  const hashAt = (cost: string) => `$2b$${cost}$${'.'.repeat(53)}`;

  it.each(['04', '10', '16'])('accepts a hash of cost %s', (cost) => {
    expect(isPasswordHash(hashAt(cost))).toBe(true);
    expect(isPasswordHash(marker + hashAt(cost))).toBe(true);
  });

  it.each(['03', '17', '31', '4'])('refuses a hash with the cost %s', (cost) => {
    expect(isPasswordHash(hashAt(cost))).toBe(false);
  });

  it.each(vectors.map(([, stored]) => stored))(
    'accepts %s of another implementation of bcrypt',
    (stored) => {
      expect(isPasswordHash(stored)).toBe(true);
    },
  );

  const sound = '$2b$10$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e';
  it.each([
    ['nothing', ''],
    ['text before it', `x${sound}`],
    ['text after it', `${sound}x`],
    ['a line end after it', `${sound}\n`],
    ['an unknown version', sound.replace('$2b', '$2x')],
    ['no version', sound.replace('$2b', '$2')],
    ['a cost of letters', sound.replace('$10', '$1a')],
    ['a cost of one digit', sound.replace('$10', '$9')],
    ['a foreign character in the salt', sound.replace('abc', 'a!c')],
    ['a salt of 23 characters', sound.replace('abc', 'abcd')],
    ['a salt of 21 characters', sound.replace('abc', 'ab')],
    ['a last character of the salt that no salt has', sound.replace('stuu', 'stub')],
    ['a foreign character in the digest', sound.replace('SfIH', 'Sf!H')],
    ['a digest of 30 characters', sound.replace('SfIH', 'SfI')],
    ['a last character of the digest that no digest has', sound.replace(/e$/, 'f')],
    ['the marker twice', marker + marker + sound],
  ])('refuses a hash with %s', (_, text) => {
    expect(isPasswordHash(text)).toBe(false);
  });
});
