import { afterAll, afterEach, inject } from 'vitest';
import { serviceForThisFile } from './acceptance.ts';
import { type EngineProxy, startProxy } from './proxy.ts';

export type ProxiedService = Awaited<ReturnType<typeof proxiedServiceForThisFile>>;

/** A service for the tests of one file, behind a proxy that injects faults. */
export const proxiedServiceForThisFile = async (
  environment: Readonly<Record<string, string>> = {},
) => {
  const proxy = await startProxy(inject('engine'));
  afterAll(() => proxy.stop());
  const engine = { AWS_ENDPOINT_URL_DYNAMODB: proxy.url };
  const service = await serviceForThisFile({ ...environment, ...engine });
  return { proxy, service, admin: service.adminToken };
};

/** Starts a proxy in front of the engine for the tests of one file. Each test begins without faults. */
export const proxyForThisFile = async (): Promise<EngineProxy> => {
  const proxy = await startProxy(inject('engine'));
  afterAll(() => proxy.stop());
  afterEach(() => proxy.impose());
  return proxy;
};
