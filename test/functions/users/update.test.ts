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
import { type Account, logIn, makeUser, register, uniqueEmail } from '../../support/client.ts';

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

  it('answers 409 to the address of another user, in whatever letter case', async () => {
    const [{ id, token }, other] = [await register(api), await register(api)];
    const before = await get(id);

    const answer = await put(id, token, { name: 'New', email: other.email.toUpperCase() });

    expect(outcome(answer)).toEqual(refusal(409, 'Email already registered'));
    expect(await get(id)).toEqual(before);
  });

  it('answers 403 to users who give themselves another role, whatever else is in the body', async () => {
    const { id, token } = await register(api);

    const answer = await put(id, token, { name: '', role: 'admin' });

    expect(outcome(answer)).toEqual(refusal(403, 'Forbidden'));
    expect((await get(id)).role).toBe('user');
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
    'lets nobody be made an admin by the token of one who was %s, that user included',
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

describe('PUT /api/users/{id} by whoever made the user by POST /api/users', () => {
  /** The token of whoever made a user, and the user. */
  const makerAndMade = async () => {
    const { token } = await register(api);
    return { token, made: await makeUser(api, token) };
  };

  it('answers 200, also after it gave the user another password and address', async () => {
    const { token, made } = await makerAndMade();
    const changes = { email: uniqueEmail(), password: 'given later' };

    const answers = [
      await put(made.id, token, { name: 'Once' }),
      await put(made.id, token, changes),
      await put(made.id, token, { name: 'Again' }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers[2]?.body).toMatchObject({ id: made.id, name: 'Again', email: changes.email });
    expect(decodeJwt(await logIn(api, changes)).id).toBe(made.id);
  });

  type Made = Omit<Account, 'token'>;
  const itself = (made: Made) => logIn(api, made);
  const anAdmin = async () => adminToken;

  it.each([
    ['the user has set a password', itself, () => ({ password: 'its own' })],
    ['the user has set the same password again', itself, ({ password }: Made) => ({ password })],
    ['the user has set an address', itself, () => ({ email: uniqueEmail() })],
    [
      'the user has set its address in capitals',
      itself,
      ({ email }: Made) => ({ email: email.toUpperCase() }),
    ],
    ['an admin has set a password', anAdmin, () => ({ name: 'n', password: 'of an admin' })],
    ['an admin has set an address', anAdmin, () => ({ email: uniqueEmail() })],
    [
      'an admin has set an address and a role',
      anAdmin,
      () => ({ email: uniqueEmail(), role: 'user' }),
    ],
    ['an admin has made the user an admin', anAdmin, () => ({ role: 'admin' })],
  ])('answers 403 once %s, and changes nothing', async (_, tokenOf, json) => {
    const { token, made } = await makerAndMade();
    const change = await put(made.id, await tokenOf(made), json(made));

    const answers = [
      await put(made.id, token, { name: 'Late' }),
      await put(made.id, token, { email: uniqueEmail(), password: 'late' }),
    ];

    expect(change.status).toBe(200);
    expect(answers.map(outcome)).toEqual(Array(2).fill(refusal(403, 'Forbidden')));
    expect(await get(made.id)).toEqual(change.body);
  });

  it('answers 403 once the user was an admin, also to an admin who made it so and is none any more', async () => {
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

  it('answers 403 to others, and to anybody for a user who registered, or whom the start made', async () => {
    const { token, made } = await makerAndMade();
    const registered = await register(api);

    const answers = [
      await put(made.id, registered.token, { name: 'x' }),
      await put(registered.id, token, { name: 'x' }),
      await put(1, token, { name: 'x' }),
    ];

    expect(answers.map(outcome)).toEqual(Array(3).fill(refusal(403, 'Forbidden')));
  });

  it('checks the body before it looks who made the user', async () => {
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

  it('records its change as one by the caller, and nothing of what it refuses', async () => {
    const { token, made } = await makerAndMade();
    const headers = { 'user-agent': uniqueAgent() };

    await put(made.id, token, { name: 'New' }, headers);
    await put(made.id, (await register(api)).token, { name: 'x' }, headers);
    await put(unknownId, token, { name: 'x' }, headers);

    expect(await entriesOf(service, headers['user-agent'])).toEqual([
      expect.objectContaining({
        user_id: decodeJwt(token).id,
        action: 'UPDATE',
        resource_id: String(made.id),
        result: 'SUCCESS',
        details: '{"fields":["name"]}',
      }),
    ]);
  });
});
