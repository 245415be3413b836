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

it('An identity belongs to a user only as long as the item of the user names the identity too', async () => {
  const issuer = 'https://issuer.example';
  const linked = makeIdentity({ issuer, subject: '1' });
  const unlinked = makeIdentity({ issuer, subject: '2' });
  const user = storedUser({ id: 7, identities: [linked] });
  await insertUser(user);
  await transact(identitiesClaimed(user, [linked, unlinked]).steps ?? []);

  expect(await findUserByIdentity(linked)).toMatchObject(user);
  expect(await findUserByIdentity(unlinked)).toBeUndefined();
});
