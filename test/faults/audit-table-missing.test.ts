import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isoTimestamp, uniqueAgent } from '../support/acceptance.ts';
import { logIn } from '../support/client.ts';
import { exampleRequests, prepareSubject, sendExample } from '../support/examples.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { engineClient } from '../support/stored-items.ts';

/** What the details of an entry of success are, where they are something. */
const detailsOf: Readonly<Record<string, unknown>> = {
  UPDATE: expect.stringMatching(/^{"fields":\[.+\]}$/),
};

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

  const linesOf = (agent: string) =>
    service
      .output()
      .split('\n')
      .filter((line) => line.includes(agent))
      .map((line) => JSON.parse(line));

  // An export has nothing to hand out.
  const recording = exampleRequests.filter(
    ({ entry, operations }) => entry && !operations.includes('read audit'),
  );
  it.each(recording)(
    '$name answers as without faults, and logs its entry whole on one line',
    async (example) => {
      const subject = await prepareSubject(service, admin, example);
      const agent = uniqueAgent();
      const startedAt = performance.now();

      const headers = { 'user-agent': agent };
      const answer = await sendExample(service.api, example, subject, { headers });

      expect(answer.status).toBe(example.status);
      expect(performance.now() - startedAt).toBeLessThan(longestAnswer);
      const [action, result] = example.entry?.split(' ') ?? [];
      expect(linesOf(agent)).toEqual([
        {
          level: 'error',
          event: 'audit-entry-not-written',
          fault: 'ResourceNotFoundException',
          writeId: expect.stringMatching(/^[\da-f-]{36}$/),
          requestId: answer.headers.get('x-request-id'),
          entry: {
            id: expect.any(Number),
            user_id: expect.any(Number),
            resource: 'users',
            resource_id: expect.stringMatching(/^\d+$/),
            ip_address: '127.0.0.1',
            user_agent: agent,
            action,
            result,
            details: detailsOf[action ?? ''] ?? (result === 'FAILURE' ? expect.any(String) : null),
            created_at: isoTimestamp,
          },
        },
      ]);
      expect(service.output()).not.toMatch(/pass-word|\$2b\$/);
    },
  );

  it('the query of the trail answers its 500', async () => {
    const { status, body } = await service.api('GET', '/api/admin/audit-logs', { token: admin });

    expect([status, body]).toEqual([
      500,
      { message: 'Error fetching audit logs', err: 'ResourceNotFoundException' },
    ]);
  });
});
