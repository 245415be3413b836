import { beforeAll, expect, it } from 'vitest';
import { suspendUser } from '../../../../lib/options/suspension/suspension.ts';
import { insertUser } from '../../../../lib/users/store.ts';
import { useOwnTables } from '../../../support/own-tables.ts';
import { storedUser } from '../../../support/stored-user.ts';

beforeAll(() => useOwnTables());

it('A user is suspended once, and also where there is no admin', async () => {
  await insertUser(storedUser({ id: 1 }));

  expect([await suspendUser(1), await suspendUser(1)]).toEqual([true, false]);
});
