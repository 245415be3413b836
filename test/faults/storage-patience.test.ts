import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { register } from '../support/client.ts';
import { asOnAws } from '../support/patience.ts';
import { type EngineProxy, type Fault, faults, startProxy } from '../support/proxy.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { scan } from '../support/stored-items.ts';
import { until } from '../support/until.ts';

/** Later than a request, or an audit entry, may take on AWS; not at all once nobody waits for it. */
const slowly: Fault = async ({ forward, answer, socket }) => {
  await sleep(1400);
  if (!socket.destroyed) answer(await forward());
};

describe('With a slow engine', () => {
  const started: { proxy: EngineProxy; service: TestService }[] = [];
  const start = async (settings: Readonly<Record<string, string>>) => {
    const proxy = await startProxy(inject('engine'));
    const service = await startTestService({ AWS_ENDPOINT_URL_DYNAMODB: proxy.url, ...settings });
    started.push({ proxy, service });
    return { proxy, service };
  };
  afterAll(async () => {
    for (const { proxy, service } of started) {
      await service.stop();
      await proxy.stop();
    }
  });

  it.each([
    { machine: 'on AWS', settings: asOnAws, isPatient: false },
    { machine: 'on one machine', settings: { NODE_OPTIONS: '' }, isPatient: true },
  ])('the service waits as long as a service $machine waits', async ({ settings, isPatient }) => {
    const { proxy, service } = await start(settings);
    const { id, token } = await register(service.api);

    proxy.forget();
    proxy.impose({ fault: slowly, operation: 'GetItem', times: 1 });
    const profile = await service.api('GET', '/api/profile', { token });
    const asked = proxy.requests.length;
    proxy.impose({ fault: slowly, operation: 'PutItem' });
    const change = await service.api('PUT', `/api/users/${id}`, { token, json: { name: 'New' } });

    expect([profile.status, change.status]).toEqual([200, 200]);
    const entries = await scan(inject('engine'), service.environment.AUDIT_TABLE ?? '');
    const isRecorded = entries.some(({ action }) => action === 'UPDATE');
    expect([asked === 1, isRecorded]).toEqual([isPatient, isPatient]);
  });

  it('a service that is told to stop responds first, even if each request to the engine takes seconds', async () => {
    const { proxy, service } = await start({});
    const account = await register(service.api);
    proxy.forget();
    proxy.impose({
      fault: async (exchange) => {
        await sleep(3500);
        await faults.pass(exchange);
      },
    });
    const login = service.api('POST', '/api/login', { json: account });
    await until(() => proxy.requests.length > 0);
    const ended = service.process && once(service.process, 'exit');

    service.process?.kill('SIGTERM');

    expect((await login).status).toBe(200);
    expect((await ended)?.[0]).toBe(0);
  });
});
