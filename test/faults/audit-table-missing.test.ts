import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isoTimestamp, uniqueAgent } from '../support/acceptance.ts';
import { type Account, logIn, register, uniqueEmail } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { engineClient } from '../support/stored-items.ts';

/** Milliseconds: a second more than usual, on a machine that has other things to do. */
const longestAnswer = 3000;

describe('Without the audit table', () => {
  let service: TestService;
  let admin: string;
  beforeAll(async () => {
    service = await startTestService();
    admin = await logIn(service.api, service.admin);
    const { AUDIT_TABLE: TableName } = service.environment;
    await engineClient(inject('engine')).send(new DeleteTableCommand({ TableName }));
  });
  afterAll(() => service.stop());

  const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'pass-word' });
  const linesOf = (agent: string) =>
    service
      .output()
      .split('\n')
      .filter((line) => line.includes(agent))
      .map((line) => JSON.parse(line));

  const changes = { name: 'New', password: 'pass-word-2' };
  it.each([
    ['POST', '/api/auth/register', 201, newUser, { action: 'CREATE' }],
    ['POST', '/api/users', 201, newUser, { action: 'CREATE' }],
    ['POST', '/api/login', 200, (account: Account) => account, { action: 'LOGIN' }],
    [
      'PUT',
      '/api/users/:id',
      200,
      () => changes,
      { action: 'UPDATE', details: '{"fields":["name","password"]}' },
    ],
    ['DELETE', '/api/users/:id', 204, () => undefined, { action: 'DELETE' }],
  ] as const)('%s %s answers as ever, and logs its entry whole on one line', async (...row) => {
    const [method, path, status, bodyFor, entry] = row;
    const account = await register(service.api);
    const agent = uniqueAgent();
    const startedAt = performance.now();

    const answer = await service.api(method, path.replace(':id', String(account.id)), {
      token: admin,
      json: bodyFor(account),
      headers: { 'user-agent': agent },
    });

    expect(answer.status).toBe(status);
    expect(performance.now() - startedAt).toBeLessThan(longestAnswer);
    expect(linesOf(agent)).toEqual([
      {
        level: 'error',
        event: 'audit-entry-not-written',
        fault: 'ResourceNotFoundException',
        writeId: expect.stringMatching(/^[\da-f-]{36}$/),
        entry: {
          id: expect.any(Number),
          user_id: expect.any(Number),
          resource: 'users',
          resource_id: expect.stringMatching(/^\d+$/),
          ip_address: '127.0.0.1',
          user_agent: agent,
          result: 'SUCCESS',
          details: null,
          created_at: isoTimestamp,
          ...entry,
        },
      },
    ]);
    expect(service.output()).not.toMatch(/pass-word|\$2b\$/);
  });

  it('the query of the log answers its 500', async () => {
    const { status, body } = await service.api('GET', '/api/admin/audit-logs', { token: admin });

    expect([status, body]).toEqual([
      500,
      { message: 'Error fetching audit logs', err: 'ResourceNotFoundException' },
    ]);
  });
});
