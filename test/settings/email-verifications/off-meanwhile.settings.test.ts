import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { logIn, makeUser, uniqueEmail } from '../../support/client.ts';
import { startTestService } from '../../support/service.ts';
import { verificationSettings } from '../../support/verification.ts';

it('An address that a user takes while EMAIL_VERIFICATION is off is unverified once it is on again', async () => {
  const tables = { USERS_TABLE: `users-${randomUUID()}`, AUDIT_TABLE: `audit-${randomUUID()}` };
  const start = (settings = {}) => startTestService({ ...tables, ...settings });
  const before = await start(verificationSettings.on);
  const token = await logIn(before.api, before.admin);
  const users = [await makeUser(before.api, token), await makeUser(before.api, token)] as const;
  const [taker, keeper] = users;
  await before.stop();
  const meanwhile = await start();
  const email = uniqueEmail();
  const own = await logIn(meanwhile.api, taker);
  await meanwhile.api('PUT', `/api/users/${taker.id}`, { token: own, json: { email } });
  await meanwhile.stop();

  const after = await start(verificationSettings.on);
  const found = await Promise.all(
    [{ ...taker, email }, keeper].map(async (user) => {
      const { body } = await after.api('GET', '/api/profile', {
        token: await logIn(after.api, user),
      });
      return [body.data.email, body.data.email_verified];
    }),
  );
  await after.stop();

  expect(found).toEqual([
    [email, false],
    [keeper.email, true],
  ]);
});
