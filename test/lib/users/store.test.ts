import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { shownUser } from '../../../lib/accounts/user-response.ts';
import type { StoredUser } from '../../../lib/users/item.ts';
import {
  allocateUserId,
  findStoredUser,
  findUserByEmail,
  insertUnseen,
  insertUser,
} from '../../../lib/users/store.ts';
import { proxiedTablesForThisFile } from '../../support/own-tables.ts';
import { faults } from '../../support/proxy.ts';
import { brokenItems, engineClient, scan } from '../../support/stored-items.ts';
import { findUser, insertedUser, newUser } from '../../support/stored-user.ts';

const { proxy, users: table } = await proxiedTablesForThisFile();
beforeEach(() => proxy.impose());

const code = (expected: string) => expect.objectContaining({ code: expected });
const client = engineClient(inject('engine'));
const setCounter = (last_id: number) =>
  client.send(
    new UpdateCommand({
      TableName: table,
      Key: { pk: 'counter' },
      UpdateExpression: 'SET last_id = :id',
      ExpressionAttributeValues: { ':id': last_id },
    }),
  );

describe('allocateUserId', () => {
  it('returns each of the next numbers once', async () => {
    const first = await allocateUserId();

    proxy.forget();
    const ids = await Promise.all(Array.from({ length: 50 }, allocateUserId));

    // An attempt that took too long may have increased the counter too.
    expect(new Set(ids).size).toBe(50);
    expect(Math.min(...ids)).toBeGreaterThan(first);
    expect(Math.max(...ids)).toBeLessThanOrEqual(first + proxy.requests.length);
  });

  it('returns no number twice if the response to an attempt was lost', async () => {
    const before = await allocateUserId();
    proxy.forget();
    proxy.impose({ fault: faults.lose, operation: 'UpdateItem', times: 1 });

    const id = await allocateUserId();

    expect(id).toBeGreaterThanOrEqual(before + 2);
    expect(id).toBeLessThanOrEqual(before + proxy.requests.length);
  });
});

describe('insertUnseen', () => {
  it('fails if nothing can be stored, and does not report that somebody has the address', async () => {
    const user = await newUser();
    proxy.impose({ fault: faults.missingTable, operation: 'TransactWriteItems' });

    await expect(insertUnseen(user)).rejects.toThrow(code('STORAGE_FAULT'));
  });

  it('sends the store the same requests whether the address is free or taken', async () => {
    const [user, other] = [await newUser(), await newUser()];
    proxy.forget();

    await insertUnseen(user);
    const again = insertUnseen({ ...other, email: user.email });

    await expect(again).rejects.toThrow(code('EMAIL_REGISTERED'));
    const each = ['GetItem', 'TransactWriteItems'];
    expect(proxy.requests.map(({ operation }) => operation)).toEqual([...each, ...each]);
  });
});

describe('insertUser', () => {
  it('succeeds again for the same user, because the first insertion may not have been acknowledged', async () => {
    const user = await insertedUser();

    await insertUser(user);

    expect(await findUser(user.id)).toEqual(shownUser(user));
  });

  it('fails when another user has the id, and does not change that user', async () => {
    const present = await insertedUser();
    const intruder = await newUser({ id: present.id });

    await expect(insertUser(intruder)).rejects.toEqual(code('STORAGE_FAULT'));

    expect(await findUser(present.id)).toEqual(shownUser(present));
    expect(await findUserByEmail(intruder.email)).toBeUndefined();
  });

  it('does not confuse a new user of the same id and address with the first user', async () => {
    const present = await insertedUser();
    const intruder = await newUser({ id: present.id, email: present.email });

    await expect(insertUser(intruder)).rejects.toEqual(code('EMAIL_REGISTERED'));

    expect(await findUserByEmail(present.email)).toMatchObject(present);
  });

  it('uses no id of another user after the counter was set back', async () => {
    const present = await insertedUser();
    await setCounter(present.id - 1);

    await expect(insertUser(await newUser())).rejects.toEqual(code('STORAGE_FAULT'));

    expect(await findUser(present.id)).toEqual(shownUser(present));
    expect(await allocateUserId()).toBe(present.id + 1);
  });
});

describe('An insertion whose response is lost', () => {
  it('has stored the user', async () => {
    const user = await newUser();
    proxy.impose({ fault: faults.lose, operation: 'TransactWriteItems', times: 1 });

    await insertUser(user);

    expect(await findUserByEmail(user.email)).toMatchObject(user);
  });
});

describe('A user', () => {
  it.each([
    ['its id', ({ id }: StoredUser) => findUser(id)],
    ['its id, with the fields that are never shown', ({ id }: StoredUser) => findStoredUser(id)],
    ['its address', ({ email }: StoredUser) => findUserByEmail(email)],
  ])('is read consistently by %s', async (_, find) => {
    const user = await insertedUser();
    proxy.forget();

    await find(user);

    for (const { content } of proxy.requests) expect(content).toContain('"ConsistentRead":true');
  });
});

describe('The users table', () => {
  it('is consistent after all these tests', async () => {
    expect(brokenItems(await scan(inject('engine'), table))).toEqual([]);
  });
});
