import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { shownUser } from '../../../lib/accounts/user-response.ts';
import { Overtaken } from '../../../lib/dynamodb/client.ts';
import { findStoredUser, findUserByEmail } from '../../../lib/users/store.ts';
import { emailClaimed, writeUser } from '../../../lib/users/write.ts';
import { uniqueEmail } from '../../support/client.ts';
import { proxiedTablesForThisFile } from '../../support/own-tables.ts';
import { type Fault, faults } from '../../support/proxy.ts';
import { brokenItems, engineClient, scan } from '../../support/stored-items.ts';
import { findUser, insertedUser, removeUser, setFields } from '../../support/stored-user.ts';

const { proxy, users: table } = await proxiedTablesForThisFile();
beforeEach(() => proxy.impose());

const client = engineClient(inject('engine'));

describe('A write whose response is lost', () => {
  const losing = (operation: 'TransactWriteItems' | 'UpdateItem') =>
    proxy.impose({ fault: faults.lose, operation, times: 1 });

  it('still deletes the user', async () => {
    const { id } = await insertedUser();
    losing('TransactWriteItems');

    await removeUser(id);

    expect(await findUser(id)).toBeUndefined();
  });

  it('still gives the user another address', async () => {
    const user = await insertedUser();
    const email = uniqueEmail();
    losing('TransactWriteItems');

    expect(await setFields(user.id, { email, name: 'Moved' })).toMatchObject({ email });

    expect(await findUserByEmail(user.email)).toBeUndefined();
    expect(await findUserByEmail(email)).toMatchObject({ name: 'Moved' });
  });

  it('still changes the user', async () => {
    const user = await insertedUser();
    const change = { email: user.email.toUpperCase(), name: 'Changed', role: 'admin' } as const;
    losing('UpdateItem');

    expect(shownUser(await setFields(user.id, change))).toEqual({ ...shownUser(user), ...change });

    expect(await findUser(user.id)).toEqual({ ...shownUser(user), ...change });
  });
});

describe('A write of a user', () => {
  /** Sets the version of a user directly in the table. */
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
    const user = await insertedUser();

    const first = await setFields(user.id, { name: 'First' });
    const second = await setFields(user.id, { name: 'Second' });

    expect(await findStoredUser(user.id)).toMatchObject({ version: second.version });
    expect(new Set([user.version, first.version, second.version]).size).toBe(3);
  });

  it('is refused if another write has changed the user since the user was read', async () => {
    const user = await insertedUser();
    await setFields(user.id, { name: 'Early' });

    const late = writeUser(user, { fields: { name: 'Late' } });
    await expect(late).rejects.toThrow(Overtaken);
    const email = uniqueEmail();
    const moved = writeUser(user, { fields: { email } }, emailClaimed(user, email));
    await expect(moved).rejects.toThrow(Overtaken);

    expect(await findUser(user.id)).toMatchObject({ name: 'Early', email: user.email });
  });

  it('fails if its response is lost and another write follows before it is tried again', async () => {
    const user = await insertedUser();
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

describe('A write to a user whom other requests change all the time', () => {
  it('fails in time with the fault Contention', async () => {
    const { id } = await insertedUser();
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
