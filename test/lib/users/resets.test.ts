import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it } from 'vitest';
import { deleteUser, updateUser } from '../../../lib/users/changes.ts';
import type { StoredUser } from '../../../lib/users/items.ts';
import {
  findReset,
  makeMailedToken,
  makeResetToken,
  markMailed,
  releaseMail,
  useReset,
} from '../../../lib/users/resets.ts';
import { findStoredUser, insertUser } from '../../../lib/users/store.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { engineClient, scan } from '../../support/stored-items.ts';
import { storedUser } from './stored-user.ts';

const tables = await useOwnTables();

let lastId = 0;
const newUser = async (fields: Partial<StoredUser> = {}): Promise<StoredUser> => {
  lastId += 1;
  const user = storedUser({ id: lastId, email: `${lastId}@example.org`, ...fields });
  await insertUser(user);
  return user;
};

const start = new Date('2026-11-21T09:05:00Z');
const at = (seconds: number) => ({ now: new Date(start.getTime() + 1000 * seconds) });
const itemOf = async ({ id }: StoredUser) =>
  (await scan(inject('engine'), tables.users)).find(({ pk }) => pk === `reset#${id}`);

describe('A reset token', () => {
  it('is the id of its user and 32 random bytes', async () => {
    const user = await newUser();

    const token = await makeResetToken(user);

    expect(token).toMatch(new RegExp(`^${user.id}\\.[\\w-]{43}$`));
    expect(Buffer.from(token.split('.')[1] ?? '', 'base64url')).toHaveLength(32);
    expect(await makeResetToken(user)).not.toBe(token);
  });

  it('finds its user for 30 minutes, and not a second longer', async () => {
    const user = await newUser();
    const token = await makeResetToken(user, at(0));

    const found = await findReset(token, at(30 * 60 - 1));

    expect(found?.user.id).toBe(user.id);
    expect(await findReset(token, at(30 * 60))).toBeUndefined();
  });

  it('is kept as its digest alone, and for an hour', async () => {
    const user = await newUser();
    const token = await makeResetToken(user, at(0));

    const item = await itemOf(user);

    expect(Object.keys(item ?? {}).sort()).toEqual(
      ['pk', 'token_hash', 'token_expires_at', 'user_state', 'expires_at'].sort(),
    );
    expect(item?.expires_at).toBe(start.getTime() / 1000 + 3600);
    expect(JSON.stringify(item)).not.toContain(token.split('.')[1]);
    expect(JSON.stringify(item)).not.toContain(user.password_hash);
  });

  it('is the newest one of its user, or none', async () => {
    const user = await newUser();
    const [older, newer] = [await makeResetToken(user), await makeResetToken(user)];

    expect(await findReset(older)).toBeUndefined();
    expect(await findReset(newer)).toBeDefined();
  });

  it.each([
    ['its password', () => ({ password_hash: 'another' })],
    ['its address', ({ id }: StoredUser) => ({ email: `another-${id}@example.org` })],
    ['the letter case of its address', ({ email }: StoredUser) => ({ email: email.toUpperCase() })],
  ])('is void when the user changes %s', async (_, update) => {
    const user = await newUser();
    const token = await makeResetToken(user);

    await updateUser(user.id, update(user));

    expect(await findReset(token)).toBeUndefined();
  });

  it('stays good when the user changes its name', async () => {
    const user = await newUser();
    const token = await makeResetToken(user);

    await updateUser(user.id, { name: 'New' });

    expect(await findReset(token)).toBeDefined();
  });

  it('is void when the user is deleted', async () => {
    const user = await newUser();
    const token = await makeResetToken(user);

    await deleteUser(user.id);

    expect(await findReset(token)).toBeUndefined();
  });

  it('is no token in any other spelling', async () => {
    const user = await newUser();
    const token = await makeResetToken(user);
    const [id = '', random = ''] = token.split('.');
    const altered = [
      ...['', '.', id, random, `${id}.`, `.${random}`, `0.${random}`, `0${token}`, `-${token}`],
      ...[` ${token}`, `${token} `, `${token}=`, `${token}A`, token.slice(0, -1), `${token}\n`],
      ...[`${id}${token}`, `${Number(id) + 1000}.${random}`, `9007199254740993.${random}`],
      ...[`${id}.${random.slice(0, -1)}${random.endsWith('A') ? 'B' : 'A'}`, '__proto__'],
      ...[`${id}.${'A'.repeat(43)}`, token.toUpperCase(), encodeURIComponent(`${token} `)],
      'x'.repeat(5000),
    ];

    for (const text of altered.filter((other) => other !== token)) {
      expect([text, await findReset(text)]).toEqual([text, undefined]);
    }
    expect(await findReset(token)).toBeDefined();
  });

  it('sets a password once', async () => {
    const user = await newUser();
    const found = await findReset(await makeResetToken(user));
    if (!found) throw new Error('There is no reset');

    const [first, second] = [await useReset(found, 'new', {}), await useReset(found, 'other', {})];

    expect([first, second]).toEqual([true, false]);
    expect((await findStoredUser(user.id))?.password_hash).toBe('new');
  });

  it.each([
    ['changed', (id: number) => updateUser(id, { password_hash: 'meanwhile' })],
    ['moved', (id: number) => updateUser(id, { email: `moved-${id}@example.org` })],
    ['deleted', (id: number) => deleteUser(id)],
  ])('sets none of a user who was %s since it was found', async (_, change) => {
    const user = await newUser();
    const found = await findReset(await makeResetToken(user));
    if (!found) throw new Error('There is no reset');
    await change(user.id);

    expect(await useReset(found, 'new', {})).toBe(false);

    expect((await findStoredUser(user.id))?.password_hash).not.toBe('new');
  });

  it('sets none when it has expired since it was found', async () => {
    const user = await newUser();
    const found = await findReset(await makeResetToken(user, at(0)), at(1));
    if (!found) throw new Error('There is no reset');

    expect(await useReset(found, 'new', at(30 * 60))).toBe(false);
  });
});

describe('The links that are mailed', () => {
  const mailed = async (user: StoredUser, request: string, seconds: number) => {
    const token = await makeMailedToken(user, request, at(seconds));
    if (token) await markMailed(user, request);
    return token !== undefined;
  };

  it('are one a minute', async () => {
    const user = await newUser();

    const made = [0, 1, 59, 60, 61, 120].map((second) => ({ second }));
    const results: boolean[] = [];
    for (const { second } of made) results.push(await mailed(user, `r${second}`, second));

    expect(results).toEqual([true, false, false, true, false, true]);
  });

  it('are five an hour', async () => {
    const user = await newUser();
    const results: boolean[] = [];
    for (let i = 0; i < 5; i += 1) results.push(await mailed(user, `r${i}`, 600 * i));

    results.push(await mailed(user, 'sixth', 3599), await mailed(user, 'later', 3600));

    expect(results).toEqual([true, true, true, true, true, false, true]);
  });

  it('count for one account alone', async () => {
    const [user, other] = [await newUser(), await newUser()];
    await mailed(user, 'one', 0);

    expect(await mailed(other, 'two', 0)).toBe(true);
  });

  it('leave the newest one good while there must be no other', async () => {
    const user = await newUser();
    const token = (await makeMailedToken(user, 'one', at(0))) ?? '';

    await makeMailedToken(user, 'two', at(10));

    expect(await findReset(token, at(20))).toBeDefined();
  });

  it('are not made anew for a request that was mailed', async () => {
    const user = await newUser();
    await mailed(user, 'one', 0);

    expect(await mailed(user, 'one', 5)).toBe(false);
    expect(await mailed(user, 'one', 3500)).toBe(false);
  });

  it('are not made anew for a request that was mailed before another was', async () => {
    const user = await newUser();
    await mailed(user, 'one', 0);
    const newest = (await makeMailedToken(user, 'two', at(600))) ?? '';
    await markMailed(user, 'two');

    expect(await mailed(user, 'one', 1200)).toBe(false);
    expect(await findReset(newest, at(1201))).toBeDefined();
  });

  it('are not made for a request while it is being mailed, which has it come again', async () => {
    const user = await newUser();
    const token = (await makeMailedToken(user, 'one', at(0))) ?? '';

    await expect(makeMailedToken(user, 'one', at(49))).rejects.toMatchObject({
      name: 'MailUnderWay',
    });

    expect(await findReset(token, at(49))).toBeDefined();
    expect(await makeMailedToken(user, 'one', at(50))).toBeDefined();
  });

  it('are one when a request comes several times at the same moment', async () => {
    const user = await newUser();

    const outcomes = await Promise.allSettled(
      ['a', 'a', 'a', 'a'].map((request) => makeMailedToken(user, request, at(0))),
    );

    const made = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(made).toEqual([{ status: 'fulfilled', value: expect.stringMatching(/^\d+\./) }]);
  });

  it('are made anew for a request whose mail was not sent, and count once', async () => {
    const user = await newUser();
    const first = await makeMailedToken(user, 'one', at(0));
    await releaseMail(user, 'one');
    const second = await makeMailedToken(user, 'one', at(30));

    expect(second).toBeDefined();
    expect(second).not.toBe(first);
    expect((await itemOf(user))?.mailed).toEqual([
      { request_id: 'one', at: start.getTime() / 1000 },
    ]);
  });

  it('are one of several that are asked for at the same moment', async () => {
    const user = await newUser();
    await mailed(user, 'before', -120);

    const tokens = await Promise.all(
      ['a', 'b', 'c', 'd'].map((request) => makeMailedToken(user, request, at(0))),
    );

    const made = tokens.filter((token) => token !== undefined);
    expect(made).toHaveLength(1);
    expect(await findReset(made[0] ?? '', at(1))).toBeDefined();
  });

  it('are not held back by times that a clock which was set back has left', async () => {
    const user = await newUser();
    await mailed(user, 'ahead', 86_400);

    expect(await mailed(user, 'now', 0)).toBe(true);
  });

  it('count on when a link is used, or made by an operator', async () => {
    const user = await newUser();
    await mailed(user, 'one', 0);
    await makeResetToken(user, at(1));

    expect(await mailed(user, 'two', 30)).toBe(false);
    expect(await mailed(user, 'three', 60)).toBe(true);
  });

  it('are kept in mind for an hour after the newest', async () => {
    const user = await newUser();
    await mailed(user, 'one', 0);

    expect((await itemOf(user))?.expires_at).toBe(start.getTime() / 1000 + 3600);
  });
});

describe('A reset item that is void', () => {
  it('leaves nothing that DynamoDB does not sweep', async () => {
    const user = await newUser();
    process.env.MAIL_FUNCTION_URL = 'http://127.0.0.1/';
    await updateUser(user.id, { email: 'moved@example.org' });
    delete process.env.MAIL_FUNCTION_URL;

    expect(await itemOf(user)).toEqual({ pk: `reset#${user.id}`, expires_at: expect.any(Number) });
  });

  it.each([
    ['another', 'straße@example.org', 'away@example.org'],
    ['one that counts as the same by ß', 'straße@example.org', 'strasse@example.org'],
    ['one that counts as the same by ı', 'bır@example.org', 'bir@example.org'],
    ['one in other letter case', 'ada@example.org', 'Ada@example.org'],
  ])('does not come back with its address after %s', async (_, email, other) => {
    const user = await newUser({ email });
    const token = await makeResetToken(user);

    process.env.MAIL_FUNCTION_URL = 'http://127.0.0.1/';
    for (const role of ['user', 'admin'] as const) {
      await updateUser(user.id, { email: other, role });
      await updateUser(user.id, { email });
    }
    delete process.env.MAIL_FUNCTION_URL;

    expect(await findReset(token)).toBeUndefined();
    await deleteUser(user.id);
  });

  it('is read as last written', async () => {
    const user = await newUser();
    const token = await makeResetToken(user);
    await engineClient(inject('engine')).send(
      new UpdateCommand({
        TableName: tables.users,
        Key: { pk: `reset#${user.id}` },
        UpdateExpression: 'REMOVE token_hash',
      }),
    );

    expect(await findReset(token)).toBeUndefined();
  });
});
