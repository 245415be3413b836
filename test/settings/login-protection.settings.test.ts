import { randomUUID } from 'node:crypto';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { type ApiClient, logIn, makeUser, register, uniqueEmail } from '../support/client.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { holdBack } from '../support/proxy.ts';
import { startTestService } from '../support/service.ts';
import { scanAudit } from '../support/stored-items.ts';

const failTimes = async (api: ApiClient, email: string, times: number): Promise<number[]> => {
  const statuses: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const json = { email, password: `wrong-${i}` };
    statuses.push((await api('POST', '/api/login', { json })).status);
  }
  return statuses;
};

const engine = new DynamoDBClient({
  endpoint: inject('engine'),
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
});
afterAll(() => engine.destroy());

const userItem = (table: string, id: number) => ({
  TableName: table,
  Key: { pk: { S: `user#${id}` } },
});

const storedHash = async (table: string, id: number): Promise<string> => {
  const { Item } = await engine.send(new GetItemCommand(userItem(table, id)));
  return Item?.password_hash?.S ?? '';
};

const tooMany = { message: 'Too many attempts, please try again later' };

describe('Protection of one account', async () => {
  const { proxy, service } = await proxiedServiceForThisFile({ LOGIN_FAILURES_PER_ADDRESS: '0' });

  it('refuses all logins of an account after ten failures, also with the right password', async () => {
    const account = await register(service.api);

    const statuses = await failTimes(service.api, account.email, 11);
    const right = await service.api('POST', '/api/login', { json: account });

    expect(statuses).toEqual([...Array(10).fill(401), 429]);
    expect([right.status, right.body]).toEqual([429, tooMany]);
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(right.headers.get('retry-after'))).toBeLessThanOrEqual(30);
    const entries = await scanAudit(inject('engine'), service.environment.AUDIT_TABLE ?? '');
    const failures = entries.filter(
      ({ user_id, result }) => user_id === account.id && result === 'FAILURE',
    );
    const details = failures.map((entry) => JSON.parse(entry.details ?? ''));
    expect(details.filter(({ waits_until }) => !waits_until)).toEqual(
      Array(9).fill({ reason: 'wrong_password' }),
    );
    expect(details.filter(({ waits_until }) => waits_until)).toHaveLength(1);
  });

  it('forgets the failures of an account at its first success', async () => {
    const account = await register(service.api);

    const before = await failTimes(service.api, account.email, 9);
    await logIn(service.api, account);
    const after = await failTimes(service.api, account.email, 9);
    await logIn(service.api, account);

    expect([...before, ...after]).toEqual(Array(18).fill(401));
  });

  it('answers 429 to a right password if others use up the limit while it is checked', async () => {
    const account = await register(service.api);
    const { fault, reached, release } = holdBack();
    // The read of the user, after that of the counts.
    proxy.impose({ fault, operation: 'GetItem', times: 1 });
    const headers = { 'user-agent': randomUUID() };

    const right = service.api('POST', '/api/login', { json: account, headers });
    await reached;
    const wrong = await failTimes(service.api, account.email, 10);
    release();

    expect(wrong).toEqual(Array(10).fill(401));
    const { status, body } = await right;
    expect([status, body]).toEqual([429, tooMany]);
    const entries = await scanAudit(inject('engine'), service.environment.AUDIT_TABLE ?? '');
    expect(entries.filter(({ user_agent }) => user_agent === headers['user-agent'])).toEqual([
      expect.objectContaining({
        action: 'LOGIN',
        resource_id: String(account.id),
        result: 'FAILURE',
        details: '{"reason":"too_many_attempts"}',
      }),
    ]);
  });

  it('lets fifty right logins at the same time and forty in a row through', async () => {
    const account = await register(service.api);
    const right = async () => (await service.api('POST', '/api/login', { json: account })).status;

    const together = await Promise.all(Array.from({ length: 50 }, right));
    const inTurn: number[] = [];
    for (let i = 0; i < 40; i += 1) inTurn.push(await right());

    expect(new Set([...together, ...inTurn])).toEqual(new Set([200]));
  });
});

describe('Protection of registration', () => {
  it('refuses registrations from an address that has registered as often as is allowed', async () => {
    const service = await startTestService({ REGISTRATIONS_PER_ADDRESS: '3' });
    const attempt = () =>
      service.api('POST', '/api/auth/register', {
        json: { name: 'n', email: uniqueEmail(), password: randomUUID() },
      });

    const statuses = [];
    for (let i = 0; i < 5; i += 1) statuses.push((await attempt()).status);

    expect(statuses).toEqual([201, 201, 201, 429, 429]);
    await service.stop();
  });
});

describe('A login', () => {
  it('raises a hash to the current cost at login, and the password stays good', async () => {
    const tables = { USERS_TABLE: `users-${randomUUID()}`, AUDIT_TABLE: `audit-${randomUUID()}` };
    const cheap = await startTestService({ ...tables, BCRYPT_COST: '4' });
    const { token } = await register(cheap.api);
    const account = await makeUser(cheap.api, token, { password: 'long'.repeat(30) });
    await cheap.stop();
    const costly = await startTestService({ ...tables, BCRYPT_COST: '6' });

    const before = await storedHash(tables.USERS_TABLE, account.id);
    await logIn(costly.api, account);
    const after = await storedHash(tables.USERS_TABLE, account.id);
    await logIn(costly.api, account);

    expect([before, after].map((hash) => hash.split('$').at(-2))).toEqual(['04', '06']);
    expect(await storedHash(tables.USERS_TABLE, account.id)).toBe(after);
    // It is the same password: whoever made the user may change it still.
    const json = { name: 'New' };
    const change = await costly.api('PUT', `/api/users/${account.id}`, { token, json });
    expect(change.status).toBe(200);
    await costly.stop();
  });
});
