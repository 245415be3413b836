/** What the gateway answers by itself, and how answers are written. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { cors } from '../routes.ts';

/** An answer that the gateway gives by itself. */
export class GatewayAnswer extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const writeAnswer = (
  response: ServerResponse,
  result: APIGatewayProxyStructuredResultV2,
) => {
  const headers = Object.entries(result.headers ?? {});
  for (const [name, value] of headers) response.setHeader(name, String(value));
  // A body that was not read to its end is in the way of the next request.
  if (!response.req.complete) response.setHeader('Connection', 'close');
  response.statusCode = result.statusCode ?? 200;
  response.end(result.body, result.isBase64Encoded ? 'base64' : 'utf8');
};

const rawAnswers: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** Answers what is no HTTP, or more of it than is read. */
export const refuseMalformed = (error: NodeJS.ErrnoException, socket: Duplex): void => {
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

/** Whether a browser asks what it may send. */
export const isPreflight = ({ method, headers }: IncomingMessage) =>
  method === 'OPTIONS' && headers.origin && headers['access-control-request-method'];

/** What a browser is told: nothing, unless a page of an allowed origin asks. */
export const corsHeaders = (message: IncomingMessage, origins: readonly string[]) => {
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
