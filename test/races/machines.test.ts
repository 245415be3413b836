import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { makeMachine } from '../support/machines.ts';
import { count, times } from './at-once.ts';

const { api, adminToken: token } = await serviceForThisFile({ MACHINES: 'on' });

const create = () =>
  api('POST', '/api/machines', { token, json: { name: 'Billing', scopes: ['users:read'] } });
const list = async () => (await api('GET', '/api/machines', { token })).body.data;
const use = async (key: string) => (await api('GET', '/api/users?limit=1', { token: key })).status;

describe('Keys of one machine that are made at once', () => {
  it('are all shown, and the last two of eight stay good', async () => {
    const { id, key } = await makeMachine(api, token, ['users:read']);

    const answers = await times(8, () =>
      api('POST', `/api/machines/${id}/keys`, { token, json: {} }),
    );

    expect(count(answers, 201)).toBe(8);
    const statuses = await Promise.all([key, ...answers.map(({ body }) => body.key)].map(use));
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    expect((await api('GET', `/api/machines/${id}`, { token })).body.keys).toHaveLength(2);
  });

  it('are all refused by a machine that is removed meanwhile, or are void afterwards', async () => {
    const { id } = await makeMachine(api, token, ['users:read']);
    const path = `/api/machines/${id}`;

    const [removed, ...answers] = await Promise.all([
      api('DELETE', path, { token }),
      ...Array.from({ length: 7 }, () => api('POST', `${path}/keys`, { token, json: {} })),
    ]);

    expect(removed?.status).toBe(204);
    expect(count(answers, 201) + count(answers, 404)).toBe(7);
    const made = answers.filter(({ status }) => status === 201);
    const statuses = await Promise.all(made.map(({ body }) => use(body.key)));
    expect(statuses).toEqual(made.map(() => 401));
  });

  it('replace one another under traffic, which is always answered to a good key', async () => {
    const { id, key } = await makeMachine(api, token, ['users:read']);
    let [previous, newest] = [key, key];
    for (let round = 0; round < 5; round += 1) {
      const [answer, ...statuses] = await Promise.all([
        api('POST', `/api/machines/${id}/keys`, { token, json: {} }),
        ...Array.from({ length: 7 }, () => use(newest)),
      ]);
      expect(statuses).toEqual(Array(7).fill(200));
      [previous, newest] = [newest, answer.body.key];
    }

    expect([await use(previous), await use(newest)]).toEqual([200, 200]);
  });
});

describe('Machines that are made at once', () => {
  it('are never more than a hundred, each with an id of its own', async () => {
    const before = (await list()).length;

    const answers = await times(101, create);

    // Of the requests that lose the race for the last places, some may be told of contention.
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.id);
    expect(made.length).toBeLessThanOrEqual(100 - before);
    expect(new Set(made).size).toBe(made.length);
    const ids = (await list()).map(({ id }: { id: number }) => id);
    expect(ids).toHaveLength(before + made.length);
    expect(ids).toEqual(expect.arrayContaining(made));
    for (let i = ids.length; i < 100; i += 1) expect((await create()).status).toBe(201);
    const [beyond] = await times(1, create);
    expect([beyond?.status, beyond?.body.message]).toEqual([409, 'Too many machines']);
  });
});
