import { afterAll } from 'vitest';
import { startLoopback } from './loopback.ts';

/** Starts a gateway in front of a service for the tests of one file, which throttles requests as API Gateway does. */
export const throttlingGatewayForThisFile = async (service: { readonly url: string }) => {
  /** The paths whose requests it throttles. */
  const throttled = new Set<string>();
  const { url, stop } = await startLoopback(async (request, body, response) => {
    response.setHeader('content-type', 'application/json');
    const { method = '', url: path = '', headers } = request;
    if (throttled.has(path)) return response.writeHead(429).end('{"message":"Too Many Requests"}');
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    const forwarded = await fetch(service.url + path, {
      method,
      headers: { 'content-type': type, ...(authorization && { authorization }) },
      ...(body && { body }),
    });
    const code = forwarded.headers.get('error-code');
    if (code) response.setHeader('error-code', code);
    return response.writeHead(forwarded.status).end(await forwarded.text());
  });
  afterAll(stop);
  return { url, throttled };
};
