import * as v from 'valibot';
import type { Contract } from '../../lib/contract/contract.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import type { ApiResponse, AuthenticatedRequest, Handler } from '../../lib/http/request.ts';

export type TestOptions = Partial<Omit<Contract, 'body'>> & { readonly body?: 'json' };

type TestRequest = AuthenticatedRequest & { readonly body: Readonly<Record<string, unknown>> };

/** An endpoint that belongs to no route, and does what the test needs. */
export const testEndpoint = (
  { body, ...options }: TestOptions,
  handle: (request: TestRequest) => Promise<ApiResponse> | ApiResponse,
): Handler => {
  const contract = {
    route: 'POST /api/x',
    may: 'public',
    ...options,
    ...(body ? { body: () => v.looseObject({}) } : {}),
  } as const;
  const make: typeof publicEndpoint =
    contract.may === 'public' ? publicEndpoint : (protectedEndpoint as never);
  return make(contract as never, handle as never);
};
