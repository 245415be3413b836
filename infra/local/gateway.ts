import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Handler } from '../../lib/http/request.ts';
import { cors, type Route } from '../routes.ts';
import { drainable } from './draining.ts';
import { makeRequestId, toGatewayEvent } from './event.ts';

/** What API Gateway allows an HTTP API (its quotas for HTTP APIs). */
const limits = {
  /** Bytes. */
  body: 10 * 1024 * 1024,
  /** Bytes, request line and headers together. */
  headers: 10_240,
  /** Milliseconds. */
  integration: 30_000,
};

/** Bytes of an over-long body that are read and dropped so that its sender hears the answer. */
const drainLimit = 64 * 1024 * 1024;

export interface Integration {
  readonly route: Route;
  readonly handler: Handler;
}

/** An answer that the gateway gives by itself. */
class GatewayAnswer extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const readBody = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= limits.body) chunks.push(chunk);
    if (length > drainLimit) break;
  }
  if (length > limits.body) throw new GatewayAnswer(413, 'Request Entity Too Large');
  return Buffer.concat(chunks);
};

const requireSmallHeaders = ({ rawHeaders, url = '' }: IncomingMessage): void => {
  const size = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  if (size > limits.headers) throw new GatewayAnswer(431, 'Request Header Fields Too Large');
};

const splitTarget = (target: string): { path: string; query: string } => {
  const at = target.indexOf('?');
  const [path, query] = at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
  try {
    return { path: decodeURIComponent(path), query };
  } catch {
    throw new GatewayAnswer(400, 'Bad Request');
  }
};

/** The path parameters of a path that a route's path matches, or undefined. */
const matchPath = (pattern: string, target: string): Record<string, string> | undefined => {
  const [wanted, given] = [pattern.split('/'), target.split('/')];
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [i, segment] of wanted.entries()) {
    const value = decodeURIComponent(given[i] ?? '');
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name && value) parameters[name] = value;
    else if (segment !== value) return undefined;
  }
  return parameters;
};

const findIntegration = (
  integrations: readonly Integration[],
  method: string | undefined,
  target: string,
) => {
  const [undecodedPath = ''] = target.split('?');
  for (const integration of integrations) {
    if (integration.route.method !== method) continue;
    const pathParameters = matchPath(integration.route.path, undecodedPath);
    if (pathParameters) return { ...integration, pathParameters };
  }
  throw new GatewayAnswer(404, 'Not Found');
};

const invoke = async (
  handler: Handler,
  event: APIGatewayProxyEventV2,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const deadline = Date.now() + limits.integration;
  const context = {
    awsRequestId: event.requestContext.requestId,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const late = new GatewayAnswer(503, 'Service Unavailable');
    timer = setTimeout(() => reject(late), limits.integration);
  });
  try {
    return await Promise.race([handler(event, context), timeout]);
  } catch (error) {
    if (error instanceof GatewayAnswer) throw error;
    console.error(error);
    throw new GatewayAnswer(500, 'Internal Server Error');
  } finally {
    clearTimeout(timer);
  }
};

const isPreflight = ({ method, headers }: IncomingMessage) =>
  method === 'OPTIONS' && headers.origin && headers['access-control-request-method'];

const corsHeaders = (message: IncomingMessage, origins: readonly string[]) => {
  const { origin } = message.headers;
  const allowed = origins.includes('*') ? '*' : origins.find((candidate) => candidate === origin);
  if (!origin || !allowed) return {};
  if (!isPreflight(message)) {
    return {
      'Access-Control-Allow-Origin': allowed,
      'Access-Control-Expose-Headers': cors.responseHeaders.join(','),
    };
  }
  return {
    'Access-Control-Allow-Origin': allowed,
    'Access-Control-Allow-Methods': cors.methods.join(','),
    'Access-Control-Allow-Headers': cors.requestHeaders.join(','),
    'Access-Control-Max-Age': String(cors.maxAge),
  };
};

const respond = async (
  integrations: readonly Integration[],
  message: IncomingMessage,
  requestId: string,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const receivedAt = new Date();
  if (isPreflight(message)) return { statusCode: 204 };
  try {
    requireSmallHeaders(message);
    const target = message.url ?? '/';
    const { path, query } = splitTarget(target);
    const { route, handler, pathParameters } = findIntegration(
      integrations,
      message.method,
      target,
    );
    const body = await readBody(message);
    const received = { message, requestId, path, query, body, route, pathParameters, receivedAt };
    return await invoke(handler, toGatewayEvent(received));
  } catch (error) {
    if (!(error instanceof GatewayAnswer)) throw error;
    return {
      statusCode: error.status,
      headers: {
        'Cache-Control': 'no-store',
        'Content-Type': 'application/json',
        'X-Request-Id': requestId,
      },
      body: JSON.stringify({ message: error.message }),
    };
  }
};

const writeAnswer = (response: ServerResponse, result: APIGatewayProxyStructuredResultV2) => {
  const headers = Object.entries(result.headers ?? {});
  for (const [name, value] of headers) response.setHeader(name, String(value));
  // A body that was not read to its end is in the way of the next request.
  if (!response.req.complete) response.setHeader('Connection', 'close');
  response.statusCode = result.statusCode ?? 200;
  response.end(result.body);
};

const rawAnswers: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

const refuseMalformed = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = rawAnswers[error.code ?? ''] ?? '400 Bad Request';
  const body = JSON.stringify({ message: status.slice(4) });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
};

/** What does for handlers on this machine what an API Gateway HTTP API does for functions in AWS. */
export interface Gateway {
  /** Takes a port, 0 for a free one. @returns the port @throws {Error} EADDRINUSE */
  listen(port: number): Promise<number>;
  /** Ends it when what it was asked is answered, or out of time. */
  drain(): Promise<void>;
}

/**
 * Makes an HTTP server of routes, events in payload format 2.0, limits, CORS and errors of its own.
 * @param integrations until they are there, requests wait; when they cannot be had, clients are
 *   cut off
 * @param origins the origins whose pages may read answers; `*` for all
 */
export const createGateway = (
  integrations: Promise<readonly Integration[]>,
  { origins }: { origins: readonly string[] },
): Gateway => {
  // Longer than clients and proxies keep a connection: one that is closed as they use it again looks
  // to them like a request that failed.
  const server = createServer({ maxHeaderSize: 256 * 1024, keepAliveTimeout: 65_000 });
  const draining = drainable(server);
  const tracked = ({ route, handler }: Integration): Integration => ({
    route,
    handler: (...request) => {
      const result = handler(...request);
      draining.track(result);
      return result;
    },
  });
  const ready = integrations.then((list) => list.map(tracked));
  ready.catch(() => undefined);

  server.on('request', async (message, response) => {
    const requestId = makeRequestId();
    response.setHeader('apigw-requestid', requestId);
    for (const [name, value] of Object.entries(corsHeaders(message, origins))) {
      response.setHeader(name, value);
    }
    try {
      const result = await respond(await ready, message, requestId);
      if (draining.begun) response.setHeader('Connection', 'close');
      writeAnswer(response, result);
    } catch {
      // The client went away while its request was read.
      response.destroy();
    }
  });
  server.on('clientError', refuseMalformed);
  return {
    listen: async (port) => {
      server.listen(port);
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    },
    drain: draining.drain,
  };
};
