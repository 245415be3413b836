import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { register, uniqueEmail } from '../support/client.ts';
import { asOnAws } from '../support/patience.ts';
import { type EngineProxy, faults, startProxy } from '../support/proxy.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Milliseconds within which an endpoint answers though the engine is gone. */
const stoppedEngineTimeout = 5000;

describe('A registration while the engine is silent', () => {
  let proxy: EngineProxy;
  let service: TestService;
  beforeAll(async () => {
    proxy = await startProxy(inject('engine'));
    service = await startTestService({
      ...asOnAws,
      AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
      // One more thing that waits for the engine.
      REGISTRATIONS_PER_ADDRESS: '100',
    });
    await register(service.api);
  });
  afterAll(async () => {
    await service.stop();
    await proxy.stop();
  });

  // Again where the machine, and not the service, was slow.
  const again = { retry: 2 };
  it('is answered in time, though count, user and audit entry wait in turn', again, async () => {
    proxy.impose({ fault: faults.stall });
    const json = { name: 'n', email: uniqueEmail(), password: 'p' };
    const startedAt = performance.now();

    const { status, body } = await service.api('POST', '/api/auth/register', { json });

    expect([status, body.message]).toEqual([500, 'Error registering user']);
    expect(performance.now() - startedAt).toBeLessThan(stoppedEngineTimeout);
  });
});
