import type { EndpointOptions, Middleware } from '../endpoint.ts';
import { DomainError, type ErrorCode, faultName, httpErrors } from '../errors.ts';
import { describeFault, logError } from '../log.ts';

type Options = Pick<EndpointOptions, 'storageFault'>;

/** RFC 6750, section 3: what a 401 says besides its body. */
const challenges: Partial<Record<ErrorCode, string>> = {
  NO_TOKEN: 'Bearer',
  INVALID_CREDENTIALS: 'Bearer',
  TOKEN_EXPIRED: 'Bearer error="invalid_token"',
  TOKEN_INVALID: 'Bearer error="invalid_token"',
};

/** What @middy/http-json-body-parser throws, always with status 422, where decisions say 400. */
interface ParserError {
  readonly message?: string;
  readonly cause?: { readonly package?: string; readonly message?: string };
}

const parserCode = ({ message, cause }: ParserError): ErrorCode => {
  if (message === 'Forbidden key in JSON body') return 'BODY_FORBIDDEN_KEY';
  // The parser descends by recursion; these are V8's words when the stack ends first.
  const isTooDeep = cause?.message === 'Maximum call stack size exceeded';
  return isTooDeep ? 'BODY_TOO_DEEP' : 'BODY_MALFORMED';
};

const headersOf = ({ code, retryAfter }: DomainError): Record<string, string> => {
  const challenge = challenges[code];
  return {
    ...(challenge ? { 'WWW-Authenticate': challenge } : {}),
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
  };
};

const toDomainError = (error: unknown): DomainError => {
  if (error instanceof DomainError) return error;
  const parserError = error as ParserError;
  return parserError.cause?.package === '@middy/http-json-body-parser'
    ? new DomainError(parserCode(parserError))
    : new DomainError('UNEXPECTED_FAULT', { cause: error });
};

/**
 * Turns whatever was thrown into the HTTP error that @middy/http-error-handler renders, by the
 * table in lib/errors.ts, and logs faults (never refusals, whose cause is the caller's input).
 */
export const domainErrorMapper = ({ storageFault }: Options): Middleware => {
  const describe = (error: DomainError): { message: string; field: string | undefined } => {
    const { message, field } = httpErrors[error.code];
    if (error.code !== 'STORAGE_FAULT') return { message: message ?? error.message, field };
    const [ofOperation, ofField] = storageFault ?? ['Internal server error', 'err'];
    return { message: ofOperation, field: ofField };
  };

  const domainErrorMapperOnError: NonNullable<Middleware['onError']> = (request) => {
    const error = toDomainError(request.error);
    const { status } = httpErrors[error.code];
    const { message, field } = describe(error);
    if (field) {
      const { routeKey, requestContext } = request.event;
      const where = { route: routeKey, requestId: requestContext?.requestId };
      logError('fault', {
        code: error.code,
        ...where,
        ...describeFault(error),
      });
    }
    request.error = Object.assign(new Error(), {
      statusCode: status,
      expose: true,
      message: JSON.stringify({
        message,
        ...(field ? { [field]: faultName(error) } : {}),
      }),
      headers: headersOf(error),
    });
  };

  return { onError: domainErrorMapperOnError };
};
