import type { EndpointHandler, Handler } from './request.ts';

/**
 * The handler of a function that serves several endpoints, each at the route of its contract. Endpoints share a
 * function only if they use the same state of a process (users in memory, verifiers of tokens and passkeys, pages), or if
 * they are seldom called.
 * @throws {Error} for a route that no endpoint has; the stack sends no such route
 */
export function routes(...endpoints: readonly EndpointHandler[]): Handler {
  const byRoute = new Map(endpoints.map((endpoint) => [endpoint.route, endpoint]));
  return async (event, context) => {
    // In the gateway, the parameter for a file is greedy: see infra/stack/http-api.ts.
    const endpoint = byRoute.get(event.routeKey.replace('+}', '}'));
    if (!endpoint) throw new Error(`No handler for route ${event.routeKey}`);
    return endpoint(event, context);
  };
}
