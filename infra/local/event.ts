import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { isAddress, oneSpelling } from '../../lib/ground/source.ts';
import type { Route } from '../uses.ts';

/** An id in the form of API Gateway's request ids. */
export function makeRequestId(): string {
  return `${randomBytes(11).toString('base64url')}=`;
}

export interface ReceivedRequest {
  readonly message: IncomingMessage;
  readonly requestId: string;
  readonly path: string;
  readonly query: string;
  readonly body: Buffer;
  readonly route: Route;
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly receivedAt: Date;
  /** The origin of a reverse proxy, which is then the origin of the service. */
  readonly publicUrl: string | undefined;
}

/** The event, payload format 2.0, with which an HTTP API invokes a function. */
export function toGatewayEvent(received: ReceivedRequest): APIGatewayProxyEventV2 {
  const { message, path, query, pathParameters, route, receivedAt, publicUrl } = received;
  const { cookie, ...given } = joined(headersIn(message));
  const { host, forwarded, headers } = believed(given, publicUrl);
  const { key } = route;
  return {
    version: '2.0',
    routeKey: key,
    rawPath: path,
    rawQueryString: query,
    ...(cookie ? { cookies: cookie.split(/;\s*/) } : {}),
    headers,
    ...(query ? { queryStringParameters: joined(new URLSearchParams(query)) } : {}),
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
        sourceIp: sourceAddress(message.socket.remoteAddress, forwarded),
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
}

/**
 * The source of a request: the address at the other end of its connection. If that address belongs to this machine, the
 * source is the last address in X-Forwarded-For, which a proxy on this machine has added; clients can forge the
 * addresses before it.
 * @param remote the address at the other end; undefined: the connection has ended
 * @param forwarded the header X-Forwarded-For; absent: there is none, or it must not be believed
 */
export function sourceAddress(remote = '', forwarded = ''): string {
  const end = remote.replace(/^::ffff:/, '');
  const isOnThisMachine = end === '::1' || end.startsWith('127.');
  const last = forwarded.slice(forwarded.lastIndexOf(',') + 1).trim();
  return isOnThisMachine && isAddress(last) ? oneSpelling(last) : end;
}

function joined(pairs: Iterable<readonly [string, string]>): Record<string, string> {
  const values = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries(
    [...values].map(([name, same]) => [name, same.map(([, value]) => value).join(',')]),
  );
}

function headersIn({ rawHeaders }: IncomingMessage): readonly (readonly [string, string])[] {
  const names = rawHeaders.filter((_, i) => i % 2 === 0);
  return names.map((name, i) => [name.toLowerCase(), rawHeaders[2 * i + 1] ?? '']);
}

/**
 * The host and the headers of a request that are believed. Behind a reverse proxy, host and protocol come from the
 * proxy's origin.
 */
function believed(given: Readonly<Record<string, string>>, publicUrl: string | undefined) {
  if (!publicUrl) return { host: given.host ?? 'localhost', headers: given };
  const { host, protocol } = new URL(publicUrl);
  const headers: typeof given = { ...given, 'x-forwarded-proto': protocol.slice(0, -1) };
  return { host, forwarded: given['x-forwarded-for'], headers };
}

/** A time such as `21/Nov/2026:09:05:00 +0000`. */
function commonLogTime(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}

/** Media types whose bodies API Gateway passes on as text; all others are passed as base64. */
const textMediaType =
  /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml)\b|application\/javascript\b)/i;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bodyFields(body: Buffer, mediaType: string) {
  if (body.length === 0) return { isBase64Encoded: false };
  if (textMediaType.test(mediaType)) {
    try {
      return { body: utf8.decode(body), isBase64Encoded: false };
    } catch {
      // The body is not valid UTF-8.
    }
  }
  return { body: body.toString('base64'), isBase64Encoded: true };
}
