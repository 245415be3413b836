import { describe, expect, inject, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { logIn, makeUser, uniqueEmail } from '../support/client.ts';
import { sessionIn } from '../support/examples.ts';
import { plantLinkToken } from '../support/reset-tokens.ts';
import { brokenItems, scan } from '../support/stored-items.ts';
import {
  newAccount,
  sendRegistration,
  verificationSettings,
  verify,
} from '../support/verification.ts';

/** Times that each race is run: one run may go well by chance. */
const rounds = Array.from({ length: 5 }, (_, round) => round + 1);

describe('Verification links side by side', async () => {
  const { api, adminToken, environment } = await serviceForThisFile({
    ...verificationSettings.on,
    SESSION_DAYS: '90',
    LOGIN_FAILURES_PER_ACCOUNT: '0',
  });

  /** A user who has a link for another address. */
  const newUser = async () => {
    const made = await makeUser(api, adminToken);
    const [token, fresh] = [await logIn(api, made), uniqueEmail()];
    const asked = { kind: 'address', email: fresh, sessionId: sessionIn({ token }) } as const;
    return { ...made, token, fresh, link: await plantLinkToken(environment, made.id, asked) };
  };
  type User = Awaited<ReturnType<typeof newUser>>;

  const use = async ({ link }: User, password: string) =>
    (await verify(api, link, password)).status;
  const put = async ({ id, password }: User, token: string, changes: object) => {
    const json = { ...changes, currentPassword: password };
    return (await api('PUT', `/api/users/${id}`, { token, json })).status;
  };
  const emailOf = async ({ id }: User): Promise<string> =>
    (await api('GET', `/api/users/${id}`, { token: adminToken })).body.email;
  const expectSoundTable = async () =>
    expect(brokenItems(await scan(inject('engine'), environment.USERS_TABLE ?? ''))).toEqual([]);

  it.each(rounds)(
    'of 20 with one token one gives the address, and the others repeat its response, round %i',
    async () => {
      const user = await newUser();

      const statuses = await Promise.all(
        Array.from({ length: 20 }, () => use(user, user.password)),
      );

      const done = `/api/admin/audit-logs?resourceId=${user.id}&action=UPDATE`;
      const entries = await api('GET', done, { token: adminToken });

      expect(statuses).toEqual(Array(20).fill(204));
      expect(entries.body.data).toHaveLength(1);
      expect(await emailOf(user)).toBe(user.fresh);
      expect((await api('GET', '/api/profile', { token: user.token })).status).toBe(200);
      await expectSoundTable();
    },
  );

  it.each(rounds)('and registrations: one of all has the address, round %i', async () => {
    const [user, rival] = [await newUser(), await newUser()];
    const same = { kind: 'address', email: user.fresh } as const;
    const other = { ...rival, link: await plantLinkToken(environment, rival.id, same) };

    const [one, two, ...registered] = await Promise.all([
      use(user, user.password),
      use(other, other.password),
      ...Array.from({ length: 3 }, async () => {
        return (await sendRegistration(api, newAccount({ email: user.fresh }))).status;
      }),
    ]);

    const all = [one, two, ...registered.map((status) => (status === 201 ? 204 : status))];
    expect(all.sort()).toEqual([204, 409, 409, 409, 409]);
    await expectSoundTable();
  });

  it.each(rounds)('and changes of the same user leave what one order would, round %i', async () => {
    const user = await newUser();
    const moved = uniqueEmail();

    const [used, password, address] = await Promise.all([
      use(user, user.password),
      put(user, user.token, { password: 'another one', currentPassword: user.password }),
      put(user, adminToken, { email: moved }),
    ]);

    expect([password, address]).toEqual([200, 200]);
    expect([204, 400, 403]).toContain(used);
    expect(await emailOf(user)).toBe(moved);
    expect(await logIn(api, { email: moved, password: 'another one' })).toMatch(/^ey/);
    await expectSoundTable();
  });
});
