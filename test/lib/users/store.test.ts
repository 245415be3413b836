import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { updateUser } from '../../../lib/users/changes.ts';
import { deleteUser } from '../../../lib/users/deletion.ts';
import { type StoredUser, toUser } from '../../../lib/users/items.ts';
import { hashPassword } from '../../../lib/users/password.ts';
import {
  allocateUserId,
  findStoredUser,
  findUserByEmail,
  insertUser,
  listUsers,
  userItem,
} from '../../../lib/users/store.ts';
import { uniqueEmail } from '../../support/client.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { type EngineProxy, faults, startProxy } from '../../support/proxy.ts';
import { brokenItems, engineClient, scan, usersIn } from '../../support/stored-items.ts';
import { findUser, storedUser } from '../../support/stored-user.ts';
import { writeBatches } from '../../support/write-batches.ts';

let proxy: EngineProxy;
let table: string;
beforeAll(async () => {
  proxy = await startProxy(inject('engine'));
  ({ users: table } = await useOwnTables(proxy.url));
});
beforeEach(() => proxy.impose());
afterAll(() => proxy.stop());

const newUser = async (fields: Partial<StoredUser> = {}): Promise<StoredUser> =>
  storedUser({ id: await allocateUserId(), ...fields });
const inserted = async (): Promise<StoredUser> => {
  const user = await newUser();
  await insertUser(user);
  return user;
};
const shown = ({ password_hash: _, ...user }: StoredUser) => user;
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

    expect(await findUserByEmail(present.email)).toEqual(present);
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

    expect(await findUserByEmail(user.email)).toEqual(user);
  });

  it('still deletes the user', async () => {
    const { id } = await inserted();
    losing('TransactWriteItems');

    await deleteUser(id);

    expect(await findUser(id)).toBeUndefined();
  });

  it('still gives the user another address', async () => {
    const user = await inserted();
    const email = uniqueEmail();
    losing('TransactWriteItems');

    expect((await updateUser(user.id, { email, name: 'Moved' })).after).toMatchObject({ email });

    expect(await findUserByEmail(user.email)).toBeUndefined();
    expect(await findUserByEmail(email)).toMatchObject({ name: 'Moved' });
  });

  it('still changes the user', async () => {
    const user = await inserted();
    const change = { email: user.email.toUpperCase(), name: 'Changed', role: 'admin' } as const;
    losing('UpdateItem');

    const { after } = await updateUser(user.id, change);
    expect(toUser({ ...after })).toEqual({ ...shown(user), ...change });

    expect(await findUser(user.id)).toEqual({ ...shown(user), ...change });
  });
});

describe('A change with a permission that depends on what was read', () => {
  /** Changes a field of the user as another writer does, after the permission was checked. */
  const overwrite = (id: number, field: string, value: string | number) =>
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: { pk: `user#${id}` },
        UpdateExpression: 'SET #field = :value',
        ExpressionAttributeNames: { '#field': field },
        ExpressionAttributeValues: { ':value': value },
      }),
    );

  it.each([
    ['email', 'other@example.org', 'CURRENT_PASSWORD_REQUIRED'],
    ['made_by', 2, 'FORBIDDEN'],
  ] as const)('is refused when its %s has changed', async (field, value, ended) => {
    const user = await inserted();
    await overwrite(user.id, field, value);

    const permission = { user, endsWith: { [field]: ended } };
    const change = updateUser(user.id, { name: 'Late' }, { permission });

    await expect(change).rejects.toEqual(code(ended));
    expect(await findUser(user.id)).toMatchObject({ name: user.name });
    await overwrite(user.id, field, user[field] ?? 0);
  });

  it('is made when another field has changed', async () => {
    const user = await inserted();
    await overwrite(user.id, 'name', 'Early');

    const permission = { user, endsWith: { made_by: 'FORBIDDEN' } } as const;
    const { before } = await updateUser(user.id, { name: 'Late' }, { permission });

    expect(before.name).toBe('Early');
    expect(await findUser(user.id)).toMatchObject({ name: 'Late' });
  });

  it('is made with a new hash of the same password, and refused with one of another', async () => {
    const user = await inserted();
    const permission = { user, endsWith: {}, currentPassword: 'the password' };
    const change = (name: string) => updateUser(user.id, { name }, { permission });

    await overwrite(user.id, 'password_hash', await hashPassword('the password'));
    expect((await change('First')).after.name).toBe('First');

    await overwrite(user.id, 'password_hash', await hashPassword('another one'));
    await expect(change('Second')).rejects.toEqual(code('CURRENT_PASSWORD_WRONG'));
    expect(await findUser(user.id)).toMatchObject({ name: 'First' });
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
    const update = updateUser(id, { name: 'Never' });

    await expect(update).rejects.toMatchObject({
      code: 'STORAGE_FAULT',
      cause: { name: 'Contention' },
    });
    vi.unstubAllGlobals();
  });
});

describe('listUsers', () => {
  const walk = async (limit: number, order?: 'asc' | 'desc') => {
    const ids: number[] = [];
    let after: string | undefined;
    for (let pages = 0; pages < 1000; pages += 1) {
      const page = await listUsers({ limit, after, order });
      ids.push(...page.users.map(({ id }) => id));
      after = page.next;
      if (after === undefined) return ids;
    }
    throw new Error('The list has no end');
  };

  it('yields every user once, oldest first, and those of one millisecond by id; or the reverse', async () => {
    const created_at = new Date(0).toISOString();
    for (let i = 0; i < 5; i += 1) await insertUser(await newUser({ created_at }));
    await Promise.all(Array.from({ length: 5 }, inserted));
    const users = usersIn(await scan(inject('engine'), table)) as unknown as StoredUser[];
    const oldestFirst = (a: StoredUser, b: StoredUser) =>
      a.created_at === b.created_at ? a.id - b.id : a.created_at < b.created_at ? -1 : 1;

    for (const limit of [1, 4, 100]) {
      const ids = users.toSorted(oldestFirst).map(({ id }) => id);
      expect(await walk(limit)).toEqual(ids);
      expect(await walk(limit, 'desc')).toEqual(ids.reverse());
    }
  });

  it('returns without a limit what one read of the index returns, which fits into a response', async () => {
    const { users: ownTable } = await useOwnTables(proxy.url);
    // What takes the most room in JSON beside the room that it takes in the table.
    const longest = (i: number) => ({
      name: '\u0001'.repeat(100),
      email: `${'"'.repeat(180)}@${i}`,
      created_at: new Date(i).toISOString(),
    });
    const ids = Array.from({ length: 2600 }, (_, i) => i + 1);
    const items = ids.map((id) => userItem(storedUser({ id, ...longest(id) })));
    await writeBatches(inject('engine'), ownTable, items);
    proxy.forget();

    const first = await listUsers({});
    const second = await listUsers({ after: first.next });

    expect(proxy.requests).toHaveLength(2);
    expect(first.users.length).toBeGreaterThan(1000);
    expect([...first.users, ...second.users].map(({ id }) => id)).toEqual(ids);
    expect(second.next).toBeUndefined();
    // Lambda sends the body of a response as text in JSON.
    const response = JSON.stringify({ body: JSON.stringify(first.users) });
    expect(Buffer.byteLength(response)).toBeLessThan(6_000_000);
  });
});

describe('The users table', () => {
  it('is consistent after all these tests', async () => {
    expect(brokenItems(await scan(inject('engine'), table))).toEqual([]);
  });
});
