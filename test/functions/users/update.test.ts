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
import { logIn, register, uniqueEmail } from '../../support/client.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const put = (id: string | number, token: string, json: unknown, headers = {}) =>
  api('PUT', `/api/users/${id}`, { token, json, headers });
const get = async (id: number) =>
  (await api('GET', `/api/users/${id}`, { token: adminToken })).body;
const unknownId = 9_007_199_254_740_991;

describe('PUT /api/users/{id}', () => {
  it('lets a user change itself and answers 200 with the user after the change', async () => {
    const { id, email, token } = await register(api, { name: 'Before' });

    const { status, body } = await put(id, token, { name: ' After ' });

    expect(status).toBe(200);
    expect(body).toEqual({ id, name: 'After', email, role: 'user', created_at: isoTimestamp });
    expect(await get(id)).toEqual(body);
  });

  it('lets an admin change anybody', async () => {
    const { id } = await register(api);

    const { status, body } = await put(id, adminToken, { name: 'Renamed' });

    expect([status, body.name]).toEqual([200, 'Renamed']);
  });

  it('changes all fields at once', async () => {
    const { id } = await register(api);
    const fields = { name: 'New', email: uniqueEmail(), password: 'new password' };

    const { body } = await put(id, adminToken, { ...fields, role: 'admin' });

    expect(body).toMatchObject({ id, name: 'New', email: fields.email, role: 'admin' });
    expect(decodeJwt(await logIn(api, fields))).toMatchObject({ id, role: 'admin' });
  });

  it.each([{ name: 'New' }, { email: uniqueEmail() }, { role: 'admin' }])(
    'changes nothing but %j',
    async (fields) => {
      const account = await register(api);
      const before = await get(account.id);

      await put(account.id, adminToken, fields);

      expect(await get(account.id)).toEqual({ ...before, ...fields });
      expect(await logIn(api, { ...account, ...fields })).toBeTypeOf('string');
    },
  );

  it('changes the password and nothing that an answer shows', async () => {
    const { id, email, password, token } = await register(api);
    const before = await get(id);

    const { body } = await put(id, token, { password: 'new' });

    expect(body).toEqual(before);
    const old = await api('POST', '/api/login', { json: { email, password } });
    expect(outcome(old)).toEqual(refusal(401, 'Invalid credentials'));
    expect(await logIn(api, { email, password: 'new' })).toBeTypeOf('string');
  });

  it('moves a login to the new address and frees the old one', async () => {
    const { id, email, password, token } = await register(api);
    const moved = uniqueEmail();

    await put(id, token, { email: moved });

    const old = await api('POST', '/api/login', { json: { email, password } });
    expect(outcome(old)).toEqual(refusal(404, 'User is not registered'));
    expect(decodeJwt(await logIn(api, { email: moved, password })).id).toBe(id);
    expect((await register(api, { email })).id).not.toBe(id);
  });

  it('takes another spelling of the user’s own address', async () => {
    const { id, email, token } = await register(api);

    const { status, body } = await put(id, token, { email: email.toUpperCase() });

    expect([status, body.email]).toEqual([200, email.toUpperCase()]);
  });

  it('answers the same when it is repeated', async () => {
    const { id, token } = await register(api);
    const fields = { name: 'Same', email: uniqueEmail() };

    const answers = [await put(id, token, fields), await put(id, token, fields)];

    expect(answers.map(outcome)).toEqual(Array(2).fill([200, await get(id)]));
  });

  it('answers 409 to the address of another user, in whatever letter case', async () => {
    const [{ id, token }, other] = [await register(api), await register(api)];
    const before = await get(id);

    const answer = await put(id, token, { name: 'New', email: other.email.toUpperCase() });

    expect(outcome(answer)).toEqual(refusal(409, 'Email already registered'));
    expect(await get(id)).toEqual(before);
  });

  it.each([
    ['another user', { name: 'x' }],
    ['another user, with a body that is no use', {}],
  ])('answers 403 to a user who changes %s', async (_, fields) => {
    const [{ token }, other] = [await register(api), await register(api)];
    const before = await get(other.id);

    expect(outcome(await put(other.id, token, fields))).toEqual(refusal(403, 'Forbidden'));
    expect(await get(other.id)).toEqual(before);
  });

  it.each(['admin', 'root', null, ['user']])(
    'answers 403 to a user who gives itself role %j, whatever else is in the body',
    async (role) => {
      const { id, token } = await register(api);

      expect(outcome(await put(id, token, { name: '', role }))).toEqual(refusal(403, 'Forbidden'));
      expect((await get(id)).role).toBe('user');
    },
  );

  it('answers 403 to a user who names itself by another spelling of its id', async () => {
    const { id, token } = await register(api);

    expect(outcome(await put(`0${id}`, token, { name: 'x' }))).toEqual(refusal(403, 'Forbidden'));
  });

  it('lets a user send back what it was answered', async () => {
    const { id, token } = await register(api);
    const body = await get(id);

    expect(outcome(await put(id, token, { ...body, name: 'New' }))).toEqual([
      200,
      { ...body, name: 'New' },
    ]);
  });

  it('lets an admin change roles, which count from the next login on', async () => {
    const account = await register(api);

    await put(account.id, adminToken, { role: 'admin' });

    const log = (token: string) => api('GET', '/api/admin/audit-logs', { token });
    expect((await log(account.token)).status).toBe(403);
    expect((await log(await logIn(api, account))).status).toBe(200);
  });

  it.each([
    ['demoted', (id: number) => put(id, adminToken, { role: 'user' })],
    ['deleted', (id: number) => api('DELETE', `/api/users/${id}`, { token: adminToken })],
  ])(
    'lets nobody be made an admin by the token of one who was %s, itself included',
    async (_, end) => {
      const [account, other, peer] = [
        await register(api),
        await register(api),
        await register(api),
      ];
      await put(account.id, adminToken, { role: 'admin' });
      await put(peer.id, adminToken, { role: 'admin' });
      const token = await logIn(api, account);
      await end(account.id);
      const before = await get(other.id);

      const answers = [
        await put(other.id, token, { name: 'New', role: 'admin' }),
        await put(other.id, token, { email: uniqueEmail(), role: 'admin' }),
        await put(peer.id, token, { role: 'admin' }),
      ];
      const itself = await put(account.id, token, { role: 'admin' });

      expect(answers.map(outcome)).toEqual(Array(3).fill(refusal(403, 'Forbidden')));
      expect([403, 404]).toContain(itself.status);
      expect(await get(other.id)).toEqual(before);
      expect((await get(account.id)).role).not.toBe('admin');
    },
  );

  it('lets a stored admin send back its own role', async () => {
    const account = await register(api);
    await put(account.id, adminToken, { role: 'admin' });

    const answer = await put(account.id, await logIn(api, account), { name: 'N', role: 'admin' });

    expect([answer.status, answer.body.name, answer.body.role]).toEqual([200, 'N', 'admin']);
  });

  it.each(['root', 'Admin', '', null, 1, ['admin']])(
    'answers 400 to an admin who gives role %j',
    async (role) => {
      const { id } = await register(api);

      const answer = await put(id, adminToken, { name: 'New', role });

      expect(outcome(answer)).toEqual(refusal(400, 'role must be one of user, admin'));
      expect(await get(id)).toMatchObject({ name: 'Some One', role: 'user' });
    },
  );

  it.each([{}, { id: 5 }, { created_at: '2000-01-01T00:00:00.000Z' }, { Name: 'x' }])(
    'answers 400 No fields to update to %j',
    async (fields) => {
      const { id, token } = await register(api);

      expect(outcome(await put(id, token, fields))).toEqual(refusal(400, 'No fields to update'));
    },
  );

  it('answers 200 to a user who sends nothing but its own role, and changes nothing', async () => {
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

  it('answers 404 to a deleted user who sends nothing but its own role', async () => {
    const { id, token } = await register(api);
    await api('DELETE', `/api/users/${id}`, { token: adminToken });

    expect(outcome(await put(id, token, { role: 'user' }))).toEqual(refusal(404, 'User not found'));
  });

  it.each([
    ['name', '', 'name must not be empty'],
    ['name', '  ', 'name must not be empty'],
    ['name', null, 'name must be a string'],
    ['email', '', 'email must be a valid email address'],
    ['email', null, 'email must be a string'],
    ['password', '', 'password must be at least 1 character'],
    ['password', null, 'password must be a string'],
  ])(
    'answers 400 to %s %j, and does not change the other fields either',
    async (key, value, message) => {
      const account = await register(api);
      const before = await get(account.id);
      const fields = { name: 'New', email: uniqueEmail(), password: 'new', [key]: value };

      const answer = await put(account.id, account.token, fields);

      expect(outcome(answer)).toEqual(refusal(400, message));
      expect(await get(account.id)).toEqual(before);
      expect(await logIn(api, account)).toBeTypeOf('string');
    },
  );

  it('never changes id and time of creation', async () => {
    const { id, token } = await register(api);
    const before = await get(id);

    const { body } = await put(id, token, {
      name: 'New',
      id: 1,
      created_at: 'x',
      password_hash: 'x',
    });

    expect(body).toEqual({ ...before, name: 'New' });
  });

  it('answers 404 to a user who was deleted', async () => {
    const { id, token } = await register(api);
    await api('DELETE', `/api/users/${id}`, { token: adminToken });

    const answers = [
      await put(id, token, { name: 'x' }),
      await put(id, token, { email: uniqueEmail(), password: 'x' }),
    ];

    expect(answers.map(outcome)).toEqual(Array(2).fill(refusal(404, 'User not found')));
  });

  it('answers 400 before 404, and 404 before 409', async () => {
    const { email } = await register(api);

    const useless = await put(unknownId, adminToken, {});
    const taken = await put(unknownId, adminToken, { email });

    expect(outcome(useless)).toEqual(refusal(400, 'No fields to update'));
    expect(outcome(taken)).toEqual(refusal(404, 'User not found'));
  });

  it('records the names of the changed fields, by the caller, without their values', async () => {
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

  it('records nothing of what it refuses', async () => {
    const headers = { 'user-agent': uniqueAgent() };
    const [{ id, token }, other] = [await register(api), await register(api)];

    await put(id, token, {}, headers);
    await put(id, token, { email: other.email }, headers);
    await put(other.id, token, { name: 'x' }, headers);
    await put(unknownId, adminToken, { name: 'x' }, headers);

    expect(await entriesOf(service, headers['user-agent'])).toEqual([]);
  });
});
