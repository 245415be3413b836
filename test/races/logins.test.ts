import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { uniqueEmail } from '../client.ts';
import { type EngineProxy, type Fault, faults, startProxy } from '../proxy.ts';
import { startTestService, type TestService } from '../service.ts';
import { scan } from './invariants.ts';

/** Later than the count that {@link faults.delay} holds back, within the second of an entry. */
const arriveLast: Fault = async ({ forward, answer }) => {
  await sleep(700);
  answer(await forward());
};

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
  it('have each left an entry when they are answered, the one that must wait too', async () => {
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
