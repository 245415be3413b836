import { describe, expect, it } from 'vitest';
import { findLink, makeLinkToken, resetLink, useReset } from '../../../lib/reset/store.ts';
import { updateUser } from '../../../lib/users/changes.ts';
import { deleteUser } from '../../../lib/users/deletion.ts';
import type { StoredUser } from '../../../lib/users/items.ts';
import { findStoredUser } from '../../../lib/users/store.ts';
import { at, itemOf, newUser, start } from '../../support/reset-items.ts';

describe('A reset token', () => {
  it('is the id of its user and 32 random bytes', async () => {
    const user = await newUser();

    const token = await makeLinkToken(resetLink(user));

    expect(token).toMatch(new RegExp(`^${user.id}\\.[\\w-]{43}$`));
    expect(Buffer.from(token.split('.')[1] ?? '', 'base64url')).toHaveLength(32);
    expect(await makeLinkToken(resetLink(user))).not.toBe(token);
  });

  it('is valid for exactly 30 minutes', async () => {
    const user = await newUser();
    const token = await makeLinkToken(resetLink(user), at(0));

    const found = await findLink('reset', token, at(30 * 60 - 1));

    expect(found?.user.id).toBe(user.id);
    expect(await findLink('reset', token, at(30 * 60))).toBeUndefined();
  });

  it('is valid when it was made by a clock at most 60 seconds ahead', async () => {
    const user = await newUser();
    const token = await makeLinkToken(resetLink(user), at(0));

    expect(await findLink('reset', token, at(-60))).toBeDefined();
    expect(await findLink('reset', token, at(-61))).toBeUndefined();
    expect(await findLink('reset', token, at(-48 * 3600))).toBeUndefined();
  });

  it('is stored only as its digest, for an hour', async () => {
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

  it('is valid only while it is the newest one of its user', async () => {
    const user = await newUser();
    const [older, newer] = [
      await makeLinkToken(resetLink(user)),
      await makeLinkToken(resetLink(user)),
    ];

    expect(await findLink('reset', older)).toBeUndefined();
    expect(await findLink('reset', newer)).toBeDefined();
  });

  it.each([
    ['its password', () => ({ password_hash: 'another' })],
    ['its address', ({ id }: StoredUser) => ({ email: `another-${id}@example.org` })],
    ['the letter case of its address', ({ email }: StoredUser) => ({ email: email.toUpperCase() })],
  ])('is void when the user changes %s', async (_, update) => {
    const user = await newUser();
    const token = await makeLinkToken(resetLink(user));

    await updateUser(user.id, update(user));

    expect(await findLink('reset', token)).toBeUndefined();
  });

  it('stays valid when the user’s name is changed', async () => {
    const user = await newUser();
    const token = await makeLinkToken(resetLink(user));

    await updateUser(user.id, { name: 'New' });

    expect(await findLink('reset', token)).toBeDefined();
  });

  it('is void when the user is deleted', async () => {
    const user = await newUser();
    const token = await makeLinkToken(resetLink(user));

    await deleteUser(user.id);

    expect(await findLink('reset', token)).toBeUndefined();
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
      expect([text, await findLink('reset', text)]).toEqual([text, undefined]);
    }
    expect(await findLink('reset', token)).toBeDefined();
  });

  it('sets a password once', async () => {
    const user = await newUser();
    const found = await findLink('reset', await makeLinkToken(resetLink(user)));
    if (!found) throw new Error('There is no reset');

    const [first, second] = [await useReset(found, 'new', {}), await useReset(found, 'other', {})];

    expect([first, second]).toEqual([true, false]);
    expect((await findStoredUser(user.id))?.password_hash).toBe('new');
  });

  it.each([
    ['changed', (id: number) => updateUser(id, { password_hash: 'meanwhile' })],
    ['moved', (id: number) => updateUser(id, { email: `moved-${id}@example.org` })],
    ['deleted', (id: number) => deleteUser(id)],
  ])(
    'does not set the password of a user who was %s since the token was checked',
    async (_, change) => {
      const user = await newUser();
      const found = await findLink('reset', await makeLinkToken(resetLink(user)));
      if (!found) throw new Error('There is no reset');
      await change(user.id);

      expect(await useReset(found, 'new', {})).toBe(false);

      expect((await findStoredUser(user.id))?.password_hash).not.toBe('new');
    },
  );

  it.each([
    ['the link has expired', 30 * 60],
    ['the clock that the link was made by was set back', -61],
  ])('does not set a password when %s since the token was checked', async (_, second) => {
    const user = await newUser();
    const found = await findLink('reset', await makeLinkToken(resetLink(user), at(0)), at(1));
    if (!found) throw new Error('There is no reset');

    expect(await useReset(found, 'new', at(second))).toBe(false);
  });
});

describe('A reset item that is void', () => {
  it('leaves only an item that DynamoDB deletes', async () => {
    const user = await newUser();
    await updateUser(user.id, { email: 'moved@example.org' }, { mailsLinks: true });

    expect(await itemOf(user)).toEqual({ pk: `reset#${user.id}`, expires_at: expect.any(Number) });
  });

  it.each([
    ['another', 'straße@example.org', 'away@example.org'],
    ['one that counts as the same by ß', 'straße@example.org', 'strasse@example.org'],
    ['one that counts as the same by ı', 'bır@example.org', 'bir@example.org'],
    ['one in other letter case', 'ada@example.org', 'Ada@example.org'],
  ])('does not become valid again with the address after %s', async (_, email, other) => {
    const user = await newUser({ email });
    const token = await makeLinkToken(resetLink(user));

    for (const role of ['user', 'admin'] as const) {
      await updateUser(user.id, { email: other, role }, { mailsLinks: true });
      await updateUser(user.id, { email }, { mailsLinks: true });
    }

    expect(await findLink('reset', token)).toBeUndefined();
    await deleteUser(user.id);
  });
});
