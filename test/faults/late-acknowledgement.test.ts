import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { uniqueAgent } from '../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../support/client.ts';
import { asOnAws } from '../support/patience.ts';
import { type EngineProxy, faults, startProxy } from '../support/proxy.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { scanAudit } from '../support/stored-items.ts';

describe('A change whose acknowledgement does not come in time', () => {
  let proxy: EngineProxy;
  let service: TestService;
  beforeAll(async () => {
    proxy = await startProxy(inject('engine'));
    service = await startTestService({ ...asOnAws, AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
  });
  afterAll(async () => {
    await service.stop();
    await proxy.stop();
  });

  it.each([
    ['name', 'UpdateItem', { name: 'New' }],
    ['address', 'TransactWriteItems', { email: uniqueEmail() }],
    ['role', 'TransactWriteItems', { role: 'admin' }],
  ])('of %s leaves an entry that says its outcome is unknown', async (_, operation, json) => {
    const { id } = await register(service.api);
    const token = await logIn(service.api, service.admin);
    const headers = { 'user-agent': uniqueAgent() };
    proxy.impose({ fault: faults.silence, operation });

    const { status } = await service.api('PUT', `/api/users/${id}`, { token, json, headers });

    proxy.impose();
    const entries = await scanAudit(inject('engine'), service.environment.AUDIT_TABLE ?? '');
    const [entry] = entries.filter(({ user_agent }) => user_agent === headers['user-agent']);
    expect([status, entry?.result, entry?.resource_id]).toEqual([500, 'FAILURE', String(id)]);
    expect(JSON.parse(entry?.details ?? '{}')).toMatchObject({ outcome: 'unknown' });
  });
});
