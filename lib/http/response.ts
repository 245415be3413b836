import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { DomainError, type ErrorCode, type FaultField, faultName, httpErrors } from '../errors.ts';
import { describeFault, logError } from '../log.ts';
import type { ApiResponse, Middleware } from './request.ts';

/** What every response carries: never kept, and to a browser no more than data (ASVS 5.0, V3.4). */
export const commonHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
};

const jsonHeaders = { 'Content-Type': 'application/json; charset=utf-8' };

/** What a 500 says when the store fails: a message, and the field that names the fault. */
export type StorageFault = readonly [message: string, field: FaultField];

/** An error as @middy/http-error-handler takes it, with the body that {@link render} gives it. */
interface HttpError {
  readonly statusCode: number;
  readonly expose: true;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string>>;
}

/** Renders what a handler returned, and errors, with the headers that all responses carry. */
export const render = (): Middleware => {
  const rendered = (
    requestId: string | undefined,
    { statusCode, headers, body }: ApiResponse,
  ): APIGatewayProxyStructuredResultV2 => ({
    statusCode,
    headers: {
      ...headers,
      ...commonHeaders,
      ...(body === undefined ? {} : jsonHeaders),
      'X-Request-Id': requestId ?? '',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

  const renderAfter: NonNullable<Middleware['after']> = (request) => {
    request.response = rendered(request.event.requestContext?.requestId, request.response);
  };

  const renderOnError: NonNullable<Middleware['onError']> = (request) => {
    const { body } = request.error as unknown as HttpError;
    request.response = rendered(request.event.requestContext?.requestId, {
      ...request.response,
      body,
    });
  };

  return { after: renderAfter, onError: renderOnError };
};

/** RFC 6750, section 3: what a 401 says besides its body. */
const challenges: Partial<Record<ErrorCode, string>> = {
  NO_TOKEN: 'Bearer',
  INVALID_CREDENTIALS: 'Bearer',
  TOKEN_EXPIRED: 'Bearer error="invalid_token"',
  TOKEN_INVALID: 'Bearer error="invalid_token"',
};

const headersOf = ({ code, retryAfter }: DomainError): Record<string, string> => {
  const challenge = challenges[code];
  return {
    ...(challenge ? { 'WWW-Authenticate': challenge } : {}),
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
  };
};

/**
 * Turns whatever was thrown into an HTTP error, by the table in lib/errors.ts, and logs faults
 * (never refusals, whose cause is the caller's input).
 */
export const mapErrors = ({
  storageFault = ['Internal server error', 'err'],
}: {
  storageFault?: StorageFault | undefined;
}): Middleware => {
  const describe = (error: DomainError): { message: string; field: FaultField | undefined } => {
    const { message = error.message, field } = httpErrors[error.code];
    if (error.code !== 'STORAGE_FAULT') return { message, field };
    return { message: storageFault[0], field: storageFault[1] };
  };

  const mapErrorsOnError: NonNullable<Middleware['onError']> = (request) => {
    const error =
      request.error instanceof DomainError
        ? request.error
        : new DomainError('UNEXPECTED_FAULT', { cause: request.error });
    const { message, field } = describe(error);
    if (field) {
      const { routeKey, requestContext } = request.event;
      const where = { route: routeKey, requestId: requestContext?.requestId };
      logError('fault', { code: error.code, ...where, ...describeFault(error) });
    }
    const httpError: HttpError = {
      statusCode: httpErrors[error.code].status,
      expose: true,
      headers: headersOf(error),
      body: { message, ...(field ? { [field]: faultName(error) } : {}) },
    };
    request.error = httpError as unknown as Error;
  };

  return { onError: mapErrorsOnError };
};
