import { expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { times } from './at-once.ts';

const names = ['one', 'two', 'three', 'four'];
const service = await serviceForThisFile({
  SESSION_DAYS: '90',
  USER_ATTRIBUTES: JSON.stringify(names.map((name) => ({ name, type: 'text', writer: 'user' }))),
});
const { api, adminToken } = service;

const set = (id: number, token: string, attributes: object) =>
  api('PUT', `/api/users/${id}`, { token, json: { attributes } });
const attributesOf = async (token: string) =>
  (await api('GET', '/api/profile', { token })).body.data.attributes;

it('Attributes that several writers set at once are all set', async () => {
  const { id, token } = await register(api);

  const answers = await times(4, (i) =>
    set(id, i % 2 === 0 ? token : adminToken, { [String(names[i])]: 'x' }),
  );

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await attributesOf(token)).toEqual({ one: 'x', two: 'x', three: 'x', four: 'x' });
});

it('An attribute that several writers set at once has the value of one of them', async () => {
  const { id, token } = await register(api);

  await times(4, (i) => set(id, token, { one: `value ${i}` }));

  expect(await attributesOf(token)).toEqual({ one: expect.stringMatching(/^value [0-3]$/) });
});
