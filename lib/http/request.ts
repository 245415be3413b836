/** A request on its way from the gateway through the middlewares to a handler. */

import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type * as v from 'valibot';
import type { Claims } from '../auth/token.ts';
import type { Contract } from '../contract/contract.ts';
import { languages } from '../settings.ts';
import type { Source } from '../source.ts';
import type { Bearer } from '../users/bearer.ts';
import type { Role } from '../users/user.ts';
import { preferredLanguage } from './accept.ts';

/** The gateway's event (payload format 2.0) while the middlewares run. */
export type IncomingEvent = Omit<APIGatewayProxyEventV2, 'body'> & {
  body?: unknown;
  query?: unknown;
  id?: number;
  claims?: Claims;
  caller?: Bearer;
};

export type Middleware = MiddlewareObj<IncomingEvent>;

/** The argument of a handler: the event after the middlewares have run. */
export type ApiRequest = Omit<APIGatewayProxyEventV2, 'body'> & {
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

type BodyOf<C> = C extends { readonly body: (role: Role) => infer Schema extends v.GenericSchema }
  ? { readonly body: v.InferOutput<Schema> }
  : unknown;

type QueryOf<C> = C extends {
  readonly query: (accept: string | undefined) => infer Entries extends v.ObjectEntries;
}
  ? { readonly query: v.InferOutput<v.ObjectSchema<Entries, undefined>> }
  : unknown;

/** A request that a contract lets pass: the body and the query parameters are what it made of them. */
export type RequestTo<C extends Contract> = (C extends { readonly caller: 'anyone' }
  ? ApiRequest
  : AuthenticatedRequest) &
  BodyOf<C> &
  QueryOf<C> &
  (C['route'] extends `${string}{id}${string}` ? { readonly id: number } : unknown);

/**
 * The request's id and origin for audit entries, as the gateway gives them, never from a header; and the
 * language of its mails.
 */
export const sourceOf = ({ headers, requestContext }: ApiRequest): Source => {
  const { http, requestId } = requestContext;
  const language = preferredLanguage(headers?.['accept-language'], languages);
  return {
    ip_address: http.sourceIp,
    user_agent: http.userAgent,
    request_id: requestId,
    ...(language && { language }),
  };
};

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
