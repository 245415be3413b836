import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { register, uniqueEmail } from '../support/client.ts';
import { type EngineProxy, type Fault, faults, startProxy } from '../support/proxy.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { scan, scanAudit } from '../support/stored-items.ts';

/** Later than the count that {@link faults.delay} holds back, within the second of an entry. */
const arriveLast: Fault = async ({ forward, answer }) => {
  await sleep(700);
  answer(await forward());
};

describe('The right password among the last of a hundred simultaneous guesses', () => {
  it('is answered 429 like all guesses beyond the limit, and only one guess begins the wait', async () => {
    const service = await startTestService({ LOGIN_FAILURES_PER_ADDRESS: '0', BCRYPT_COST: '6' });
    const { email, password } = await register(service.api);
    const guesses = Array.from({ length: 100 }, (_, i) => (i === 97 ? password : `wrong-${i}`));

    const answers = await Promise.all(
      guesses.map((guess) =>
        service.api('POST', '/api/login', { json: { email, password: guess } }),
      ),
    );

    const statuses = answers.map(({ status }) => status);
    expect(statuses[97]).toBe(429);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(90);
    const entries = await scanAudit(inject('engine'), service.environment.AUDIT_TABLE ?? '');
    expect(entries.filter(({ details }) => details?.includes('waits_until'))).toHaveLength(1);
    await service.stop();
  });
});

describe('Failed logins of one account at the same time', () => {
  let proxy: EngineProxy;
  let service: TestService;
  beforeAll(async () => {
    proxy = await startProxy(inject('engine'));
    service = await startTestService({
      AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
      LOGIN_FAILURES_PER_ACCOUNT: '1',
      LOGIN_FAILURES_PER_ADDRESS: '0',
    });
  });
  afterAll(async () => {
    await service.stop();
    await proxy.stop();
  });

  // A function is frozen with its answer: what is under way then may never arrive.
  it('have all left an entry when they are answered, even the login that has to wait', async () => {
    const json = { email: uniqueEmail(), password: 'p' };
    proxy.impose(
      { fault: faults.delay, operation: 'UpdateItem' },
      { fault: arriveLast, operation: 'PutItem' },
    );
    const attempt = async (agent: string) => {
      const headers = { 'user-agent': agent };
      const { status } = await service.api('POST', '/api/login', { json, headers });
      const entries = await scan(inject('engine'), service.environment.AUDIT_TABLE ?? '');
      return { status, isRecorded: entries.some(({ user_agent }) => user_agent === agent) };
    };

    const answers = await Promise.all([attempt('one'), attempt('other')]);

    expect(answers.map(({ status }) => status).sort()).toEqual([404, 429]);
    expect(answers.map(({ isRecorded }) => isRecorded)).toEqual([true, true]);
  });
});
