import { describe, expect, inject, it } from 'vitest';
import { scanUsers } from '../../../infra/operator/commands/export-users.ts';
import { findHolders, importMark } from '../../../infra/operator/import-block.ts';
import { emailItemKey, type StoredUser } from '../../../lib/users/item.ts';
import { allocateUserId, insertUser, userItem } from '../../../lib/users/store.ts';
import { uniqueEmail } from '../../support/client.ts';
import { proxiedTablesForThisFile } from '../../support/own-tables.ts';
import { storedUser } from '../../support/stored-user.ts';
import { writeBatches } from '../../support/write-batches.ts';

const { proxy, users: table } = await proxiedTablesForThisFile();

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
  it('yields every user once with its hash, over more than a page', async () => {
    // Each is two items of the table, of which 500 are read at a time.
    const users = Array.from({ length: 300 }, (_, index) => storedUser({ id: 1000 + index }));
    const items = users.flatMap((user) => [
      userItem(user),
      { ...emailItemKey(user.email), user_id: user.id },
    ]);
    await writeBatches(inject('engine'), table, items);

    expect(await scanned()).toMatchObject(users);
    expect(proxy.requests.length).toBeGreaterThan(1);
    for (const { content } of proxy.requests) expect(content).toContain('"ConsistentRead":true');
  });
});

describe('importMark', () => {
  const none = '.'.repeat(53);

  it('differs between hashes, and does not reveal them', () => {
    const hashes = [`$2b$04$${'a'.repeat(53)}`, `$2b$05$${'a'.repeat(53)}`, `$2b$04$a${none}`];

    const marks = hashes.map(importMark);

    expect(new Set(marks).size).toBe(3);
    for (const mark of marks) expect(mark).toMatch(/^[\w-]{43}$/);
  });

  it('is the same for all users without a hash, at any bcrypt cost', () => {
    const [one, other] = ['04', '12'].map((cost) => importMark(`$2b$${cost}$${none}`));

    expect(other).toBe(one);
    expect(importMark(`$2b$04$a${none.slice(1)}`)).not.toBe(one);
  });
});

describe('findHolders', () => {
  it('returns the user of each address in its place, in any letter case', async () => {
    const [one, other] = [await insert(), await insert()];

    const holders = await findHolders([other.email.toUpperCase(), uniqueEmail(), one.email]);

    expect(holders).toMatchObject([
      { id: other.id, password_hash: other.password_hash },
      undefined,
      { id: one.id, password_hash: one.password_hash },
    ]);
  });
});
