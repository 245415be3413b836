import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Account,
  type ApiAnswer,
  isLate,
  logIn,
  register,
  uniqueEmail,
} from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { usersIn } from '../support/stored-items.ts';
import { expectSoundTable, userItems } from '../support/users-table.ts';

/** Times that each race is run: one run may go well by chance. */
const rounds = Array.from({ length: 3 }, (_, round) => round + 1);

describe('Requests that race for an email address', () => {
  let service: TestService;
  let admin: string;
  beforeAll(async () => {
    service = await startTestService();
    admin = await logIn(service.api, service.admin);
  });
  afterAll(() => service.stop());

  const times = <T>(count: number, request: (i: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, i) => request(i)));
  const signUp = (email: string) =>
    service.api('POST', '/api/auth/register', { json: { name: 'n', email, password: 'p' } });
  let timedOut = 0;
  /** Asks again, as clients do, where a busy machine took longer than the service waits. */
  const patiently = async (send: () => Promise<ApiAnswer>): Promise<ApiAnswer> => {
    const answer = await send();
    if (!isLate(answer) || timedOut > 500) return answer;
    timedOut += 1;
    await sleep(Math.random() * 1000);
    return patiently(send);
  };
  const change = ({ id, token }: Account, json: object) =>
    service.api('PUT', `/api/users/${id}`, { token, json });
  const remove = ({ id }: Account) => service.api('DELETE', `/api/users/${id}`, { token: admin });
  const tally = (answers: readonly { status: number }[]) => {
    const counts: Record<number, number> = {};
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };
  const holdersOf = async (...emails: readonly string[]) =>
    usersIn(await userItems(service)).filter(({ email }) => emails.includes(String(email)));

  it('200 registrations of different addresses get 200 distinct small ids', async () => {
    const before = await register(service.api);

    const answers = await times(200, () => patiently(() => signUp(uniqueEmail())));

    expect(tally(answers)).toEqual({ 201: 200 });
    const ids = new Set(answers.map(({ body }) => Number(decodeJwt(body.token).id)));
    expect(ids.size).toBe(200);
    expect(Math.min(...ids)).toBeGreaterThan(before.id);
    expect(Math.max(...ids)).toBeLessThanOrEqual(before.id + 200 + timedOut);
    await expectSoundTable(service);
  });

  it.each(rounds)('changes of address that race a deletion leave nothing (round %i)', async () => {
    const account = await register(service.api);
    const emails = Array.from({ length: 6 }, uniqueEmail);

    const [deletion, ...changes] = await Promise.all([
      remove(account),
      ...emails.map((email) => change(account, { email })),
    ]);

    expect(deletion?.status).toBe(204);
    for (const { status } of changes) expect([200, 404]).toContain(status);
    expect(await holdersOf(account.email, ...emails)).toEqual([]);
    await expectSoundTable(service);
  });

  it.each(rounds)('two users who take each other’s address keep one each (round %i)', async () => {
    const [one, other] = [await register(service.api), await register(service.api)];

    const answers = await Promise.all([
      change(one, { email: other.email }),
      change(other, { email: one.email }),
    ]);

    expect(tally(answers)).toEqual({ 409: 2 });
    expect(await holdersOf(one.email)).toMatchObject([{ id: one.id }]);
    expect(await holdersOf(other.email)).toMatchObject([{ id: other.id }]);
    await expectSoundTable(service);
  });

  it.each(rounds)(
    'a user gets the address that another one is giving up, or a 409 (round %i)',
    async () => {
      const [one, other] = [await register(service.api), await register(service.api)];
      const [free, wanted] = [uniqueEmail(), one.email];

      // The second can succeed only once the first has given the address up.
      const [moved, followed] = await Promise.all([
        change(one, { email: free }),
        change(other, { email: wanted }),
      ]);

      expect(moved?.status).toBe(200);
      expect([200, 409]).toContain(followed?.status);
      expect(await holdersOf(free)).toMatchObject([{ id: one.id }]);
      expect(await holdersOf(wanted)).toHaveLength(followed?.status === 200 ? 1 : 0);
      await expectSoundTable(service);
    },
  );

  it.each(rounds)('10 changes of one user’s address all succeed, the last stays (%i)', async () => {
    const account = await register(service.api);
    const emails = Array.from({ length: 10 }, uniqueEmail);

    const answers = await Promise.all(emails.map((email) => change(account, { email })));

    expect(tally(answers)).toEqual({ 200: 10 });
    const kept = await holdersOf(account.email, ...emails);
    expect(kept).toMatchObject([{ id: account.id }]);
    const old = emails.filter((email) => email !== kept[0]?.email);
    expect(tally(await Promise.all(old.map(signUp)))).toEqual({ 201: 9 });
    await expectSoundTable(service);
  });

  it.each(rounds)('one of the users who race for one free address gets it (round %i)', async () => {
    const accounts = await times(10, () => register(service.api));
    const email = uniqueEmail();

    const answers = await Promise.all([
      ...accounts.map((account) => change(account, { email })),
      signUp(email),
    ]);

    const { 200: changed = 0, 201: created = 0, 409: refused } = tally(answers);
    expect([changed + created, refused]).toEqual([1, 10]);
    expect(await holdersOf(email)).toHaveLength(1);
    await expectSoundTable(service);
  });
});
