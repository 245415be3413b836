import { describe, expect, it } from 'vitest';
import { publicEndpoint } from '../../../lib/http/endpoint.ts';
import { routes } from '../../../lib/http/routes.ts';
import { gatewayEvent } from '../../support/event.ts';

const contract = { route: 'GET /a/{name}', may: 'public' } as const;

describe('routes', () => {
  const handler = routes(
    publicEndpoint({ ...contract, route: 'GET /a' }, () => ({ statusCode: 202 })),
    publicEndpoint(contract, () => ({ statusCode: 204 })),
  );
  const call = (route: string) => handler(gatewayEvent({ method: 'GET', path: '/a/b', route }), {});

  it('passes a request to the endpoint of its route, whatever the path of the request is', async () => {
    expect((await call('/a/{name}')).statusCode).toBe(204);
    expect((await call('/a')).statusCode).toBe(202);
  });

  it('recognises the route of a file that has a greedy parameter at the gateway', async () => {
    expect((await call('/a/{name+}')).statusCode).toBe(204);
  });

  it('throws for a route that no endpoint has', async () => {
    await expect(call('/b')).rejects.toThrow('No handler for route GET /b');
  });
});
