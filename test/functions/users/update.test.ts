import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  isoTimestamp,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { logIn, makeUser, register, uniqueEmail } from '../../support/client.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const put = (id: string | number, token: string, json: unknown, headers = {}) =>
  api('PUT', `/api/users/${id}`, { token, json, headers });
const get = async (id: number) =>
  (await api('GET', `/api/users/${id}`, { token: adminToken })).body;
const unknownId = 9_007_199_254_740_991;

describe('PUT /api/users/{id}', () => {
  it('lets users change themselves and answers 200 with the user after the change', async () => {
    const { id, email, token } = await register(api, { name: 'Before' });

    const { status, body } = await put(id, token, { name: ' After ' });

    expect(status).toBe(200);
    expect(body).toEqual({ id, name: 'After', email, role: 'user', created_at: isoTimestamp });
    expect(await get(id)).toEqual(body);
  });

  it('lets users send back the fields of the response to a GET', async () => {
    const { id, token } = await register(api);
    const body = await get(id);

    expect(outcome(await put(id, token, { ...body, name: 'New' }))).toEqual([
      200,
      { ...body, name: 'New' },
    ]);
  });

  it('answers 200 to users who send nothing but their own role, and changes nothing', async () => {
    const agent = uniqueAgent();
    const { id, token } = await register(api);
    const before = await get(id);

    const answer = await put(id, token, { role: 'user' }, { 'user-agent': agent });

    expect(outcome(answer)).toEqual([200, before]);
    expect(await get(id)).toEqual(before);
    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({ action: 'UPDATE', result: 'SUCCESS', details: '{"fields":[]}' }),
    ]);
  });

  it('answers 404 to deleted users who send nothing but their own role', async () => {
    const { id, token } = await register(api);
    await api('DELETE', `/api/users/${id}`, { token: adminToken });

    expect(outcome(await put(id, token, { role: 'user' }))).toEqual(refusal(404, 'User not found'));
  });

  it('answers 400 before 404, and 404 before 409', async () => {
    const { email } = await register(api);

    const useless = await put(unknownId, adminToken, {});
    const taken = await put(unknownId, adminToken, { email });

    expect(outcome(useless)).toEqual(refusal(400, 'No fields to update'));
    expect(outcome(taken)).toEqual(refusal(404, 'User not found'));
  });

  it('records the caller and the names of the changed fields, without their values', async () => {
    const agent = uniqueAgent();
    const { id, token } = await register(api);
    const json = { name: 'Secret Name', email: uniqueEmail(), password: 'secret' };

    await put(id, token, json, { 'user-agent': agent });
    await put(id, adminToken, { role: 'admin' }, { 'user-agent': agent });

    const [bySelf, byAdmin] = await entriesOf(service, agent);
    expect(bySelf).toEqual({
      id: expect.any(Number),
      user_id: id,
      action: 'UPDATE',
      resource: 'users',
      resource_id: String(id),
      ip_address: expect.any(String),
      user_agent: agent,
      result: 'SUCCESS',
      details: '{"fields":["name","email","password"]}',
      created_at: isoTimestamp,
    });
    expect(byAdmin).toMatchObject({
      user_id: decodeJwt(adminToken).id,
      resource_id: String(id),
      details: '{"fields":["role"],"role":{"from":"user","to":"admin"}}',
    });
  });
});

describe('PUT /api/users/{id} by the maker of the user', () => {
  /** The token of a user who has made another user, and the other user. */
  const makerAndMade = async () => {
    const { token } = await register(api);
    return { token, made: await makeUser(api, token) };
  };

  it('answers 403 if the user has ever been an admin, even to a former admin who created this admin', async () => {
    const { token, made } = await makerAndMade();
    await put(made.id, adminToken, { role: 'admin' });
    await put(made.id, adminToken, { role: 'user' });
    const account = await register(api);
    await put(account.id, adminToken, { role: 'admin' });
    const json = { name: 'n', email: uniqueEmail(), password: 'p', role: 'admin' };
    const { body } = await api('POST', '/api/users', { token: await logIn(api, account), json });

    const answers = [
      await put(made.id, token, { password: 'late' }),
      await put(body.id, account.token, { password: 'late' }),
    ];

    expect(answers.map(outcome)).toEqual(Array(2).fill(refusal(403, 'Forbidden')));
  });

  it('checks the body before it checks who made the user', async () => {
    const { token, made } = await makerAndMade();
    const stranger = (await register(api)).token;

    const answers = [
      await put(unknownId, token, {}),
      await put(made.id, stranger, {}),
      await put(unknownId, token, { name: 'x' }),
      await put(made.id, stranger, { name: 'x' }),
    ];

    expect(answers.map(outcome)).toEqual([
      refusal(400, 'No fields to update'),
      refusal(400, 'No fields to update'),
      refusal(404, 'User not found'),
      refusal(403, 'Forbidden'),
    ]);
  });
});
