/**
 * A backend in front of the service (functions/README.md, A backend in front): a machine vouches, by two headers, for
 * the address of the client for whom it sends a request.
 */
import { type Contract, takesSource } from '../contract/contract.ts';
import { DomainError } from '../ground/errors.ts';
import { config, hasMachines } from '../ground/settings.ts';
import { isAddress, oneSpelling } from '../ground/source.ts';
import { findMachine, noteUse } from '../options/machines/machine.ts';
import { endpoint } from './endpoint.ts';
import type {
  ApiResponse,
  EndpointHandler,
  IncomingEvent,
  Middleware,
  RequestTo,
} from './request.ts';

/** An endpoint for anyone whose requests are counted or recorded, so that their source may come from a backend. */
export function countingEndpoint<const C extends Contract & { readonly may: 'public' }>(
  contract: C,
  handle: (request: RequestTo<C>) => Promise<ApiResponse> | ApiResponse,
): EndpointHandler {
  return endpoint(contract, [fromBackend(contract)], handle);
}

/**
 * Makes the address for which a machine vouches the source address of a request, where the source counts. Any fault of
 * the two headers is rejected with CLIENT_ADDRESS_INVALID; one of them alone is ignored. The response waits until the
 * use of a machine's key is noted.
 */
export function fromBackend(contract: Contract): Middleware {
  const fromBackendBefore: NonNullable<Middleware['before']> = async ({ event }) => {
    if (hasMachines(config) && takesSource(contract)) await believeMachine(event);
  };

  const fromBackendAfter: NonNullable<Middleware['after']> = async ({ event }) => {
    await event.noting;
  };

  return { before: fromBackendBefore, after: fromBackendAfter, onError: fromBackendAfter };
}

async function believeMachine(event: IncomingEvent): Promise<void> {
  const { 'machine-key': key, 'client-address': address } = event.headers;
  if (key === undefined || address === undefined) return;
  const machine = isAddress(address) ? await findMachine(key) : undefined;
  event.noting = machine && noteUse(machine);
  if (!machine?.scopes.includes('client-address')) throw new DomainError('CLIENT_ADDRESS_INVALID');
  event.requestContext.http.sourceIp = oneSpelling(address);
  event.vouchingMachine = machine.id;
}
