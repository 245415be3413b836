import { describe, expect, inject, it } from 'vitest';
import { having, isListed, listUsers, matching } from '../../../lib/users/list.ts';
import { userItem } from '../../../lib/users/store.ts';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register, uniqueEmail } from '../../support/client.ts';
import { proxiedTablesForThisFile, useOwnTables } from '../../support/own-tables.ts';
import { storedUser } from '../../support/stored-user.ts';
import { writeBatches } from '../../support/write-batches.ts';

// The service runs in a process of its own, so that its output can be read.
const { api, adminToken: token, output } = await serviceForThisFile({}, {});
const { proxy } = await proxiedTablesForThisFile();

describe('listUsers', () => {
  const walk = async (limit: number, order: 'asc' | 'desc' = 'asc') => {
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

  it('yields every user once by time and then by id, in either order', async () => {
    const { users: ownTable } = await useOwnTables(proxy.url);
    const time = (id: number) => new Date(id > 5 ? 0 : id).toISOString();
    const ids = [6, 7, 8, 9, 10, 1, 2, 3, 4, 5];
    const items = ids.map((id) => userItem(storedUser({ id, created_at: time(id) })));
    await writeBatches(inject('engine'), ownTable, items);

    for (const limit of [1, 4, 100]) {
      expect(await walk(limit)).toEqual(ids);
      expect(await walk(limit, 'desc')).toEqual(ids.toReversed());
    }
  });

  it('returns all users of one read of the index if there is no limit, and they fit into a response', async () => {
    const { users: ownTable } = await useOwnTables(proxy.url);
    // Values that take the most bytes in JSON in proportion to their bytes in the table.
    const longest = (i: number) => ({
      name: '\u0001'.repeat(100),
      email: `${'"'.repeat(180)}@${i}`,
      created_at: new Date(i).toISOString(),
    });
    const ids = Array.from({ length: 2600 }, (_, i) => i + 1);
    const items = ids.map((id) => userItem(storedUser({ id, ...longest(id) })));
    await writeBatches(inject('engine'), ownTable, items);
    proxy.forget();

    const first = await listUsers({ order: 'asc' });
    const second = await listUsers({ order: 'asc', after: first.next });

    expect(proxy.requests).toHaveLength(2);
    expect(first.users.length).toBeGreaterThan(1000);
    expect([...first.users, ...second.users].map(({ id }) => id)).toEqual(ids);
    expect(second.next).toBeUndefined();
    // Lambda sends the body of a response as a text in JSON.
    const response = JSON.stringify({ body: JSON.stringify(first.users) });
    expect(Buffer.byteLength(response)).toBeLessThan(6_000_000);
  });
});

describe('having', () => {
  it.each([
    ['Ada Lovelace', 'ADA', true],
    ['Ada Lovelace', 'a l', true],
    ['Ada Lovelace', 'lovelace ada', false],
    ['Straße', 'STRASSE', true],
    ['STRASSE', 'ẞ', true],
    // A small sigma at the end of a word has another form.
    ['ΟΔΥΣΣΕΑΣ', 'οδυσ', true],
    ['Οδυσσέας', 'ΣΈΑΣ', true],
    ['Zo\u0065\u0308', 'ZOË', true],
    ['Ǆungla', 'ǆ', true],
    ['İstanbul', 'i̇stan', true],
    ['50% off', '50%', true],
    ['5000 off', '50%', false],
    ['a.b', 'a*', false],
    ['axb', 'a.b', false],
  ])('finds in the name %j the part %j: %j', (name, part, expected) => {
    const users = [
      { name, email: 'x@x' },
      { name: 'x', email: `${name}@x` },
    ];
    expect(users.map(having(part))).toEqual([expected, expected]);
  });
});

describe('A filter of the list', () => {
  const plain = storedUser({ id: 1, email_verified: true });
  const people = {
    plain,
    unverified: { ...plain, email_verified: false },
    registered: { ...plain, email_verified: undefined },
    invited: { ...plain, invited_until: new Date(0).toISOString() },
    suspended: { ...plain, suspended_at: new Date().toISOString() },
    auditor: { ...plain, auditor: true },
    revoked: { ...plain, auditor: false },
    suspendedAuditor: { ...plain, suspended_at: new Date().toISOString(), auditor: true },
  };

  it.each([
    [{ status: 'unverified' }, ['unverified', 'registered']],
    [{ status: 'invited' }, ['invited']],
    [{ status: 'suspended' }, ['suspended', 'suspendedAuditor']],
    [{ auditor: 'true' }, ['auditor', 'suspendedAuditor']],
    [{ auditor: 'true', status: 'suspended' }, ['suspendedAuditor']],
    [{ auditor: 'true', search: 'nobody' }, []],
    [{ status: 'invited', search: plain.email }, ['invited']],
  ] as const)('selects with %j: %j', (filter, expected) => {
    const those = Object.entries(people);

    const matched = those.filter(([, user]) => matching(filter)?.(user)).map(([name]) => name);
    const listed = those.filter(([, user]) => isListed(user, filter)).map(([name]) => name);

    expect([matched, listed]).toEqual([expected, expected]);
  });

  it('needs no walk through the list by role and address alone', () => {
    expect(matching({ role: 'admin', email: plain.email })).toBeUndefined();
  });
});

describe('A search', () => {
  it('reads the list once per page, whatever the limit is, and finds each user once', async () => {
    const { users: ownTable } = await useOwnTables(proxy.url);
    // The list takes three reads; the users who are found are in the first and in the last read.
    const wanted = [1, 2, 2599, 2600, 5000];
    const items = Array.from({ length: 5000 }, (_, i) => i + 1).map((id) =>
      userItem(
        storedUser({
          id,
          name: wanted.includes(id) ? 'Wanted' : 'x'.repeat(100),
          email: `${'y'.repeat(180)}@${id}`,
          created_at: new Date(id).toISOString(),
        }),
      ),
    );
    await writeBatches(inject('engine'), ownTable, items);

    const walk = async (limit: number | undefined) => {
      const pages: number[][] = [];
      let after: string | undefined;
      do {
        const page = await listUsers({ matches: having('wanted'), order: 'asc', limit, after });
        pages.push(page.users.map(({ id }) => id));
        after = page.next;
      } while (after !== undefined && pages.length < 100);
      return pages;
    };
    for (const limit of [undefined, 1, 2]) {
      proxy.forget();
      const pages = await walk(limit);

      expect(pages.flat()).toEqual(wanted);
      expect(proxy.requests).toHaveLength(pages.length);
      expect(pages.length).toBeLessThan(9);
    }
  });
});

describe('The log', () => {
  it('has a line for each user who becomes an admin through the API, and for no other change', async () => {
    const put = (id: number, json: object) => api('PUT', `/api/users/${id}`, { token, json });
    const post = (role: string) => {
      const json = { name: 'n', email: uniqueEmail(), password: 'p', role };
      return api('POST', '/api/users', { token, json });
    };

    const plain = await post('user');
    const created = await post('admin');
    const { id } = await register(api);
    await put(plain.body.id, { name: 'Other' });
    await put(created.body.id, { role: 'admin' });
    const promoted = await put(id, { role: 'admin' });
    await put(created.body.id, { role: 'user' });
    await put(plain.body.id, { role: 'user' });
    const last = await put(created.body.id, { role: 'admin' });

    const made = [created, promoted, last].map(({ body, headers }) => ({
      level: 'warn',
      event: 'admin-made',
      requestId: headers.get('x-request-id'),
      user_id: body.id,
      by: 1,
    }));
    const lines = () =>
      output()
        .split('\n')
        .filter((line) => line.includes('admin-made'))
        .map((line) => JSON.parse(line));
    await expect.poll(lines).toEqual(made);
  });
});
