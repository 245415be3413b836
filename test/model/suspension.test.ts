import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { outcome, refusal } from '../support/acceptance.ts';
import { type Account, type ApiAnswer, makeUser, uniqueEmail } from '../support/client.ts';
import { promote, sessionIn } from '../support/examples.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { overtake } from '../support/proxy.ts';
import { plantLinkToken } from '../support/reset-tokens.ts';
import { brokenItems, scan } from '../support/stored-items.ts';
import { verificationSettings, verify } from '../support/verification.ts';

const { proxy, service, admin } = await proxiedServiceForThisFile({
  ...verificationSettings.on,
  SESSION_DAYS: '90',
  SELF_DELETION: 'on',
});
const { api, environment } = service;

type Tokens = Required<Pick<Account, 'token' | 'refreshToken'>>;

const ofUser = (method: string, id: number, json?: object, token = admin) =>
  api(method, `/api/users/${id}`, { token, ...(json ? { json } : {}) });
const suspension = (method: 'PUT' | 'DELETE', id: number, token = admin) =>
  api(method, `/api/users/${id}/suspension`, { token });
const enter = ({ email, password }: Pick<Account, 'email' | 'password'>) =>
  api('POST', '/api/login', { json: { email, password } });

/** A user with a session, and a link of each kind. */
let user: Omit<Account, 'token'> & Tokens & { readonly reset: string; readonly address: string };
beforeEach(async () => {
  const made = await makeUser(api, admin);
  const { token, refreshToken } = (await enter(made)).body as Tokens;
  const email = uniqueEmail();
  const asked = { kind: 'address', email, sessionId: sessionIn({ token }) } as const;
  const address = await plantLinkToken(environment, made.id, asked);
  const reset = await plantLinkToken(environment, made.id);
  user = { ...made, token, refreshToken, reset, address };
});

// None stays an admin.
afterEach(() => ofUser('DELETE', user.id));

/** Nothing opens with tokens that were given before the suspension, or meanwhile. */
const expectVoid = async (given: readonly Tokens[]) => {
  for (const { token, refreshToken } of given) {
    expect((await api('GET', '/api/profile', { token })).status).toBe(401);
    expect((await api('POST', '/api/refresh', { json: { refreshToken } })).status).toBe(401);
  }
};

interface Other {
  readonly send: () => Promise<ApiAnswer>;
  readonly operation: 'UpdateItem' | 'TransactWriteItems';
  /** The status when the suspension overtakes it. */
  readonly late: number;
  /** The status when it overtakes the suspension. */
  readonly early: number;
}

const others: Readonly<Record<string, Other>> = {
  'a login': { send: () => enter(user), operation: 'UpdateItem', late: 200, early: 200 },
  'a refresh': {
    send: () => api('POST', '/api/refresh', { json: { refreshToken: user.refreshToken } }),
    operation: 'UpdateItem',
    late: 200,
    early: 200,
  },
  'a change of one’s own password': {
    send: () => {
      const json = { password: 'new', currentPassword: user.password };
      return ofUser('PUT', user.id, json, user.token);
    },
    operation: 'UpdateItem',
    late: 401,
    early: 200,
  },
  'a reset': {
    send: () =>
      api('PUT', '/api/password-resets', { json: { token: user.reset, password: 'new' } }),
    operation: 'TransactWriteItems',
    late: 400,
    early: 204,
  },
  'a verification of another address': {
    send: () => verify(api, user.address, user.password),
    operation: 'TransactWriteItems',
    late: 400,
    early: 204,
  },
  'a promotion': {
    send: () => ofUser('PUT', user.id, { role: 'admin' }),
    operation: 'TransactWriteItems',
    late: 200,
    early: 200,
  },
  'a deletion': {
    send: () => ofUser('DELETE', user.id),
    operation: 'TransactWriteItems',
    late: 204,
    early: 204,
  },
  'a deletion of oneself': {
    send: () => {
      const json = { currentPassword: user.password };
      return api('POST', '/api/account-deletions', { token: user.token, json });
    },
    operation: 'TransactWriteItems',
    late: 401,
    early: 204,
  },
  'another suspension': {
    send: () => suspension('PUT', user.id),
    operation: 'UpdateItem',
    late: 204,
    early: 204,
  },
};

/** After a suspension and another request, of which one overtook the other. */
const expectSuspended = async (other: ApiAnswer) => {
  const given: readonly Tokens[] = [user, ...(other.body?.refreshToken ? [other.body] : [])];
  await expectVoid(given);
  const { status, body } = await ofUser('GET', user.id);
  if (status === 404) return;
  expect(body.suspended_at).toBeTypeOf('string');
  const logins = ['new', user.password].map((password) => enter({ email: body.email, password }));
  const statuses = (await Promise.all(logins)).map((login) => login.status);
  expect(statuses.toSorted()).toEqual([401, 403]);
  expect((await suspension('DELETE', user.id)).status).toBe(204);
  await expectVoid(given);
  expect(brokenItems(await scan(inject('engine'), environment.USERS_TABLE ?? ''))).toEqual([]);
};

describe('A suspension', () => {
  it.each(Object.entries(others))(
    'that overtakes %s leaves no token that opens anything',
    async (_, { send, operation, late }) => {
      const suspend = () => suspension('PUT', user.id);

      const [other, suspended] = await overtake(proxy, operation, send, suspend);

      expect([other.status, suspended.status]).toEqual([late, 204]);
      await expectSuspended(other);
    },
  );

  it.each(Object.entries(others))(
    'that %s overtakes leaves no token that opens anything',
    async (name, { send, early }) => {
      const suspend = () => suspension('PUT', user.id);

      const [suspended, other] = await overtake(proxy, 'UpdateItem', suspend, send);

      const isGone = name.includes('deletion');
      expect([suspended.status, other.status]).toEqual([isGone ? 404 : 204, early]);
      await expectSuspended(other);
    },
  );

  it('of the last admin is refused, when two suspend each other', async () => {
    const other = await promote(api, admin, { ...user });

    const [late, early] = await overtake(
      proxy,
      'TransactWriteItems',
      () => suspension('PUT', 1, other.token),
      () => suspension('PUT', other.id),
    );

    expect(outcome(late)).toEqual(refusal(409, 'The last admin cannot be suspended'));
    expect(early.status).toBe(204);
    expect((await ofUser('GET', 1)).body).not.toHaveProperty('suspended_at');
  });

  it('leaves the last admin, who deletes itself meanwhile', async () => {
    const other = await promote(api, admin, { ...user });
    const json = { currentPassword: service.admin.password };

    const [deletion, suspended] = await overtake(
      proxy,
      'TransactWriteItems',
      () => api('POST', '/api/account-deletions', { token: admin, json }),
      () => suspension('PUT', other.id),
    );

    expect(outcome(deletion)).toEqual(refusal(409, 'The last admin cannot be deleted'));
    expect(suspended.status).toBe(204);
  });

  it('is not lifted by an admin who is suspended meanwhile', async () => {
    const other = await promote(api, admin, { ...(await makeUser(api, admin)), token: '' });
    await suspension('PUT', user.id);

    const [lifted, suspended] = await overtake(
      proxy,
      'TransactWriteItems',
      () => suspension('DELETE', user.id, other.token),
      () => suspension('PUT', other.id),
    );

    expect(outcome(lifted)).toEqual(refusal(403, 'Forbidden'));
    expect(suspended.status).toBe(204);
    expect((await enter(user)).status).toBe(403);
  });
});
