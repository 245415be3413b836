import * as v from 'valibot';
import type { StorageFault } from '../../lib/errors.ts';
import { type Access, anyone, endpoint } from '../../lib/http/endpoint.ts';
import type { ApiResponse, AuthenticatedRequest, Handler } from '../../lib/http/request.ts';

export interface TestOptions {
  readonly access?: Access;
  readonly body?: 'json';
  readonly storageFault?: StorageFault;
}

/** An endpoint that is no route's: what it does is what the test needs. */
export const testEndpoint = (
  { access = anyone, body, storageFault }: TestOptions,
  handle: (request: AuthenticatedRequest) => Promise<ApiResponse> | ApiResponse,
): Handler => {
  const operation = {
    caller: access.caller,
    ...(body ? { body: v.looseObject({}) } : {}),
    ...(storageFault ? { storageFault } : {}),
  };
  return endpoint(operation, access, handle as never);
};
