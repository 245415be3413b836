/** A request on its way from the gateway through the middlewares to a handler. */

import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Claims } from '../auth/token.ts';
import type { Source } from '../source.ts';
import type { Bearer } from '../users/bearer.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** The gateway's event (payload format 2.0) while the middlewares run. */
export type IncomingEvent = Omit<APIGatewayProxyEventV2, 'body'> & {
  body?: unknown;
  claims?: Claims;
  caller?: Bearer;
};

export type Middleware = MiddlewareObj<IncomingEvent>;

/** The argument of a handler: the event after the middlewares have run. */
export type ApiRequest = Omit<APIGatewayProxyEventV2, 'body'> & {
  /** The parsed body; empty unless the operation has one. */
  readonly body: JsonObject;
  /** The caller, if known. */
  readonly claims?: Claims;
};

/** A request to an endpoint that requires a token. */
export type AuthenticatedRequest = ApiRequest & {
  /** The caller. */
  readonly claims: Claims;
  /** The caller as stored, with the session, where there are sessions: authentication has read it. */
  readonly caller?: Bearer;
};

/**
 * The request's id and origin for audit entries, as the gateway gives them, never from a header.
 */
export const sourceOf = ({ requestContext: { http, requestId } }: ApiRequest): Source => ({
  ip_address: http.sourceIp,
  user_agent: http.userAgent,
  request_id: requestId,
});

export interface ApiResponse {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Serialised as JSON; text of another content type, and bytes, are sent as they are. Absent: no
   * body.
   */
  readonly body?: unknown;
  /** Absent: JSON. */
  readonly contentType?: string;
}

/** The function that a file exports and API Gateway invokes. */
export type Handler = (
  event: APIGatewayProxyEventV2,
  context: unknown,
) => Promise<APIGatewayProxyStructuredResultV2>;

/** A media range of an Accept header (RFC 9110, section 12.5.1). */
interface MediaRange {
  /** In lower case; a wildcard is an asterisk. */
  readonly type: string;
  /** From 0, not acceptable, to 1; NaN where it cannot be read. */
  readonly quality: number;
}

const rangesOf = (header: string): readonly MediaRange[] => {
  // A comma or a semicolon in a quoted string separates nothing.
  const unquoted = header.toLowerCase().replace(/"(?:[^"\\]|\\.?)*(?:"|$)/g, '""');
  return unquoted.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
  });
};

/**
 * Whether a header such as Accept or Accept-Encoding names a value itself, not only by a wildcard, and
 * does not refuse it by a quality of 0.
 */
export const accepts = (header: string | undefined, value: string): boolean =>
  rangesOf(header ?? '').some(({ type, quality }) => type === value && quality > 0);

/**
 * The offered media type that an Accept header prefers: by quality, then by precision, then by the
 * order in the header, then by the order of the offer. It is the first of the offer when there is
 * no header, or when no type is acceptable.
 */
export const preferredType = <T extends string>(
  header: string | undefined,
  offer: readonly [T, ...T[]],
): T => {
  const ranges = rangesOf(header ?? '');
  const rated = offer.map((type) => {
    // The most precise range that includes a type decides its quality.
    const names = [type, type.replace(/[^/]*$/, '*'), '*/*'];
    const places = names.map((name) => ranges.findIndex((range) => range.type === name));
    const precision = places.findIndex((place) => place >= 0);
    const place = places[precision] ?? -1;
    return { type, quality: ranges[place]?.quality ?? 0, precision, place };
  });
  const [best] = rated
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.precision - b.precision || a.place - b.place);
  return best?.type ?? offer[0];
};
