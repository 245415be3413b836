import { beforeAll, describe, expect, it } from 'vitest';
import type { StoredUser } from '../../../lib/users/items.ts';
import { allocateUserId, insertUser } from '../../../lib/users/store.ts';
import { findHolders, scanUsers } from '../../../lib/users/transfer.ts';
import { uniqueEmail } from '../../support/client.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { storedUser } from './stored-user.ts';

beforeAll(async () => void (await useOwnTables()));

const insert = async (): Promise<StoredUser> => {
  const user = storedUser({ id: await allocateUserId() });
  await insertUser(user);
  return user;
};

const scanned = async (): Promise<StoredUser[]> => {
  const users: StoredUser[] = [];
  for await (const page of scanUsers()) users.push(...page);
  return users.sort((a, b) => a.id - b.id);
};

describe('scanUsers', () => {
  it('yields nobody of an empty table', async () => {
    expect(await scanned()).toEqual([]);
  });

  it('yields every user once with its hash, and nothing else, over more than a page', async () => {
    // Each is two items of the table, of which 500 are read at a time.
    const users: StoredUser[] = [];
    for (let i = 0; i < 300; i += 1) users.push(await insert());

    expect(await scanned()).toEqual(users);
  });
});

describe('findHolders', () => {
  it('finds each holder in its place, in whatever letter case', async () => {
    const [one, other] = [await insert(), await insert()];

    const holders = await findHolders([other.email.toUpperCase(), uniqueEmail(), one.email]);

    expect(holders).toMatchObject([
      { id: other.id, password_hash: other.password_hash },
      undefined,
      { id: one.id, password_hash: one.password_hash },
    ]);
  });

  it('finds none where nobody holds an address', async () => {
    expect(await findHolders([uniqueEmail(), uniqueEmail()])).toEqual([undefined, undefined]);
  });
});
