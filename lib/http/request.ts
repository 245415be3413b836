/** A request on its way from the gateway through the middlewares to a handler. */
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Claims } from '../auth/token.ts';
import type { Bearer } from '../users/sessions.ts';
import type { Permission } from '../users/update.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** The gateway's event (payload format 2.0) while the middlewares run. */
export type IncomingEvent = Omit<APIGatewayProxyEventV2, 'body'> & {
  body?: unknown;
  claims?: Claims;
  caller?: Bearer;
  permission?: Permission;
};

export type Middleware = MiddlewareObj<IncomingEvent>;

/** The argument of a handler: the event after the middlewares have run. */
export type ApiRequest = Omit<APIGatewayProxyEventV2, 'body'> & {
  /** The parsed body; empty unless the operation has one. */
  readonly body: JsonObject;
};

/** A request to an endpoint that requires a token. */
export type AuthenticatedRequest = ApiRequest & {
  /** The caller. */
  readonly claims: Claims;
  /** The caller as stored, with its session, where sessions are revocable: authentication has read it. */
  readonly caller?: Bearer;
  /** The permission for the request, where neither the path's id nor the role gives it. */
  readonly permission?: Permission;
};

/**
 * The request's id and origin for audit entries, as the gateway gives them, never from a header.
 */
export const sourceOf = ({ requestContext: { http, requestId } }: ApiRequest) => ({
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
