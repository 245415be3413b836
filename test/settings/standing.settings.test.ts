import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { type Account, type ApiClient, logIn, register } from '../support/client.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { passkeySettings } from '../support/passkeys.ts';
import { plantLinkToken } from '../support/reset-tokens.ts';
import { enrol } from '../support/second-factor.ts';

const settings = {
  ...passkeySettings,
  SECOND_FACTOR_LOCAL_KEY: randomBytes(32).toString('base64'),
  ADMIN_PASSWORD: 'the password of the admin',
};
/** One service with two values of the setting SECOND_FACTOR: `admins`, and off. */
const strict = await mailingServiceForThisFile({ ...settings, SECOND_FACTOR: 'admins' });
const { USERS_TABLE = '', AUDIT_TABLE = '' } = strict.environment;
const lax = await serviceForThisFile({ ...settings, USERS_TABLE, AUDIT_TABLE });

const required = refusal(403, 'Second factor required');
const roleIn = (token: string) => decodeJwt(token).role;
const trail = (token: string, api: ApiClient = strict.api) =>
  api('GET', '/api/admin/audit-logs', { token });

const newAdmin = async (): Promise<Account> => {
  const user = await register(lax.api);
  const json = { role: 'admin' };
  expect(
    (await lax.api('PUT', `/api/users/${user.id}`, { token: lax.adminToken, json })).status,
  ).toBe(200);
  return user;
};
/** An admin who has TOTP. */
const newHolder = async () => {
  const { refreshToken: _, ...user } = await newAdmin();
  return { ...user, ...(await enrol(strict.api, user)) };
};
type Tokens = Readonly<Record<'token' | 'refreshToken', string>>;
/** Begins a session by a password alone. */
const begin = async (api: ApiClient, { email, password }: Account): Promise<Tokens> =>
  (await api('POST', '/api/login', { json: { email, password } })).body;
const refresh = async (api: ApiClient, refreshToken: string): Promise<Tokens> =>
  (await api('POST', '/api/refresh', { json: { refreshToken } })).body;

describe('An admin who has no second factor yet, where admins need one,', () => {
  it('gets tokens with the role `user`, and the role `admin` by a refresh in the session that enrols', async () => {
    const admin = await newAdmin();
    const { token, refreshToken } = await begin(strict.api, admin);

    const before = outcome(await trail(token));
    await enrol(strict.api, { ...admin, token });

    expect([roleIn(token), before]).toEqual(['user', required]);
    // The service allows this at once, without a new token.
    expect((await trail(token)).status).toBe(200);
    expect(roleIn((await refresh(strict.api, refreshToken)).token)).toBe('admin');
  });

  it('is shown the stored role by the profile', async () => {
    const { token } = await begin(strict.api, await newAdmin());

    const { body } = await strict.api('GET', '/api/profile', { token });

    expect(body.data.role).toBe('admin');
  });
});

describe('A session that an admin began by a password alone, before SECOND_FACTOR became `admins`,', () => {
  it.each([
    ['who has TOTP', newHolder],
    ['who has no factor', newAdmin],
  ])('gives an admin %s only the role `user` until SECOND_FACTOR is off again', async (_, make) => {
    const admin = await make();
    const other = await register(lax.api);
    const { token, refreshToken } = await begin(lax.api, admin);
    const promote = { token, json: { role: 'admin' } };

    const refused = [
      await trail(token),
      await strict.api('PUT', `/api/users/${other.id}`, promote),
    ];
    const next = await refresh(strict.api, refreshToken);
    const again = await refresh(lax.api, next.refreshToken);

    expect(refused.map(outcome)).toEqual([required, required]);
    expect([token, next.token, again.token].map(roleIn)).toEqual(['admin', 'user', 'admin']);
    expect(outcome(await trail(again.token))).toEqual(required);
    expect((await trail(again.token, lax.api)).status).toBe(200);
  });
});

describe('A thief who sets the password of an admin by a mailed link, but has no TOTP code,', () => {
  it('cannot become an admin by a session that began while SECOND_FACTOR was off', async () => {
    const { id, email, secret: _, ...admin } = await newHolder();
    const other = await newHolder();
    const link = await plantLinkToken(strict.environment, id);
    const password = 'a password of the thief';
    await strict.api('PUT', '/api/password-resets', { json: { token: link, password } });
    const thief = { ...admin, id, email, password };
    const byReset = await strict.api('POST', '/api/login', { json: { email, password } });
    const { token, refreshToken } = await begin(lax.api, thief);
    const confirmed = { currentPassword: password };
    const send = (method: string, path: string, json: object = confirmed) =>
      strict.api(method, path, { token, json });

    const tried = [
      await send('POST', '/api/second-factor'),
      await send('PUT', '/api/second-factor', { code: '123456' }),
      await send('POST', '/api/second-factor/removals', { ...confirmed, code: '123456' }),
      await send('POST', '/api/second-factor/recovery-codes', { ...confirmed, code: '123456' }),
      await send('POST', '/api/passkeys/options'),
      await send('POST', '/api/passkeys/options', { ...confirmed, code: '123456' }),
      await send('DELETE', `/api/users/${other.id}/second-factor`),
      await send('DELETE', `/api/users/${id}/second-factor`),
      await send('PUT', `/api/users/${id}`, { role: 'admin' }),
      await send('PUT', `/api/users/${other.id}`, { password }),
      await send('POST', '/api/users', {
        name: 'n',
        email: 'n@example.org',
        password,
        role: 'admin',
      }),
      await send('POST', `/api/users/${other.id}/invitations`),
    ];
    const changed = await send('PUT', `/api/users/${id}`, { password: 'another', ...confirmed });
    const next = await refresh(strict.api, refreshToken);

    expect(outcome(byReset)).toEqual(refusal(401, 'Code required'));
    expect(tried.map(outcome)).toEqual([
      refusal(409, 'Second factor already enabled'),
      refusal(409, 'Second factor already enabled'),
      refusal(403, 'Invalid code'),
      refusal(403, 'Invalid code'),
      refusal(400, 'Code is required'),
      refusal(403, 'Invalid code'),
      required,
      refusal(403, 'Forbidden'),
      required,
      required,
      required,
      required,
    ]);
    expect(changed.status).toBe(200);
    expect([roleIn(next.token), outcome(await trail(next.token))]).toEqual(['user', required]);
    expect(
      await strict.api('POST', '/api/login', { json: { email, password: 'another' } }),
    ).toMatchObject({ status: 401 });
  });
});

it('An admin who logs in with a recovery code gets tokens with the role `admin`', async () => {
  const { recoveryCodes, ...admin } = await newHolder();

  const token = await logIn(strict.api, { ...admin, code: recoveryCodes[0] });

  expect([roleIn(token), (await trail(token)).status]).toEqual(['admin', 200]);
});
