/** An app of which an admin sets the plan of a user, and another service that reads the claim of the token. */
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { expect, it } from 'vitest';
import { createClient } from '../../functions/client/index.ts';
import { verifyToken } from '../../functions/client/verify.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { newAccount } from '../support/verification.ts';

interface Declared {
  readonly plan?: 'free' | 'pro';
}

const { url, admin } = await serviceForThisFile({
  SESSION_DAYS: '90',
  TOKEN_SIGNING: 'RS256',
  USER_ATTRIBUTES: JSON.stringify([
    { name: 'locale', type: 'text', writer: 'user' },
    { name: 'plan', type: 'choice', choices: ['free', 'pro'], token: true },
  ]),
});

it('An attribute that an admin sets is a claim of the next token, for the app and for other services', async () => {
  const [app, desk] = [createClient<Declared>({ url }), createClient({ url })];
  await desk.logIn(admin);
  const account = newAccount();
  await app.register({ ...account, attributes: { locale: 'de' } });
  const id = app.user?.id ?? 0;
  const path = { id };
  expect(app.user).not.toHaveProperty('plan');

  const body = { attributes: { plan: 'pro' } };
  await desk.api.PUT('/api/users/{id}', { params: { path }, body });

  expect(app.user).not.toHaveProperty('plan');
  const token = String(await app.getToken({ renew: true }));
  expect(app.user).toMatchObject({ id, plan: 'pro' });
  expect((await verifyToken<Declared>(token, { url })).data).toMatchObject({ id, plan: 'pro' });
  const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`));
  expect((await jwtVerify(token, keys)).payload).toMatchObject({ id, 'attr:plan': 'pro' });
  expect((await app.getProfile()).data?.attributes).toEqual({ locale: 'de', plan: 'pro' });
});
