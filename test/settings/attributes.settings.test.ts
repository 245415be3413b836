import { decodeJwt } from 'jose';
import { describe, expect, inject, it } from 'vitest';
import { userItem } from '../../lib/users/store.ts';
import {
  entriesOf,
  listUsers,
  outcome,
  readPages,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../support/acceptance.ts';
import { type Account, logIn, register, uniqueEmail } from '../support/client.ts';
import { appoint } from '../support/examples.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { storedUser } from '../support/stored-user.ts';
import { mailedToken, verificationSettings, verify } from '../support/verification.ts';
import { writeBatches } from '../support/write-batches.ts';

const declared = {
  USER_ATTRIBUTES: JSON.stringify([
    { name: 'locale', type: 'choice', choices: ['de', 'en'], writer: 'user' },
    { name: 'plan', type: 'choice', choices: ['free', 'pro'], token: true },
    { name: 'note', type: 'text', maxLength: 255 },
    { name: 'nick', type: 'text', writer: 'user' },
    ...['one', 'two', 'three', 'four'].map((name) => ({ name, type: 'text', maxLength: 255 })),
  ]),
};
const service = await serviceForThisFile({ ...declared, SESSION_DAYS: '90' });
const mailing = await mailingServiceForThisFile({ ...declared, ...verificationSettings.on });
const { api, adminToken } = service;
const forbidden = refusal(403, 'Forbidden');

const put = (id: number, token: string, json: object, headers = {}) =>
  api('PUT', `/api/users/${id}`, { token, json, headers });
const get = async (id: number, token: string) =>
  (await api('GET', `/api/users/${id}`, { token })).body;
const profile = async (token: string) => (await api('GET', '/api/profile', { token })).body.data;
const newUser = (attributes?: unknown) => ({
  name: 'n',
  email: uniqueEmail(),
  password: 'pass-word-1',
  ...(attributes === undefined ? {} : { attributes }),
});
const post = (path: string, json: object, token?: string) =>
  api('POST', path, { json, ...(token ? { token } : {}) });

describe('The attributes of a user', () => {
  it('are shown to the user, to admins and to auditors', async () => {
    const user = await register(api);
    const other = await register(api);
    const auditor = await appoint(api, adminToken, await register(api));

    const changed = await put(user.id, adminToken, { attributes: { plan: 'pro' } });

    expect(changed.body.attributes).toEqual({ plan: 'pro' });
    for (const token of [user.token, adminToken, auditor.token]) {
      expect((await get(user.id, token)).attributes).toEqual({ plan: 'pro' });
      expect((await get(other.id, adminToken)).attributes).toEqual({});
    }
    expect((await profile(user.token)).attributes).toEqual({ plan: 'pro' });
    expect(await get(user.id, other.token)).not.toHaveProperty('attributes');
  });

  it('are in a list on request, but only for admins and auditors', async () => {
    const user = await register(api);
    await put(user.id, adminToken, { attributes: { plan: 'pro' } });
    const list = (query: string, token = adminToken) =>
      api('GET', `/api/users?${query}`, { token });
    const found = async (query: string) =>
      (await list(query)).body.find(({ id }: { id: number }) => id === user.id);

    expect((await found('attributes=true&order=desc')).attributes).toEqual({ plan: 'pro' });
    expect(await found('order=desc')).not.toHaveProperty('attributes');
    const address = encodeURIComponent(user.email);
    expect((await found(`attributes=true&email=${address}`)).attributes).toEqual({ plan: 'pro' });
    expect(await found(`email=${address}`)).not.toHaveProperty('attributes');
    expect(outcome(await list('attributes=true', user.token))).toEqual(forbidden);
    expect(outcome(await list('attributes=yes'))).toEqual(
      refusal(400, 'attributes must be one of true'),
    );
    expect(outcome(await list('attributes=true&limit=101'))).toEqual(
      refusal(400, 'limit must be a whole number from 1 to 100 with attributes'),
    );
    expect((await list('attributes=true&limit=100')).status).toBe(200);
  });

  it('are in every page of a list that includes attributes, with 100 users a page by default', async () => {
    const users = Array.from({ length: 101 }, (_, i) =>
      userItem(storedUser({ id: 1_000_000 + i })),
    );
    await writeBatches(inject('engine'), service.environment.USERS_TABLE ?? '', users);

    const pages = await readPages(api, '/api/users?attributes=true', { token: adminToken });

    const listed = pages.flatMap(({ answer }) => answer.body);
    expect([pages.length > 1, pages[0]?.answer.body.length]).toEqual([true, 100]);
    expect(listed.map(({ id }) => id)).toEqual(
      (await listUsers(api, adminToken)).map(({ id }) => id),
    );
    for (const user of listed) expect(user).toHaveProperty('attributes');
  });

  it('are set when a user is created: users set theirs, and admins all', async () => {
    const own = newUser({ locale: 'de' });
    const { token } = (await post('/api/auth/register', own)).body;
    expect((await profile(token)).attributes).toEqual({ locale: 'de' });

    expect(outcome(await post('/api/auth/register', newUser({ plan: 'pro' })))).toEqual(forbidden);
    expect(outcome(await post('/api/users', newUser({ plan: 'pro' }), token))).toEqual(forbidden);
    const made = (await post('/api/users', newUser({ locale: 'en' }), token)).body;
    expect(made).not.toHaveProperty('attributes');
    expect((await get(made.id, adminToken)).attributes).toEqual({ locale: 'en' });
    expect(outcome(await put(made.id, token, { attributes: { locale: 'de' } }))).toEqual(forbidden);
    const agent = uniqueAgent();
    const byAdmin = await api('POST', '/api/users', {
      token: adminToken,
      json: newUser({ plan: 'pro', locale: 'en', note: 'x' }),
      headers: { 'user-agent': agent },
    });
    expect(byAdmin.body.attributes).toEqual({ locale: 'en', plan: 'pro', note: 'x' });
    const [entry] = await entriesOf(service, agent);
    expect(JSON.parse(String(entry?.details))).toEqual({
      attributes: { locale: { from: null, to: 'en' }, plan: { from: null, to: 'pro' } },
    });
  });

  it('are changed one by one, without a confirmation, and no session ends', async () => {
    const user = await register(api);
    const agent = uniqueAgent();
    await put(user.id, adminToken, { attributes: { plan: 'free', locale: 'en', note: 'x' } });

    const change = { attributes: { locale: 'de' } };
    expect(
      (await put(user.id, user.token, change, { 'user-agent': agent })).body.attributes,
    ).toEqual({ locale: 'de', plan: 'free', note: 'x' });
    await put(
      user.id,
      adminToken,
      { attributes: { plan: 'pro', note: null } },
      { 'user-agent': agent },
    );

    expect((await profile(user.token)).attributes).toEqual({ locale: 'de', plan: 'pro' });
    const details = (await entriesOf(service, agent)).map((entry) =>
      JSON.parse(String(entry.details)),
    );
    expect(details).toEqual([
      { fields: ['attributes.locale'], attributes: { locale: { from: 'en', to: 'de' } } },
      {
        fields: ['attributes.plan', 'attributes.note'],
        attributes: { plan: { from: 'free', to: 'pro' } },
      },
    ]);
  });

  it('are refused with 403 before any check that responds with 400', async () => {
    const user = await register(api);
    const set = async (attributes: unknown, others = {}) =>
      outcome(await put(user.id, user.token, { attributes, ...others }));

    expect(await set({ plan: 'free', nobody: 1 }, { name: '' })).toEqual(forbidden);
    expect(await set({ nobody: 1 })).toEqual(refusal(400, 'attributes.nobody is not declared'));
    expect(await set({ locale: 'fr' })).toEqual(
      refusal(400, 'attributes.locale must be one of de, en'),
    );
    expect(await set([])).toEqual(refusal(400, 'attributes must be an object'));
    expect(await set({})).toEqual(refusal(400, 'No fields to update'));
    expect(await put(user.id, user.token, { attributes: {}, name: 'other' })).toMatchObject({
      status: 200,
      body: { name: 'other' },
    });
    expect((await profile(user.token)).attributes).toEqual({});
  });

  it('take at most 4,096 bytes in all, in the form in which they are stored', async () => {
    const { id, token } = await register(api);
    const text = '😀'.repeat(255);
    const all = (four: string) => ({ one: text, two: text, three: text, four });
    const most = 4096 - Buffer.byteLength(JSON.stringify(all('😀'.repeat(248))));
    const set = async (bytes: number) =>
      put(id, adminToken, { attributes: all('😀'.repeat(248) + 'x'.repeat(bytes)) });

    expect((await set(most)).status).toBe(200);
    const kept = all('😀'.repeat(248) + 'x'.repeat(most));
    expect(outcome(await set(most + 1))).toEqual(
      refusal(400, 'attributes must take at most 4,096 bytes in all'),
    );
    expect(outcome(await put(id, token, { attributes: { nick: 'x' } }))).toEqual(
      refusal(400, 'attributes must take at most 4,096 bytes in all'),
    );
    expect((await profile(token)).attributes).toEqual(kept);
  });

  it.each([
    ['__proto__', 'Request body holds a forbidden key'],
    ['constructor', 'attributes.constructor is not declared'],
    ['toString', 'attributes.toString is not declared'],
  ])('cannot have a name that JavaScript objects have: %s', async (name, message) => {
    const { id, token } = await register(api);
    const body = `{"name":"n","attributes":{"${name}":"x"}}`;
    const headers = { 'content-type': 'application/json' };

    for (const caller of [token, adminToken]) {
      const answer = await api('PUT', `/api/users/${id}`, { token: caller, body, headers });
      expect(outcome(answer)).toEqual(refusal(400, message));
    }
  });

  it('that admins write are claims, and a token keeps the values of its time of issue', async () => {
    const user = await register(api);
    expect(decodeJwt(user.token)).not.toHaveProperty('attr:plan');

    await put(user.id, adminToken, { attributes: { plan: 'pro', locale: 'de' } });

    const { body: refreshed } = await api('POST', '/api/refresh', {
      json: { refreshToken: user.refreshToken },
    });
    for (const token of [String(refreshed.token), await logIn(api, user)]) {
      expect(decodeJwt(token)).toMatchObject({ id: user.id, 'attr:plan': 'pro' });
      expect(decodeJwt(token)).not.toHaveProperty('attr:locale');
    }
  });
});

describe('A password reset', () => {
  it('removes the attributes that users write if the reset proves an address that nobody had verified', async () => {
    const written = { locale: 'de', nick: 'x' };
    const { api: call, adminToken: token } = mailing;
    const resetAt = uniqueAgent();
    const attributesAfterReset = async (user: Account) => {
      const attributes = { ...written, plan: 'pro' };
      await call('PUT', `/api/users/${user.id}`, { token, json: { attributes } });
      const json = { token: await mailing.requestToken(user.email), password: 'another password' };
      await call('PUT', '/api/password-resets', { json, headers: { 'user-agent': resetAt } });
      return (await call('GET', `/api/users/${user.id}`, { token })).body.attributes;
    };
    const [stranger, verified] = [await register(call), await register(call)];
    await verify(call, await mailedToken(mailing, verified.email), verified.password);

    expect(await attributesAfterReset(stranger)).toEqual({ plan: 'pro' });
    expect(await attributesAfterReset(verified)).toEqual({ ...written, plan: 'pro' });
    const details = (await entriesOf(mailing, resetAt)).map((entry) => entry.details);
    expect(details).toEqual([
      '{"fields":["password","attributes"],"by":"reset"}',
      '{"fields":["password"],"by":"reset"}',
    ]);
  });
});
