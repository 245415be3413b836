import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import type { Account, ApiAnswer } from '../support/client.ts';
import { mailSettings, verifyUrl } from '../support/mailbox.ts';
import { newPasskey, passkeyClient, passkeySettings } from '../support/passkeys.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { faults, overtake } from '../support/proxy.ts';
import { plantLinkToken, registerVerified } from '../support/reset-tokens.ts';
import { count, times } from './at-once.ts';

const { proxy, service } = await proxiedServiceForThisFile({
  ...passkeySettings,
  ...mailSettings,
  EMAIL_VERIFICATION: 'on',
  VERIFY_URL: verifyUrl,
});
const { api } = service;
const { add, list, loginOptions, optionsFor, remove, send, signIn } = passkeyClient(api);

const newUser = () => registerVerified(service);

/** A request that adds a passkey, with options that were made before. */
const addingTo = async ({ token, password: currentPassword }: Account, passkey = newPasskey()) => {
  const { body } = await optionsFor(token, { currentPassword });
  const json = { credential: passkey.make(body) };
  return () => api('POST', '/api/passkeys', { token, json });
};

describe('A passkey', () => {
  it('is added to only one of ten accounts that ask for it at once', async () => {
    const passkey = newPasskey();
    const users = await times(10, newUser);
    const requests = await Promise.all(users.map((user) => addingTo(user, passkey)));

    const answers = await Promise.all(requests.map((request) => request()));

    expect([count(answers, 201), count(answers, 409)]).toEqual([1, 9]);
    const lists = await Promise.all(users.map(({ token }) => list(token)));
    expect(lists.flatMap(({ body }) => body.data)).toHaveLength(1);
    const at = answers.findIndex(({ status }) => status === 201);
    const { user_handle: userHandle } = lists[at]?.body ?? {};
    const login = await signIn(passkey, { userHandle });
    expect(decodeJwt(login.body.token).id).toBe(users[at]?.id);
  });

  it.each([
    ['resets the password', 'reset', 401],
    ['is suspended', 'suspension', 401],
    ['gets a new password from an admin', 'password', 401],
    ['is deleted', 'deletion', 404],
  ])('is not added to a user who meanwhile %s', async (_, what, refused) => {
    const [user, passkey] = [await newUser(), newPasskey()];
    const request = await addingTo(user, passkey);
    const token = await plantLinkToken(service.environment, user.id);
    const asAdmin = { token: service.adminToken };
    const ofUser = `/api/users/${user.id}`;
    const events: Readonly<Record<string, () => Promise<ApiAnswer>>> = {
      reset: () => api('PUT', '/api/password-resets', { json: { token, password: 'another' } }),
      suspension: () => api('PUT', `${ofUser}/suspension`, asAdmin),
      password: () => api('PUT', ofUser, { ...asAdmin, json: { password: 'another' } }),
      deletion: () => api('DELETE', ofUser, asAdmin),
    };

    const [added, ended] = await overtake(
      proxy,
      'TransactWriteItems',
      request,
      events[what] as () => Promise<ApiAnswer>,
    );
    proxy.impose();

    expect([added.status, ended.status < 300]).toEqual([refused, true]);
    expect((await signIn(passkey)).headers.get('error-code')).toBe('PASSKEY_UNKNOWN');
  });

  it('that is removed during its logins leaves no session open', async () => {
    const user = await newUser();
    const { passkey, id } = await add(user);
    const credentials = await times(10, async () => passkey.use(await loginOptions()));

    const [removed, ...answers] = await Promise.all([
      remove(user.token, id, { currentPassword: user.password }),
      ...credentials.map((credential) => send(credential)),
    ]);

    expect(removed.status).toBe(204);
    const tokens = answers.flatMap(({ body: { token } }) => (token ? [token] : []));
    const profiles = await Promise.all(
      tokens.map((token) => api('GET', '/api/profile', { token })),
    );
    expect(count(profiles, 401)).toBe(tokens.length);
  });

  it('that is removed before a login uses up its challenge is unknown to this login', async () => {
    const user = await newUser();
    const { passkey, id } = await add(user);
    const credential = passkey.use(await loginOptions());

    const [login, removed] = await overtake(
      proxy,
      'PutItem',
      () => send(credential),
      () => remove(user.token, id, { currentPassword: user.password }),
    );
    proxy.impose();

    expect([login.status, removed.status]).toEqual([401, 204]);
    expect(login.headers.get('error-code')).toBe('PASSKEY_UNKNOWN');
  });

  it.each(['lose', 'truncate'] as const)(
    'lets its user log in although the response to a write is lost: %s',
    async (fault) => {
      const { passkey } = await add(await newUser());
      for (const [counter, operation] of [
        [1, 'PutItem'],
        [2, 'UpdateItem'],
      ] as const) {
        const credential = passkey.use(await loginOptions(), { counter });
        proxy.impose({ fault: faults[fault], operation, times: 1 });

        const { status } = await send(credential);
        proxy.impose();

        expect(status).toBe(200);
      }
    },
  );
});
