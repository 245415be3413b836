import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import {
  DomainError,
  type ErrorCode,
  type FaultField,
  faultName,
  httpErrors,
  problemOfField,
  type StorageFault,
} from '../ground/errors.ts';
import { describeFault, logError } from '../ground/log.ts';
import { type ApiResponse, accepts, type Middleware } from './request.ts';

export const jsonType = 'application/json; charset=utf-8';

/** Headers of every response: no cache stores the response, and browsers treat it only as data (ASVS 5.0, V3.4). */
const commonHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
};

/** An error in the form for @middy/http-error-handler, with the body that {@link render} gives it. */
interface HttpError {
  readonly statusCode: number;
  readonly expose: true;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly body: object;
}

export function render(): Middleware {
  const rendered = (
    requestId: string | undefined,
    { statusCode, headers, body, contentType }: ApiResponse,
  ): APIGatewayProxyStructuredResultV2 => ({
    statusCode,
    headers: {
      ...commonHeaders,
      ...headers,
      ...(body === undefined ? {} : { 'Content-Type': contentType ?? jsonType }),
      'X-Request-Id': requestId ?? '',
    },
    ...bodyOf(body, contentType),
  });

  const renderAfter: NonNullable<Middleware['after']> = (request) => {
    request.response = rendered(request.event.requestContext?.requestId, request.response);
  };

  const renderOnError: NonNullable<Middleware['onError']> = (request) => {
    const { body, contentType } = request.error as unknown as HttpError;
    request.response = rendered(request.event.requestContext?.requestId, {
      ...request.response,
      contentType,
      body,
    });
  };

  return { after: renderAfter, onError: renderOnError };
}

const problemType = 'application/problem+json';

type FaultName = Readonly<Partial<Record<FaultField, string>>>;

/** Turns an error into an HTTP error, and logs faults, but not refusals, whose cause is the caller's input. */
export function mapErrors({
  storageFault = ['Internal server error', 'err'],
}: {
  storageFault?: StorageFault | undefined;
}): Middleware {
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
    const fault: FaultName = field ? { [field]: faultName(error) } : {};
    const httpError: HttpError = {
      statusCode: httpErrors[error.code].status,
      expose: true,
      headers: headersOf(error),
      ...(accepts(request.event.headers?.accept, problemType)
        ? problem(error, message, fault)
        : plain(message, fault)),
    };
    request.error = httpError as unknown as Error;
  };

  return { onError: mapErrorsOnError };
}

/** The body in the form for the gateway: bytes are sent as base64. */
function bodyOf(body: unknown, contentType: string | undefined) {
  if (Buffer.isBuffer(body)) return { body: body.toString('base64'), isBase64Encoded: true };
  return { body: typeof body === 'string' && contentType ? body : JSON.stringify(body) };
}

/** The header WWW-Authenticate of a 401 (RFC 6750, section 3). */
const challenges: Partial<Record<ErrorCode, string>> = {
  NO_TOKEN: 'Bearer',
  INVALID_CREDENTIALS: 'Bearer',
  REFRESH_TOKEN_INVALID: 'Bearer',
  IDENTITY_TOKEN_INVALID: 'Bearer',
  LOGIN_CODE_REQUIRED: 'Bearer',
  LOGIN_CODE_WRONG: 'Bearer',
  LOGIN_PASSKEY_INVALID: 'Bearer',
  PASSKEY_UNKNOWN: 'Bearer',
  TOKEN_EXPIRED: 'Bearer error="invalid_token"',
  TOKEN_INVALID: 'Bearer error="invalid_token"',
};

function headersOf({ code, retryAfter }: DomainError): Record<string, string> {
  const challenge = challenges[code];
  return {
    'Error-Code': code,
    ...(challenge ? { 'WWW-Authenticate': challenge } : {}),
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
  };
}

/** The body of an error as problem details (RFC 9457; functions/README.md, Problem details). */
function problem({ code, faults, retryAfter }: DomainError, title: string, fault: FaultName) {
  return {
    contentType: problemType,
    body: {
      type: `/docs#${code}`,
      title,
      status: httpErrors[code].status,
      code,
      ...(faults.length === 0 ? {} : { errors: faults.map(problemOfField) }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...fault,
    },
  };
}

function plain(message: string, fault: FaultName) {
  return {
    contentType: jsonType,
    body: { message, ...fault },
  };
}
