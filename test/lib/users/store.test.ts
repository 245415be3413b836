import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { shownUser } from '../../../lib/accounts/shown.ts';
import { Overtaken } from '../../../lib/dynamodb/client.ts';
import type { StoredUser } from '../../../lib/users/item.ts';
import {
  allocateUserId,
  findStoredUser,
  findUserByEmail,
  insertUser,
} from '../../../lib/users/store.ts';
import { takeEmail, writeUser } from '../../../lib/users/write.ts';
import { uniqueEmail } from '../../support/client.ts';
import { proxiedTablesForThisFile } from '../../support/own-tables.ts';
import { type Fault, faults } from '../../support/proxy.ts';
import { brokenItems, engineClient, scan } from '../../support/stored-items.ts';
import { findUser, removeUser, setFields, storedUser } from '../../support/stored-user.ts';

const { proxy, users: table } = await proxiedTablesForThisFile();
beforeEach(() => proxy.impose());

const newUser = async (fields: Partial<StoredUser> = {}): Promise<StoredUser> =>
  storedUser({ id: await allocateUserId(), ...fields });
const inserted = async (): Promise<StoredUser> => {
  const user = await newUser();
  await insertUser(user);
  return user;
};
const shown = shownUser;
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

    // An attempt that took too long may have counted too.
    expect(new Set(ids).size).toBe(50);
    expect(Math.min(...ids)).toBeGreaterThan(first);
    expect(Math.max(...ids)).toBeLessThanOrEqual(first + proxy.requests.length);
  });

  it('returns no number twice when the response to an attempt was lost', async () => {
    const before = await allocateUserId();
    proxy.forget();
    proxy.impose({ fault: faults.lose, operation: 'UpdateItem', times: 1 });

    const id = await allocateUserId();

    expect(id).toBeGreaterThanOrEqual(before + 2);
    expect(id).toBeLessThanOrEqual(before + proxy.requests.length);
  });
});

describe('insertUser', () => {
  it('succeeds again for the same user, whose first insertion may not have been acknowledged', async () => {
    const user = await inserted();

    await insertUser(user);

    expect(await findUser(user.id)).toEqual(shown(user));
  });

  it('fails when another user has the id, and does not change that user', async () => {
    const present = await inserted();
    const intruder = await newUser({ id: present.id });

    await expect(insertUser(intruder)).rejects.toEqual(code('STORAGE_FAULT'));

    expect(await findUser(present.id)).toEqual(shown(present));
    expect(await findUserByEmail(intruder.email)).toBeUndefined();
  });

  it('does not confuse another user with the same id and address with the first', async () => {
    const present = await inserted();
    const intruder = await newUser({ id: present.id, email: present.email });

    await expect(insertUser(intruder)).rejects.toEqual(code('EMAIL_REGISTERED'));

    expect(await findUserByEmail(present.email)).toMatchObject(present);
  });

  it('uses no id of another user after the counter was set back', async () => {
    const present = await inserted();
    await setCounter(present.id - 1);

    await expect(insertUser(await newUser())).rejects.toEqual(code('STORAGE_FAULT'));

    expect(await findUser(present.id)).toEqual(shown(present));
    expect(await allocateUserId()).toBe(present.id + 1);
  });
});

describe('A user', () => {
  it.each([
    ['its id', ({ id }: StoredUser) => findUser(id)],
    ['its id, with what nothing shows', ({ id }: StoredUser) => findStoredUser(id)],
    ['its address', ({ email }: StoredUser) => findUserByEmail(email)],
  ])('is read consistently by %s', async (_, find) => {
    const user = await inserted();
    proxy.forget();

    await find(user);

    for (const { content } of proxy.requests) expect(content).toContain('"ConsistentRead":true');
  });
});

describe('A write whose response is lost', () => {
  const losing = (operation: 'TransactWriteItems' | 'UpdateItem') =>
    proxy.impose({ fault: faults.lose, operation, times: 1 });

  it('still inserts the user', async () => {
    const user = await newUser();
    losing('TransactWriteItems');

    await insertUser(user);

    expect(await findUserByEmail(user.email)).toMatchObject(user);
  });

  it('still deletes the user', async () => {
    const { id } = await inserted();
    losing('TransactWriteItems');

    await removeUser(id);

    expect(await findUser(id)).toBeUndefined();
  });

  it('still gives the user another address', async () => {
    const user = await inserted();
    const email = uniqueEmail();
    losing('TransactWriteItems');

    expect(await setFields(user.id, { email, name: 'Moved' })).toMatchObject({ email });

    expect(await findUserByEmail(user.email)).toBeUndefined();
    expect(await findUserByEmail(email)).toMatchObject({ name: 'Moved' });
  });

  it('still changes the user', async () => {
    const user = await inserted();
    const change = { email: user.email.toUpperCase(), name: 'Changed', role: 'admin' } as const;
    losing('UpdateItem');

    expect(shownUser(await setFields(user.id, change))).toEqual({ ...shown(user), ...change });

    expect(await findUser(user.id)).toEqual({ ...shown(user), ...change });
  });
});

describe('A write of a user', () => {
  /** Writes past the service: the version stays. */
  const setVersion = (id: number, version: string) =>
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: { pk: `user#${id}` },
        UpdateExpression: 'SET version = :version',
        ExpressionAttributeValues: { ':version': version },
      }),
    );

  it('gives the user a new version each time', async () => {
    const user = await inserted();

    const first = await setFields(user.id, { name: 'First' });
    const second = await setFields(user.id, { name: 'Second' });

    expect(await findStoredUser(user.id)).toMatchObject({ version: second.version });
    expect(new Set([user.version, first.version, second.version]).size).toBe(3);
  });

  it('is refused when others have written since the user was read', async () => {
    const user = await inserted();
    await setFields(user.id, { name: 'Early' });

    const late = writeUser(user, { fields: { name: 'Late' } });
    await expect(late).rejects.toThrow(Overtaken);
    const email = uniqueEmail();
    const moved = writeUser(user, { fields: { email }, steps: takeEmail(user, email) });
    await expect(moved).rejects.toThrow(Overtaken);

    expect(await findUser(user.id)).toMatchObject({ name: 'Early', email: user.email });
  });

  it('fails if its response is lost and others write before it is tried again', async () => {
    const user = await inserted();
    const overwrite: Fault = async ({ forward, socket }) => {
      await forward();
      await setVersion(user.id, 'of another writer');
      socket.resetAndDestroy();
    };
    proxy.impose({ fault: overwrite, operation: 'UpdateItem', times: 1 });

    const write = writeUser(user, { fields: { name: 'New' } });

    await expect(write).rejects.toMatchObject({ code: 'STORAGE_FAULT', mayHaveHappened: true });
  });
});

describe('A write to a user whom others change all the time', () => {
  it('ends in time with the fault Contention', async () => {
    const { id } = await inserted();
    vi.stubGlobal('patience', 2);
    proxy.impose(
      { fault: faults.conditionFails, operation: 'UpdateItem' },
      { fault: faults.delay },
    );
    const update = setFields(id, { name: 'Never' });

    await expect(update).rejects.toMatchObject({
      code: 'STORAGE_FAULT',
      cause: { name: 'Contention' },
    });
    vi.unstubAllGlobals();
  });
});

describe('The users table', () => {
  it('is consistent after all these tests', async () => {
    expect(brokenItems(await scan(inject('engine'), table))).toEqual([]);
  });
});
