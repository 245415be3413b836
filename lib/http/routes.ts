import type { EndpointHandler, Handler } from './request.ts';

/**
 * The handler of a function that serves several endpoints, each by the route of its contract. A function has an
 * endpoint of its own unless they share what one process keeps: memory, verifiers of tokens and passkeys, pages.
 * @throws {Error} for a route of none of them, which the stack never sends
 */
export function routes(...endpoints: readonly EndpointHandler[]): Handler {
  const byRoute = new Map(endpoints.map((endpoint) => [endpoint.route, endpoint]));
  return async (event, context) => {
    // The gateway's parameter of a file is greedy: see infra/stack/http-api.ts.
    const endpoint = byRoute.get(event.routeKey.replace('+}', '}'));
    if (!endpoint) throw new Error(`No handler for route ${event.routeKey}`);
    return endpoint(event, context);
  };
}
