/** Makes the responses that the gateway gives without a handler, and writes responses. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { cors } from '../cors.ts';

/** An error to which the gateway responds without a handler. */
export class GatewayError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function writeResponse(response: ServerResponse, result: APIGatewayProxyStructuredResultV2) {
  const headers = Object.entries(result.headers ?? {});
  for (const [name, value] of headers) response.setHeader(name, String(value));
  // Otherwise the unread rest of the body would be read as the next request.
  if (!response.req.complete) response.setHeader('Connection', 'close');
  response.statusCode = result.statusCode ?? 200;
  response.end(result.body, result.isBase64Encoded ? 'base64' : 'utf8');
}

const malformedStatuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** Responds to bytes that are not valid HTTP, and to headers that are too large to be read. */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = malformedStatuses[error.code ?? ''] ?? '400 Bad Request';
  const body = JSON.stringify({ message: status.slice(4) });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
}

export function isPreflight({ method, headers }: IncomingMessage) {
  return method === 'OPTIONS' && headers.origin && headers['access-control-request-method'];
}

/** The CORS headers of a response: none, unless the request comes from an allowed origin. */
export function corsHeaders(message: IncomingMessage, origins: readonly string[]) {
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
}
