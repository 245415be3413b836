import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../support/acceptance.ts';
import { type Account, logIn, makeUser, register, uniqueEmail } from '../support/client.ts';

const required = refusal(400, 'Current password is required');
const wrong = refusal(403, 'Current password is wrong');

const service = await serviceForThisFile({ SESSION_DAYS: '90', LOGIN_FAILURES_PER_ADDRESS: '0' });
const { api, admin, adminToken } = service;
const change = ({ id }: Pick<Account, 'id'>, json: object, token: string, headers = {}) =>
  api('PUT', `/api/users/${id}`, { token, json, headers });

const changes = [
  ['password', () => ({ password: 'another one' })],
  ['address', () => ({ email: uniqueEmail() })],
  ['address in its letter case', ({ email }: Account) => ({ email: email.toUpperCase() })],
] as const;

describe('Where there are sessions,', () => {
  it.each(changes)(
    'a user does not change its %s without its current password',
    async (_name, json) => {
      const user = await register(api);

      const answer = await change(user, json(user), user.token);

      expect(outcome(answer)).toEqual(required);
      expect(await logIn(api, user)).toMatch(/^ey/);
    },
  );

  it.each(changes)(
    'a user does not change its %s with a wrong current password',
    async (_name, json) => {
      const user = await register(api);
      const agent = uniqueAgent();

      const answer = await change(user, { ...json(user), currentPassword: 'x' }, user.token, {
        'user-agent': agent,
      });

      expect(outcome(answer)).toEqual(wrong);
      expect(await logIn(api, user)).toMatch(/^ey/);
      expect(await entriesOf(service, agent)).toEqual([]);
    },
  );

  it('a user changes the name, or sends the address back unchanged, without the current password', async () => {
    const user = await register(api);

    const { status } = await change(user, { name: 'New', email: ` ${user.email} ` }, user.token);

    expect(status).toBe(200);
  });

  it('admins need the current password to change their own account, not for others', async () => {
    const user = await register(api);
    const json = { password: 'another one', email: uniqueEmail() };

    expect((await change(user, json, adminToken)).status).toBe(200);
    expect(outcome(await change({ id: 1 }, json, adminToken))).toEqual(required);
    expect(await logIn(api, admin)).toMatch(/^ey/);
  });

  it('a user who made another one changes that one without the current password', async () => {
    const { token } = await register(api);
    const made = await makeUser(api, token);
    const json = { password: 'another one', email: uniqueEmail() };

    expect((await change(made, json, token)).status).toBe(200);
  });

  it('wrong current passwords count as failed logins, and make logins and changes wait', async () => {
    const user = await register(api);
    const json = { password: 'another one', currentPassword: 'x' };
    for (let i = 0; i < 10; i += 1) {
      expect(outcome(await change(user, json, user.token))).toEqual(wrong);
    }

    const right = await change(user, { ...json, currentPassword: user.password }, user.token);
    const login = await api('POST', '/api/login', { json: user });

    const wait = refusal(429, 'Too many attempts, please try again later');
    expect([outcome(right), outcome(login)]).toEqual([wait, wait]);
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
    // What needs no password waits for nothing.
    expect((await change(user, { name: 'New' }, user.token)).status).toBe(200);
  });

  it('a body with nothing but the current password changes nothing: 400', async () => {
    const user = await register(api);

    const answer = await change(user, { currentPassword: user.password }, user.token);

    expect(outcome(answer)).toEqual(refusal(400, 'No fields to update'));
  });

  it('a body that breaks another rule is refused for that first, and is not counted', async () => {
    const user = await register(api);

    const answer = await change(user, { password: 1, currentPassword: 'x' }, user.token);

    expect(outcome(answer)).toEqual(refusal(400, 'password must be a string'));
  });

  it('a wrong current password is reported before an address that is taken', async () => {
    const [user, other] = [await register(api), await register(api)];
    const json = { email: other.email, currentPassword: 'x' };

    expect(outcome(await change(user, json, user.token))).toEqual(wrong);
    expect(
      outcome(await change(user, { ...json, currentPassword: user.password }, user.token)),
    ).toEqual(refusal(409, 'Email already registered'));
  });
});
