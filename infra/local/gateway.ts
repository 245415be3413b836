/** Serves handlers on this machine as an API Gateway HTTP API serves functions on AWS. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Handler } from '../../lib/http/request.ts';
import type { Route } from '../uses.ts';
import { drain } from './draining.ts';
import { makeRequestId, type ReceivedRequest, toGatewayEvent } from './event.ts';
import {
  corsHeaders,
  GatewayError,
  isPreflight,
  refuseMalformed,
  writeResponse,
} from './gateway-response.ts';

export interface Integration {
  readonly route: Route;
  readonly handler: Handler;
}

interface GatewayOptions {
  /** The origins whose pages may read responses; `*` for all. */
  readonly origins: readonly string[];
  /** Called with a line for each request; undefined: requests are not logged. */
  readonly log: ((line: string) => void) | undefined;
  /** The origin of a reverse proxy on this machine; undefined: the headers of proxies are not believed. */
  readonly publicUrl: string | undefined;
  explain(message: IncomingMessage, result: APIGatewayProxyStructuredResultV2): void;
}

/**
 * Creates an HTTP server that invokes handlers with events in payload format 2.0. It has the limits, the CORS headers
 * and the errors of API Gateway.
 * @param integrations the handlers. Requests wait until they are loaded; if loading fails, connections are closed
 */
export function createGateway(
  integrations: Promise<readonly Integration[]>,
  { origins, log, publicUrl, explain }: GatewayOptions,
) {
  // The timeout is longer than clients and proxies keep an idle connection, because a request fails if its connection
  // is closed while it is sent.
  const server = createServer({ maxHeaderSize: 256 * 1024, keepAliveTimeout: 65_000 });
  integrations.catch(() => undefined);
  const works = new Map<IncomingMessage, Promise<void>>();
  let isEnding = false;

  const handle = async (message: IncomingMessage, response: ServerResponse) => {
    if (log) logWhenDone(message, response, log);
    const requestId = makeRequestId();
    response.setHeader('apigw-requestid', requestId);
    for (const [name, value] of Object.entries(corsHeaders(message, origins))) {
      response.setHeader(name, value);
    }
    try {
      const result = await respond(await integrations, { message, requestId, publicUrl });
      explain(message, result);
      if (isEnding) response.setHeader('Connection', 'close');
      writeResponse(response, result);
      if (!response.closed) await once(response, 'close');
    } catch {
      // The client has gone away while its request was read.
      response.destroy();
    }
    works.delete(message);
  };
  server.on('request', (message, response) => works.set(message, handle(message, response)));
  server.on('clientError', refuseMalformed);
  return {
    /** Listens on a port, or on any free port for 0. @returns the port @throws {Error} EADDRINUSE */
    listen: async (port: number): Promise<number> => {
      server.listen(port);
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    },
    /** Ends the server when all requests have got their responses, or the time for them is over. */
    drain: (): Promise<void> => {
      isEnding = true;
      return drain(server, works);
    },
  };
}

/** The path parameters in a path as it was sent; undefined if the path does not match the path of a route. */
export function matchPath(pattern: string, target: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), target.split('/')];
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [i, segment] of wanted.entries()) {
    const value = decodeURIComponent(given[i] ?? '');
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    // The name of a page's file may be empty, as in `/console/` (infra/stack/http-api.ts).
    if (name && (value || name === 'file')) parameters[name] = value;
    else if (segment !== value) return undefined;
  }
  return parameters;
}

function logWhenDone(
  message: IncomingMessage,
  response: ServerResponse,
  log: (line: string) => void,
): void {
  const begun = performance.now();
  response.once('close', () => {
    const outcome = response.writableFinished ? response.statusCode : 'not answered';
    const milliseconds = Math.round(performance.now() - begun);
    log(`${message.method} ${loggedPath(message)} ${outcome} ${milliseconds} ms`);
  });
}

/** The most characters of a path that a line of the log shows. */
const longestPath = 200;

/** The path of a request, without the query, the token of a mailed link, and control characters. */
function loggedPath({ url = '' }: IncomingMessage): string {
  const path = url.replace(/(?:[?#]|%(?:25)*23).*/s, '').replaceAll(/[^!-~]/g, encodeURIComponent);
  return path.length > longestPath ? `${path.slice(0, longestPath)}…` : path;
}

async function respond(
  integrations: readonly Integration[],
  { message, ...about }: Pick<ReceivedRequest, 'message' | 'requestId' | 'publicUrl'>,
): Promise<APIGatewayProxyStructuredResultV2> {
  const receivedAt = new Date();
  if (isPreflight(message)) return { statusCode: 204 };
  try {
    requireSmallHeaders(message);
    const { undecoded, ...target } = splitTarget(message.url ?? '/');
    const { handler, ...found } = findIntegration(integrations, message.method, undecoded);
    const body = await readBody(message);
    const request = { ...about, ...target, ...found, message, body, receivedAt };
    return await invoke(handler, toGatewayEvent(request));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return {
      statusCode: error.status,
      headers: {
        'Cache-Control': 'no-store',
        'Content-Type': 'application/json',
        'X-Request-Id': about.requestId,
      },
      body: JSON.stringify({ message: error.message }),
    };
  }
}

/** API Gateway's quotas for HTTP APIs. */
const limits = {
  /** Bytes. */
  body: 10 * 1024 * 1024,
  /** Bytes of the request line and the headers together. */
  headers: 10_240,
  /** Milliseconds. */
  integration: 30_000,
};

function requireSmallHeaders({ rawHeaders, url = '' }: IncomingMessage): void {
  const size = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  if (size > limits.headers) throw new GatewayError(431, 'Request Header Fields Too Large');
}

/** @throws {GatewayError} 400 when the path cannot be decoded */
function splitTarget(target: string) {
  const at = target.indexOf('?');
  const [undecoded, query] = at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
  try {
    return { undecoded, path: decodeURIComponent(undecoded), query };
  } catch {
    throw new GatewayError(400, 'Bad Request');
  }
}

/** @throws {GatewayError} 404 */
function findIntegration(
  integrations: readonly Integration[],
  method: string | undefined,
  undecodedPath: string,
) {
  for (const integration of integrations) {
    if (integration.route.method !== method) continue;
    const pathParameters = matchPath(integration.route.path, undecodedPath);
    if (pathParameters) return { ...integration, pathParameters };
  }
  throw new GatewayError(404, 'Not Found');
}

/**
 * The most bytes that are read of a body that is too long. It is read on so that its sender can receive the response.
 */
const drainLimit = 64 * 1024 * 1024;

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= limits.body) chunks.push(chunk);
    if (length > drainLimit) break;
  }
  if (length > limits.body) throw new GatewayError(413, 'Request Entity Too Large');
  return Buffer.concat(chunks);
}

async function invoke(
  handler: Handler,
  event: APIGatewayProxyEventV2,
): Promise<APIGatewayProxyStructuredResultV2> {
  const deadline = Date.now() + limits.integration;
  const context = {
    awsRequestId: event.requestContext.requestId,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const late = new GatewayError(503, 'Service Unavailable');
    timer = setTimeout(() => reject(late), limits.integration);
  });
  try {
    return await Promise.race([handler(event, context), timeout]);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    console.error(error);
    throw new GatewayError(500, 'Internal Server Error');
  } finally {
    clearTimeout(timer);
  }
}
