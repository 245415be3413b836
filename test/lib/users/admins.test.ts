import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { listAdmins } from '../../../lib/users/admins.ts';
import { insertUser } from '../../../lib/users/store.ts';
import { uniqueEmail } from '../../client.ts';
import { useOwnTables } from '../own-tables.ts';

beforeAll(() => useOwnTables());

const insert = (id: number) =>
  insertUser({
    id,
    name: 'Some One',
    email: uniqueEmail(),
    role: id % 5 ? 'admin' : 'user',
    created_at: new Date(1_800_000_000_000 + id).toISOString(),
    password_hash: randomUUID(),
  });

describe('listAdmins', () => {
  it('is every admin, oldest first, over several pages, and no user', async () => {
    const ids = Array.from({ length: 260 }, (_, i) => i + 1);
    for (const id of ids) await insert(id);

    const listed = (await listAdmins()).map(({ id }) => id);

    expect(listed).toEqual(ids.filter((id) => id % 5));
  });
});
