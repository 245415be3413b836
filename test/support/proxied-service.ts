import { afterAll, inject } from 'vitest';
import { type AcceptanceService, serviceForThisFile } from './acceptance.ts';
import { type EngineProxy, startProxy } from './proxy.ts';

export interface ProxiedService {
  readonly proxy: EngineProxy;
  readonly service: AcceptanceService;
  /** An admin's token. */
  readonly admin: string;
}

/** A service for the tests of one file, behind a proxy that fails what it is told to. */
export const proxiedServiceForThisFile = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<ProxiedService> => {
  const proxy = await startProxy(inject('engine'));
  afterAll(() => proxy.stop());
  const engine = { AWS_ENDPOINT_URL_DYNAMODB: proxy.url };
  const service = await serviceForThisFile({ ...environment, ...engine });
  return { proxy, service, admin: service.adminToken };
};
