import { describe, expect, it } from 'vitest';
import { type Account, register, uniqueEmail } from '../support/client.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { expectSoundTable } from '../support/users-table.ts';
import { times } from './at-once.ts';

/** Times that each race is run: one run may go well by chance. */
const rounds = Array.from({ length: 5 }, (_, round) => round + 1);

describe('Resets of a password side by side', async () => {
  const service = await mailingServiceForThisFile({
    SESSION_DAYS: '90',
    LOGIN_FAILURES_PER_ACCOUNT: '0',
  });
  const { api, adminToken, requestToken } = service;

  const reset = async (token: string, password: string) =>
    (await api('PUT', '/api/password-resets', { json: { token, password } })).status;
  const enter = async ({ email }: Pick<Account, 'email'>, password: string) => {
    const { body } = await api('POST', '/api/login', { json: { email, password } });
    return body.token as string | undefined;
  };
  const profile = async (token: string) => (await api('GET', '/api/profile', { token })).status;
  const put = async ({ id }: Account, json: object) =>
    (await api('PUT', `/api/users/${id}`, { token: adminToken, json })).status;

  it.each(rounds)('of five with one link one sets the password, round %i', async () => {
    const user = await register(api);
    const token = await requestToken(user.email);

    const statuses = await times(5, (i) => reset(token, `password ${i}`));

    expect([...statuses].sort()).toEqual([204, 400, 400, 400, 400]);
    const tokens = await times(5, (i) => enter(user, `password ${i}`));
    expect(tokens.map((each) => each !== undefined)).toEqual(
      statuses.map((status) => status === 204),
    );
    expect(await profile(user.token)).toBe(401);
  });

  it.each(rounds)(
    'and a change of the password: the last one that was made stands, round %i',
    async () => {
      const user = await register(api);
      const token = await requestToken(user.email);

      const [ofReset, ofChange] = await Promise.all([
        reset(token, 'by reset'),
        put(user, { password: 'by admin' }),
      ]);

      // A link that the change has overtaken sets nothing.
      expect([ofChange, [204, 400].includes(ofReset)]).toEqual([200, true]);
      expect(await enter(user, 'by admin')).toBeDefined();
      expect(await enter(user, 'by reset')).toBeUndefined();
      expect(await profile(user.token)).toBe(401);
    },
  );

  it.each(rounds)('and a change of the address leave one of both, round %i', async () => {
    const user = await register(api);
    const token = await requestToken(user.email);
    const email = uniqueEmail();

    const [ofReset, ofChange] = await Promise.all([reset(token, 'by reset'), put(user, { email })]);

    expect(ofChange).toBe(200);
    const isReset = ofReset === 204;
    expect(await enter({ email }, isReset ? 'by reset' : user.password)).toBeDefined();
    expect(await enter({ email }, isReset ? user.password : 'by reset')).toBeUndefined();
    expect(await reset(token, 'again')).toBe(400);
  });

  it.each(rounds)('and logins: none of before has a session after it, round %i', async () => {
    const user = await register(api);
    const token = await requestToken(user.email);

    const [entered, status] = await Promise.all([
      times(8, () => enter(user, user.password)),
      reset(token, 'by reset'),
    ]);

    expect(status).toBe(204);
    const tokens = [user.token, ...entered.filter((each) => each !== undefined)];
    expect(new Set(await Promise.all(tokens.map(profile)))).toEqual(new Set([401]));
    expect(await profile((await enter(user, 'by reset')) ?? '')).toBe(200);
  });

  it.each(rounds)('and a deletion leave no user, round %i', async () => {
    const user = await register(api);
    const token = await requestToken(user.email);

    const [status] = await Promise.all([
      reset(token, 'by reset'),
      api('DELETE', `/api/users/${user.id}`, { token: adminToken }),
    ]);

    expect([204, 400]).toContain(status);
    expect(await enter(user, 'by reset')).toBeUndefined();
    await expectSoundTable(service);
  });
});
