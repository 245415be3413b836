import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { type ApiAnswer, isLate, register, uniqueEmail } from '../support/client.ts';
import { expectSoundTable } from '../support/users-table.ts';

const service = await serviceForThisFile();
const { api } = service;

const signUp = (email: string) =>
  api('POST', '/api/auth/register', { json: { name: 'n', email, password: 'p' } });
const statusesOf = (answers: readonly ApiAnswer[]) => new Set(answers.map(({ status }) => status));

/** More requests at once than `model/accounts` has, which compares few with what a map allows. */
describe('Requests that race for an email address', () => {
  let timedOut = 0;
  /** Asks again, as clients do, where a busy machine took longer than the service waits. */
  const patiently = async (send: () => Promise<ApiAnswer>): Promise<ApiAnswer> => {
    const answer = await send();
    if (!isLate(answer) || timedOut > 500) return answer;
    timedOut += 1;
    await sleep(Math.random() * 1000);
    return patiently(send);
  };

  it('200 registrations of different addresses get 200 distinct small ids', async () => {
    const before = await register(api);

    const answers = await Promise.all(
      Array.from({ length: 200 }, () => patiently(() => signUp(uniqueEmail()))),
    );

    expect(statusesOf(answers)).toEqual(new Set([201]));
    const ids = new Set(answers.map(({ body }) => Number(decodeJwt(body.token).id)));
    expect(ids.size).toBe(200);
    expect(Math.min(...ids)).toBeGreaterThan(before.id);
    expect(Math.max(...ids)).toBeLessThanOrEqual(before.id + 200 + timedOut);
    await expectSoundTable(service);
  });

  // One run may go well by chance.
  it.each([1, 2, 3])('10 changes of one user’s address succeed, one stays (%i)', async () => {
    const { id, token } = await register(api);
    const emails = Array.from({ length: 10 }, uniqueEmail);

    const answers = await Promise.all(
      emails.map((email) => api('PUT', `/api/users/${id}`, { token, json: { email } })),
    );

    expect(statusesOf(answers)).toEqual(new Set([200]));
    const { email: kept } = (await api('GET', `/api/users/${id}`, { token })).body;
    const freed = emails.filter((email) => email !== kept);
    expect(freed).toHaveLength(9);
    expect(statusesOf(await Promise.all(freed.map(signUp)))).toEqual(new Set([201]));
    await expectSoundTable(service);
  });
});
