import { beforeAll, describe, expect, it } from 'vitest';
import { listAdmins } from '../../../lib/users/admins.ts';
import { insertUser } from '../../../lib/users/store.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { setFields, storedUser } from '../../support/stored-user.ts';

beforeAll(() => useOwnTables());

const insert = (id: number) =>
  insertUser(
    storedUser({
      id,
      role: id % 5 ? 'admin' : 'user',
      created_at: new Date(1_800_000_000_000 + id).toISOString(),
    }),
  );

describe('listAdmins', () => {
  it('returns all admins and no other users, oldest first, over several pages', async () => {
    const ids = Array.from({ length: 260 }, (_, i) => i + 1);
    for (const id of ids) await insert(id);

    const listed = (await listAdmins()).map(({ id }) => id);

    expect(listed).toEqual(ids.filter((id) => id % 5));
  });

  it('lists a user once an update has given the role admin, and omits the user once an update has taken it away', async () => {
    await Promise.all([insert(901), insert(905)]);
    const isListed = async (id: number) => (await listAdmins()).some((admin) => admin.id === id);
    expect([await isListed(901), await isListed(905)]).toEqual([true, false]);

    await setFields(901, { role: 'user' });
    await setFields(905, { role: 'admin', name: 'Admin' });

    expect([await isListed(901), await isListed(905)]).toEqual([false, true]);
  });

  it('leaves out an admin who is suspended, until the suspension is lifted', async () => {
    await insert(911);
    const isListed = async () => (await listAdmins()).some(({ id }) => id === 911);

    await setFields(911, { suspended_at: new Date().toISOString() });
    expect(await isListed()).toBe(false);

    await setFields(911, { suspended_at: undefined });
    expect(await isListed()).toBe(true);
  });
});
