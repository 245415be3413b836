import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { logIn, makeUser, uniqueEmail } from '../support/client.ts';
import { sessionIn } from '../support/examples.ts';
import { plantLinkToken } from '../support/reset-tokens.ts';
import { expectSoundTable } from '../support/users-table.ts';
import { verificationSettings, verify } from '../support/verification.ts';

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
  const emailOf = async ({ id }: User): Promise<string> =>
    (await api('GET', `/api/users/${id}`, { token: adminToken })).body.email;

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
      await expectSoundTable({ environment });
    },
  );
});
