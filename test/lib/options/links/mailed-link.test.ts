import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  makeLinkToken,
  readResetLink,
  resetLink,
  resetLinkUsed,
} from '../../../../lib/options/links/mailed-link.ts';
import type { StoredUser } from '../../../../lib/users/item.ts';
import { findStoredUser } from '../../../../lib/users/store.ts';
import { writeUser } from '../../../../lib/users/write.ts';
import { at, itemOf, newUser, start } from '../../../support/reset-items.ts';
import { removeUser, setFields } from '../../../support/stored-user.ts';

const invalid = 'RESET_TOKEN_INVALID';
/** The id of the user of a token, or the code of the error. */
const userOf = (token: string, now?: Date) =>
  readResetLink(token, now).then(
    ({ user }) => user.id,
    ({ code }) => code,
  );

describe('A reset token', () => {
  it('consists of the id of its user and 32 random bytes', async () => {
    const user = await newUser();

    const token = await makeLinkToken(resetLink(user));

    expect(token).toMatch(new RegExp(`^${user.id}\\.[\\w-]{43}$`));
    expect(Buffer.from(token.split('.')[1] ?? '', 'base64url')).toHaveLength(32);
    expect(await makeLinkToken(resetLink(user))).not.toBe(token);
  });

  it('is valid for exactly 30 minutes', async () => {
    const user = await newUser();
    const token = await makeLinkToken(resetLink(user), at(0));

    expect(await userOf(token, at(30 * 60 - 1))).toBe(user.id);
    expect(await userOf(token, at(30 * 60))).toBe(invalid);
  });

  it('is stored only as a digest, and only for an hour', async () => {
    const user = await newUser();
    const token = await makeLinkToken(resetLink(user), at(0));

    const item = await itemOf(user);

    expect(Object.keys(item ?? {}).sort()).toEqual(
      ['pk', 'token_hash', 'token_expires_at', 'user_state', 'email', 'expires_at'].sort(),
    );
    expect(item?.expires_at).toBe(start.getTime() / 1000 + 3600);
    expect(JSON.stringify(item)).not.toContain(token.split('.')[1]);
    expect(JSON.stringify(item)).not.toContain(user.password_hash);
  });

  it('is valid only as long as it is the newest token of its user', async () => {
    const user = await newUser();
    const [older, newer] = [
      await makeLinkToken(resetLink(user)),
      await makeLinkToken(resetLink(user)),
    ];

    expect(await userOf(older)).toBe(invalid);
    expect(await userOf(newer)).toBe(user.id);
  });

  it.each([
    ['its password', () => ({ password_hash: 'another' })],
    ['its address', ({ id }: StoredUser) => ({ email: `another-${id}@example.org` })],
    ['the letter case of its address', ({ email }: StoredUser) => ({ email: email.toUpperCase() })],
  ])('is void when the user changes %s', async (_, update) => {
    const user = await newUser();
    const token = await makeLinkToken(resetLink(user));

    await setFields(user.id, update(user));

    expect(await userOf(token)).toBe(invalid);
  });

  it('stays valid when the user’s name is changed', async () => {
    const user = await newUser();
    const token = await makeLinkToken(resetLink(user));

    await setFields(user.id, { name: 'New' });

    expect(await userOf(token)).toBe(user.id);
  });

  it('is void when the user is deleted', async () => {
    const user = await newUser();
    const token = await makeLinkToken(resetLink(user));

    await removeUser(user.id);

    expect(await userOf(token)).toBe(invalid);
  });

  it('is refused in any other spelling', async () => {
    const user = await newUser();
    const token = await makeLinkToken(resetLink(user));
    const [id = '', random = ''] = token.split('.');
    const altered = [
      '',
      '.',
      id,
      random,
      `${id}.`,
      `.${random}`,
      `0.${random}`,
      `0${token}`,
      `-${token}`,
      ` ${token}`,
      `${token} `,
      `${token}=`,
      `${token}A`,
      token.slice(0, -1),
      `${token}\n`,
      `${id}${token}`,
      `${Number(id) + 1000}.${random}`,
      `9007199254740993.${random}`,
      `${id}.${random.slice(0, -1)}${random.endsWith('A') ? 'B' : 'A'}`,
      '__proto__',
      `${id}.${'A'.repeat(43)}`,
      token.toUpperCase(),
      encodeURIComponent(`${token} `),
      'x'.repeat(5000),
    ];

    for (const text of altered.filter((other) => other !== token)) {
      expect([text, await userOf(text)]).toEqual([text, invalid]);
    }
    expect(await userOf(token)).toBe(user.id);
  });

  it('can be used only once, and only while it is valid', async () => {
    const { id, ...rest } = await newUser();
    const token = await makeLinkToken(resetLink({ id, ...rest }), at(0));
    const set = async (password_hash: string, now?: Date) => {
      const user = await findStoredUser(id);
      if (!user) throw new Error(`There is no user ${id}`);
      return writeUser(user, { fields: { password_hash } }, resetLinkUsed(link, now));
    };
    const link = await readResetLink(token, at(1));

    await expect(set('late', at(30 * 60))).rejects.toMatchObject({ code: invalid });
    expect(await set('new', at(1))).toMatchObject({ password_hash: 'new' });
    await expect(set('again', at(1))).rejects.toMatchObject({ code: invalid });
  });
});

describe('A reset item that is void', () => {
  beforeAll(() => vi.stubEnv('MAIL_FUNCTION_URL', 'http://localhost'));
  afterAll(() => vi.unstubAllEnvs());

  it('is replaced by an item that DynamoDB deletes', async () => {
    const user = await newUser();
    await setFields(user.id, { email: 'moved@example.org' });

    expect(await itemOf(user)).toEqual({ pk: `reset#${user.id}`, expires_at: expect.any(Number) });
  });

  it.each([
    ['another address', 'straße@example.org', 'away@example.org'],
    [
      'an address that counts as the same because of ß',
      'straße@example.org',
      'strasse@example.org',
    ],
    ['an address that counts as the same because of ı', 'bır@example.org', 'bir@example.org'],
    ['the address in another letter case', 'ada@example.org', 'Ada@example.org'],
  ])(
    'does not become valid again when the user gets the address back after %s',
    async (_, email, other) => {
      const user = await newUser({ email });
      const token = await makeLinkToken(resetLink(user));

      for (const role of ['user', 'admin'] as const) {
        await setFields(user.id, { email: other, role });
        await setFields(user.id, { email });
      }

      expect(await userOf(token)).toBe(invalid);
      await removeUser(user.id);
    },
  );
});
