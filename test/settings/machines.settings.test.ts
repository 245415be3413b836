import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeJwt } from 'jose';
import { describe, expect, inject, it } from 'vitest';
import { hashOfKey } from '../../lib/options/machines/key.ts';
import {
  entriesOf,
  isoTimestamp,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { appoint, promote } from '../support/examples.ts';
import { makeMachine } from '../support/machines.ts';
import { engineClient } from '../support/stored-items.ts';

const service = await serviceForThisFile({ MACHINES: 'on', SESSION_DAYS: '90' });
const { api, adminToken: token, environment } = service;
const engine = engineClient(inject('engine'));
const TableName = environment.USERS_TABLE;

const notFound = refusal(404, 'Machine not found');
const invalid = refusal(401, 'Invalid token');
const far = '2099-12-31T00:00:00.000Z';

const create = (json: object, by = token, headers = {}) =>
  api('POST', '/api/machines', { token: by, json, headers });
const show = async (id: number, by = token) => api('GET', `/api/machines/${id}`, { token: by });
const change = (id: number, json: object, headers = {}) =>
  api('PUT', `/api/machines/${id}`, { token, json, headers });
const remove = (id: number, headers = {}) =>
  api('DELETE', `/api/machines/${id}`, { token, headers });
const addKey = (id: number, json: object = {}, headers = {}) =>
  api('POST', `/api/machines/${id}/keys`, { token, json, headers });
/** Calls the service with a key that may read users. */
const use = (key: string) => api('GET', '/api/users?email=nobody@example.org', { token: key });
const statusOf = async (key: string) => (await use(key)).status;
const storedItem = async (pk: string) =>
  (await engine.send(new GetCommand({ TableName, Key: { pk }, ConsistentRead: true }))).Item;
/** Ends a machine in the past, as time would. */
const end = (id: number) =>
  engine.send(
    new UpdateCommand({
      TableName,
      Key: { pk: `machine#${id}` },
      UpdateExpression: 'SET ends_at = :past',
      ExpressionAttributeValues: { ':past': '2026-11-01T00:00:00.000Z' },
    }),
  );
const detailsOf = async (agent: string) =>
  (await entriesOf(service, agent)).map(({ action, resource, resource_id, details }) => [
    action,
    resource,
    resource_id,
    JSON.parse(String(details)),
  ]);

describe('An admin', () => {
  it('makes a machine, whose key is shown once, and of which only the hash is stored', async () => {
    const made = await create({ name: ' Billing ', scopes: ['users:read'], expiresAt: far });

    const { key, ...shown } = made.body;
    expect(made.status).toBe(201);
    expect(shown).toEqual({
      id: expect.any(Number),
      name: 'Billing',
      scopes: ['users:read'],
      expires_at: far,
      created_at: isoTimestamp,
      made_by: decodeJwt(token).id,
      last_used_on: null,
      keys: [{ created_at: isoTimestamp, expires_at: null }],
    });
    expect(key).toMatch(new RegExp(`^mk_${shown.id}_[0-9A-Za-z]{49}$`));
    expect((await show(shown.id)).body).toEqual(shown);
    const item = await storedItem(`machine#${shown.id}`);
    expect(item?.keys).toEqual([{ hash: hashOfKey(key), made_at: shown.created_at }]);
    expect(JSON.stringify(item)).not.toContain(key);
    // DynamoDB would delete the item at a time in this attribute.
    expect(item).not.toHaveProperty('expires_at');
  });

  it('lists the machines in the order of their ids, with the day of the last use', async () => {
    const first = await makeMachine(api, token, ['users:read']);
    const second = await makeMachine(api, token, ['audit:read', 'users:read']);
    const day = new Date().toISOString().slice(0, 10);
    await use(second.key);

    const { status, body } = await api('GET', '/api/machines', { token });

    expect(status).toBe(200);
    const ids = body.data.map(({ id }: { id: number }) => id);
    expect(ids).toEqual(ids.toSorted((one: number, other: number) => one - other));
    const [one, two] = body.data.slice(-2);
    expect([one, two]).toMatchObject([
      { id: first.id, last_used_on: null },
      { id: second.id, scopes: ['audit:read', 'users:read'] },
    ]);
    // The request may have been sent on the next day.
    expect(two.last_used_on >= day).toBe(true);
    expect(JSON.stringify(body)).not.toMatch(/hash|mk_/);
  });

  it('changes name, scopes and end, which count at the next request', async () => {
    const { id, key } = await makeMachine(api, token, ['users:read']);

    expect((await change(id, { name: 'Shop' })).body).toMatchObject({ id, name: 'Shop' });
    expect(await statusOf(key)).toBe(200);
    expect((await change(id, { scopes: ['audit:read'] })).body.scopes).toEqual(['audit:read']);
    expect(outcome(await use(key))).toEqual(refusal(403, 'Forbidden'));
    const moved = await change(id, {
      scopes: ['users:read'],
      expiresAt: '2099-12-31T01:00:00+01:00',
    });
    expect(moved.body).toMatchObject({ name: 'Shop', scopes: ['users:read'], expires_at: far });
    expect((await change(id, { expiresAt: null })).body.expires_at).toBeNull();
    expect(await statusOf(key)).toBe(200);
  });

  it('removes a machine, whose key is invalid at once, and whose id nobody gets again', async () => {
    const { id, key } = await makeMachine(api, token, ['users:read']);
    await use(key);

    expect((await remove(id)).status).toBe(204);

    expect(outcome(await use(key))).toEqual(invalid);
    expect(outcome(await show(id))).toEqual(notFound);
    expect(outcome(await remove(id))).toEqual(notFound);
    expect(outcome(await change(id, { name: 'n' }))).toEqual(notFound);
    expect(outcome(await addKey(id))).toEqual(notFound);
    expect(await storedItem(`machine-used#${id}`)).toBeUndefined();
    expect((await makeMachine(api, token, ['users:read'])).id).toBeGreaterThan(id);
  });

  it('leaves an entry of each change, with scopes and end, and never with a key', async () => {
    const headers = { 'user-agent': uniqueAgent() };
    const made = await create({ name: 'n', scopes: ['audit:write'] }, token, headers);
    const id = Number(made.body.id);
    await change(id, { name: 'm' }, headers);
    await change(id, { scopes: ['audit:write', 'users:read'], expiresAt: far }, headers);
    const added = await addKey(id, {}, headers);
    const last = await addKey(id, { endPrevious: true }, headers);
    await remove(id, headers);

    const thing = ['machines', `machine-${id}`];
    const both = ['audit:write', 'users:read'];
    const entries = await detailsOf(headers['user-agent']);
    expect(entries).toEqual([
      ['CREATE', ...thing, { scopes: ['audit:write'], expires_at: null }],
      ['UPDATE', ...thing, { fields: ['name'] }],
      [
        'UPDATE',
        ...thing,
        {
          fields: ['scopes', 'expiresAt'],
          scopes: { from: ['audit:write'], to: both },
          expires_at: { from: null, to: far },
        },
      ],
      ['UPDATE', ...thing, { fields: ['keys'] }],
      ['UPDATE', ...thing, { fields: ['keys'], endPrevious: true }],
      ['DELETE', ...thing, { scopes: both, expires_at: far }],
    ]);
    const keys = [made, added, last].map(({ body }) => body.key);
    for (const key of keys) expect(JSON.stringify(entries)).not.toContain(key.slice(-20));
  });

  it.each([
    [{ scopes: ['users:read'] }, 'name is required'],
    [{ name: 'n' }, 'scopes is required'],
    [{ name: 'n', scopes: [] }, /^scopes must be a list of different scopes/],
    [{ name: 'n', scopes: 'users:read' }, /^scopes must be a list of different scopes/],
    [{ name: 'n', scopes: ['users:read', 'users:read'] }, /^scopes must be a list of different/],
    [{ name: 'n', scopes: ['users:all'] }, /^scopes must be a list of different scopes/],
    [{ name: 'n', scopes: ['users:read'], expiresAt: 'soon' }, /^expiresAt must be a date-time/],
    [
      { name: 'n', scopes: ['users:read'], expiresAt: '2099-12-31' },
      /^expiresAt must be a date-time/,
    ],
    [
      { name: 'n', scopes: ['users:read'], expiresAt: '2026-11-01T00:00:00Z' },
      /^expiresAt must be .* future/,
    ],
    [{ name: 'n', scopes: ['users:read'], expiresAt: 7 }, /^expiresAt must be a date-time/],
  ])('is refused %j', async (json, message) => {
    const { status, body } = await create(json);

    expect(status).toBe(400);
    expect(body.message).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    );
  });

  it('is refused a change of nothing', async () => {
    const { id } = await makeMachine(api, token, ['users:read']);

    expect(outcome(await change(id, {}))).toEqual(refusal(400, 'No fields to update'));
  });

  it.each(['0', '01', 'x', 'machine-1', '9007199254740993'])(
    'is told of the id %s that there is no such machine',
    async (id) => {
      expect(outcome(await api('GET', `/api/machines/${id}`, { token }))).toEqual(notFound);
    },
  );
});

describe('A further key', () => {
  it('leaves the key before it good for a day, and a third ends the oldest at once', async () => {
    const { id, key } = await makeMachine(api, token, ['users:read']);

    const second = await addKey(id);
    const [newest, previous] = second.body.keys;
    expect(second.status).toBe(201);
    expect(newest.expires_at).toBeNull();
    const day = 24 * 60 * 60 * 1000;
    expect(Date.parse(previous.expires_at)).toBe(Date.parse(newest.created_at) + day);
    expect([await statusOf(key), await statusOf(second.body.key)]).toEqual([200, 200]);

    const third = await addKey(id);
    const keys = [key, second.body.key, third.body.key];
    expect(await Promise.all(keys.map(statusOf))).toEqual([401, 200, 200]);
  });

  it('ends the key before it at once where it is told to', async () => {
    const { id, key } = await makeMachine(api, token, ['users:read']);

    await use(key);
    const { body } = await addKey(id, { endPrevious: true });
    expect(body.last_used_on).toMatch(/^\d{4}-\d\d-\d\d$/);

    expect(body.keys).toHaveLength(1);
    expect([await statusOf(key), await statusOf(body.key)]).toEqual([401, 200]);
  });

  it('is void once its day has passed', async () => {
    const { id, key } = await makeMachine(api, token, ['users:read']);
    await addKey(id);
    await engine.send(
      new UpdateCommand({
        TableName,
        Key: { pk: `machine#${id}` },
        UpdateExpression: 'SET #keys[1].ends_at = :past',
        ExpressionAttributeNames: { '#keys': 'keys' },
        ExpressionAttributeValues: { ':past': '2026-11-01T00:00:00.000Z' },
      }),
    );

    expect(outcome(await use(key))).toEqual(invalid);
  });
});

describe('A key', () => {
  it('is void once its machine has ended, until an admin moves the end', async () => {
    const { id, key } = await makeMachine(api, token, ['users:read']);
    await end(id);

    expect(outcome(await use(key))).toEqual(invalid);
    await change(id, { expiresAt: far });
    expect(await statusOf(key)).toBe(200);
  });

  it('is invalid with another character, or of another machine', async () => {
    const { id, key } = await makeMachine(api, token, ['users:read']);
    const other = await makeMachine(api, token, ['users:read']);
    const altered = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    const swapped = key.replace(`mk_${id}_`, `mk_${other.id}_`);

    for (const wrong of [altered, swapped, `${key}0`, 'mk_', key.toLowerCase()]) {
      expect(outcome(await use(wrong))).toEqual(invalid);
    }
  });
});

describe('Machines', () => {
  it('are looked at by auditors, and managed by admins alone', async () => {
    const auditor = await appoint(api, token, await register(api));
    const user = await register(api);
    const { id, key } = await makeMachine(api, token, ['audit:read', 'users:write']);
    const forbidden = refusal(403, 'Forbidden');

    expect((await show(id, auditor.token)).status).toBe(200);
    expect((await api('GET', '/api/machines', { token: auditor.token })).status).toBe(200);
    for (const by of [auditor.token, user.token, key]) {
      expect(outcome(await create({ name: 'n', scopes: ['users:read'] }, by))).toEqual(forbidden);
      const keys = await api('POST', `/api/machines/${id}/keys`, { token: by, json: {} });
      expect(outcome(keys)).toEqual(forbidden);
    }
    for (const by of [user.token, key]) {
      expect(outcome(await show(id, by))).toEqual(forbidden);
    }
  });

  it('are not the users with the same ids: machine 1 reads user 1, and is not user 1', async () => {
    await makeMachine(api, token, ['users:read']);
    const { body: list } = await api('GET', '/api/machines', { token });
    const { id } = list.data[0];
    const { key } = (await addKey(id)).body;
    await change(id, { scopes: ['users:write', 'users:read', 'audit:read'] });
    const self = `/api/users/${id}`;

    expect((await api('GET', self, { token: key })).status).toBe(200);
    // Only the user and admins see the sessions, and only a user has a profile.
    for (const path of [`${self}/sessions`, '/api/profile', '/api/users/undefined/sessions']) {
      expect(outcome(await api('GET', path, { token: key }))).toEqual(refusal(403, 'Forbidden'));
    }
    const json = { name: 'n', password: 'pass-word-2', currentPassword: 'x' };
    const put = await api('PUT', self, { token: key, json });
    expect(outcome(put)).toEqual(refusal(403, 'Forbidden'));
  });
});

describe('An admin who is no longer stored as one, with a token that says admin', async () => {
  const other = await serviceForThisFile({ MACHINES: 'on' });
  const { id } = await makeMachine(other.api, other.adminToken, ['users:read']);
  const admin = await promote(other.api, other.adminToken, await register(other.api));
  await other.api('PUT', `/api/users/${admin.id}`, {
    token: other.adminToken,
    json: { role: 'user' },
  });

  it.each([
    ['POST', '/api/machines', { name: 'n', scopes: ['users:read'] }],
    ['POST', `/api/machines/${id}/keys`, {}],
    ['PUT', `/api/machines/${id}`, { scopes: ['users:read', 'users:write'] }],
    ['PUT', `/api/machines/${id}`, { expiresAt: far }],
  ] as const)('is refused %s %s with %j', async (method, path, json) => {
    const answer = await other.api(method, path, { token: admin.token, json });

    expect(outcome(answer)).toEqual(refusal(403, 'Forbidden'));
    const { body } = await other.api('GET', '/api/machines', { token: other.adminToken });
    expect(body.data).toMatchObject([{ id, scopes: ['users:read'], expires_at: null, keys: [{}] }]);
  });
});
