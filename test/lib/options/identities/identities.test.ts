import { expect, it } from 'vitest';
import { transact } from '../../../../lib/dynamodb/client.ts';
import {
  findUserByIdentity,
  identitiesClaimed,
  makeIdentity,
} from '../../../../lib/options/identities/identities.ts';
import { insertUser } from '../../../../lib/users/store.ts';
import { useOwnTables } from '../../../support/own-tables.ts';
import { storedUser } from '../../../support/stored-user.ts';

await useOwnTables();

it('An identity is that of a user whose item names it too, and not after it was unlinked', async () => {
  const issuer = 'https://issuer.example';
  const linked = makeIdentity({ issuer, subject: '1' });
  const unlinked = makeIdentity({ issuer, subject: '2' });
  const user = storedUser({ id: 7, identities: [linked] });
  await insertUser(user);
  await transact(identitiesClaimed(user, [linked, unlinked]).steps ?? []);

  expect(await findUserByIdentity(linked)).toMatchObject(user);
  expect(await findUserByIdentity(unlinked)).toBeUndefined();
});
