import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Route } from '../uses.ts';

/** Media types whose bodies API Gateway passes on as text; all others are passed as base64. */
const textMediaType =
  /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml)\b|application\/javascript\b)/i;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const bodyFields = (body: Buffer, mediaType: string) => {
  if (body.length === 0) return { isBase64Encoded: false };
  if (textMediaType.test(mediaType)) {
    try {
      return { body: utf8.decode(body), isBase64Encoded: false };
    } catch {
      // The body is not valid UTF-8.
    }
  }
  return { body: body.toString('base64'), isBase64Encoded: true };
};

/** Headers by lower-case names; the values of a repeated header are joined by commas. */
const joinHeaders = (raw: readonly string[]): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase();
    const value = raw[i + 1] ?? '';
    headers[name] = headers[name] === undefined ? value : `${headers[name]},${value}`;
  }
  return headers;
};

const joinQuery = (query: string): Record<string, string> => {
  const parameters: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    const earlier = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    Object.defineProperty(parameters, name, {
      value: earlier === undefined ? value : `${earlier},${value}`,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return parameters;
};

/** A time such as `21/Nov/2026:09:05:00 +0000`. */
const commonLogTime = (date: Date): string => {
  const [, day, month, year, time] = date.toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
};

const loopbackV4 = (address: string) => address.replace(/^::ffff:/, '');

/** An id in the form of API Gateway's request ids. */
export const makeRequestId = (): string => `${randomBytes(11).toString('base64url')}=`;

export interface ReceivedRequest {
  readonly message: IncomingMessage;
  readonly requestId: string;
  readonly path: string;
  readonly query: string;
  readonly body: Buffer;
  readonly route: Route;
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly receivedAt: Date;
}

/** The event, payload format 2.0, with which an HTTP API invokes a function. */
export const toGatewayEvent = (received: ReceivedRequest): APIGatewayProxyEventV2 => {
  const { message, path, query, pathParameters, route, receivedAt } = received;
  const { cookie, ...headers } = joinHeaders(message.rawHeaders);
  const { key } = route;
  const host = headers.host ?? 'localhost';
  return {
    version: '2.0',
    routeKey: key,
    rawPath: path,
    rawQueryString: query,
    ...(cookie ? { cookies: cookie.split(/;\s*/) } : {}),
    headers,
    ...(query ? { queryStringParameters: joinQuery(query) } : {}),
    ...(Object.keys(pathParameters).length > 0 ? { pathParameters } : {}),
    requestContext: {
      accountId: 'local',
      apiId: 'local',
      domainName: host,
      domainPrefix: host.split('.')[0] ?? host,
      http: {
        method: message.method ?? 'GET',
        path,
        protocol: `HTTP/${message.httpVersion}`,
        sourceIp: loopbackV4(message.socket.remoteAddress ?? ''),
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: received.requestId,
      routeKey: key,
      stage: '$default',
      time: commonLogTime(receivedAt),
      timeEpoch: receivedAt.getTime(),
    },
    ...bodyFields(received.body, headers['content-type'] ?? ''),
  };
};
