import { beforeAll, describe, expect, it } from 'vitest';
import { listAdmins } from '../../../lib/users/admins.ts';
import { updateUser } from '../../../lib/users/changes.ts';
import { insertUser } from '../../../lib/users/store.ts';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register, uniqueEmail } from '../../support/client.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { storedUser } from '../../support/stored-user.ts';

// In a process of its own, for its output.
const { api, adminToken: token, output } = await serviceForThisFile({}, {});
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

  it('lists a user whom an update makes an admin, and no longer one whom an update makes a user', async () => {
    await Promise.all([insert(901), insert(905)]);
    const isListed = async (id: number) => (await listAdmins()).some((admin) => admin.id === id);
    expect([await isListed(901), await isListed(905)]).toEqual([true, false]);

    await updateUser(901, { role: 'user' });
    await updateUser(905, { role: 'admin', name: 'Admin' });

    expect([await isListed(901), await isListed(905)]).toEqual([false, true]);
  });
});

describe('The log', () => {
  it('has a line for each user whom the API makes an admin, and for no other change', async () => {
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
    await expect.poll(lines, { timeout: 30_000 }).toEqual(made);
  });
});
