import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  outcome,
  refusal,
  serviceForThisFile,
  stopClock,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { type Account, logIn, register } from '../../support/client.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';

const service = await serviceForThisFile({ SELF_DELETION: 'on', SESSION_DAYS: '90' });
const { api, adminToken } = service;

const leave = (
  { api }: Pick<typeof service, 'api'>,
  { token, password }: Pick<Account, 'token' | 'password'>,
  headers = {},
) => api('POST', '/api/account-deletions', { token, headers, json: { currentPassword: password } });

const makeAdmin = async (): Promise<Account> => {
  const user = await register(api);
  await api('PUT', `/api/users/${user.id}`, { token: adminToken, json: { role: 'admin' } });
  return { ...user, token: await logIn(api, user) };
};

describe('With SELF_DELETION=on', () => {
  it('users delete themselves; their address is then free, and their tokens are useless', async () => {
    const user = await register(api);
    const agent = uniqueAgent();

    const answer = await leave(service, user, { 'user-agent': agent });

    expect([answer.status, answer.text]).toEqual([204, '']);
    const gone = await api('GET', `/api/users/${user.id}`, { token: adminToken });
    expect(gone.status).toBe(404);
    const profile = await api('GET', '/api/profile', { token: user.token });
    expect(outcome(profile)).toEqual(refusal(401, 'Invalid token'));
    const again = await leave(service, user);
    expect(again.status).toBe(profile.status);
    expect((await register(api, { email: user.email })).id).toBeGreaterThan(user.id);
    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({
        action: 'DELETE',
        resource: 'users',
        result: 'SUCCESS',
        user_id: user.id,
        resource_id: String(user.id),
        // The user's data are recorded only with full detail.
        details: null,
      }),
    ]);
  });

  it('admins delete themselves as long as another user is an admin', async () => {
    const first = await makeAdmin();

    expect((await leave(service, first)).status).toBe(204);
    const last = { token: adminToken, password: service.admin.password };
    const agent = uniqueAgent();
    const refused = await leave(service, last, { 'user-agent': agent });

    expect(outcome(refused)).toEqual(refusal(409, 'The last admin cannot be deleted'));
    expect(refused.headers.get('error-code')).toBe('LAST_ADMIN');
    expect(await entriesOf(service, agent)).toEqual([]);
    expect(await logIn(api, service.admin)).toMatch(/^ey/);
  });

  it('a wrong password deletes nobody, and counts as a failed login', async () => {
    stopClock();
    const user = await register(api);
    const agent = uniqueAgent();
    const wrong = { ...user, password: 'x' };
    for (let i = 0; i < 10; i += 1) {
      const answer = await leave(service, wrong, { 'user-agent': agent });
      expect(outcome(answer)).toEqual(refusal(403, 'Current password is wrong'));
    }

    expect((await leave(service, user)).status).toBe(429);
    expect((await api('POST', '/api/login', { json: user })).status).toBe(429);
    expect((await api('GET', '/api/profile', { token: user.token })).status).toBe(200);
    expect(await entriesOf(service, agent)).toEqual([]);
  });
});

describe('Where the service sends mails, the deletion of an account', async () => {
  const service = await mailingServiceForThisFile({ SELF_DELETION: 'on', SESSION_DAYS: '90' });
  const { api, adminToken, mailbox } = service;

  it.each<[string, (user: Account) => Promise<unknown>, (email: string) => string]>([
    [
      'by its user',
      (user) => leave(service, user),
      (email) => `The account ${email} at app.example.com was deleted on`,
    ],
    [
      'by an admin',
      ({ id }) => api('DELETE', `/api/users/${id}`, { token: adminToken }),
      (email) => `An admin of app.example.com deleted your account ${email} on`,
    ],
  ])('%s is announced by mail', async (_, remove, told) => {
    const user = await register(api);

    await remove(user);

    const [mail] = await mailbox.mailsTo(user.email);
    expect(mail?.subject).toBe('Your account was deleted');
    expect(mail?.text).toContain(told(user.email));
  });
});
