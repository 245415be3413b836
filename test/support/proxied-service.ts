import { afterAll, inject } from 'vitest';
import { logIn } from './client.ts';
import { startProxy } from './proxy.ts';
import { startTestService } from './service.ts';

/** A service for the tests of one file, behind a proxy that fails what it is told to. */
export const proxiedServiceForThisFile = async (
  environment: Readonly<Record<string, string>> = {},
) => {
  const proxy = await startProxy(inject('engine'));
  const service = await startTestService({ ...environment, AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
  afterAll(async () => {
    await service.stop();
    await proxy.stop();
  });
  return { proxy, service, admin: await logIn(service.api, service.admin) };
};
