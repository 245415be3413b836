import { type ErrorCode, errorCodes, httpErrors } from '../errors.ts';
import type { ServiceValues } from '../settings.ts';
import { type ErrorForm, exampleName, ownExample } from './error-examples.ts';
import type { Description, Operation } from './operation.ts';
import type { OperationInForce } from './operations.ts';
import { commonHeaders, type Json, ref } from './references.ts';

const tokenErrors = ['NO_TOKEN', 'TOKEN_EXPIRED', 'TOKEN_INVALID'] as const;
const bodyErrors = [
  ...(['BODY_MEDIA_TYPE', 'BODY_TOO_LARGE', 'BODY_ENCODING', 'BODY_MALFORMED'] as const),
  ...(['BODY_TOO_DEEP', 'BODY_FORBIDDEN_KEY', 'BODY_NOT_OBJECT'] as const),
] as const;

/** Every error that an operation can answer with. */
const errorsOf = (
  { caller, body, storageFault }: Operation,
  { errors }: Description,
  { userDirectory }: ServiceValues,
): readonly ErrorCode[] => {
  const refusesSome =
    caller === 'maker' ||
    caller === 'admin' ||
    (caller === 'directory' && userDirectory === 'closed');
  const all = new Set<ErrorCode>([
    ...(body ? bodyErrors : []),
    ...(caller === 'anyone' ? [] : tokenErrors),
    ...(refusesSome ? (['FORBIDDEN'] as const) : []),
    ...errors,
    ...(storageFault ? (['STORAGE_FAULT'] as const) : []),
    'UNEXPECTED_FAULT',
  ]);
  return errorCodes.filter((code) => all.has(code));
};

const reasons: Readonly<Record<number, string>> = {
  400: 'The request breaks a rule.',
  401: 'The caller is not authenticated.',
  403: 'The caller may not do this.',
  404: 'There is no such user, or no such file.',
  409: 'Another user has this email address.',
  413: 'The body is larger than 64 KiB.',
  429: 'Too many attempts: wait for the seconds that `Retry-After` says.',
  500: 'A fault of the service. The further field names it.',
  503: 'The memory holds as many users as it can.',
};

const errorHeaders: Readonly<Record<number, Json>> = {
  401: { 'WWW-Authenticate': ref('headers', 'WWW-Authenticate') },
  429: { 'Retry-After': ref('headers', 'Retry-After') },
};

/** The responses that API Gateway gives to any operation by itself, by their status. */
export const gatewayResponses: Readonly<
  Record<number, { readonly name: string; readonly description: string; readonly message: string }>
> = {
  429: {
    name: 'Throttled',
    description: 'API Gateway throttles requests. Try again, after a longer wait each time.',
    message: 'Too Many Requests',
  },
  503: {
    name: 'Unavailable',
    description:
      'API Gateway got no response from the service in time. A change may have been made.',
    message: 'Service Unavailable',
  },
};

const errorResponse = (
  status: number,
  codes: readonly ErrorCode[],
  operation: Operation,
  description: Description,
) => {
  const examples = (form: ErrorForm) =>
    Object.fromEntries(
      codes.map((code) => {
        const own = ownExample(code, operation, description);
        return [code, own ? { value: own[form] } : ref('examples', exampleName(code, form))];
      }),
    );
  const ofGateway = gatewayResponses[status];
  return {
    description: [
      reasons[status],
      ofGateway && 'API Gateway answers with it by itself too, without the headers of the service.',
    ]
      .filter(Boolean)
      .join(' '),
    headers: {
      ...commonHeaders,
      'Error-Code': ref('headers', 'Error-Code'),
      ...errorHeaders[status],
    },
    content: {
      'application/json': {
        schema: ref('schemas', status === 500 ? 'Fault' : 'ErrorMessage'),
        examples: {
          ...examples('plain'),
          ...(ofGateway ? { GATEWAY: { value: { message: ofGateway.message } } } : {}),
        },
      },
      'application/problem+json': {
        schema: ref('schemas', 'Problem'),
        examples: examples('problem'),
      },
    },
  };
};

/** The responses with which an operation refuses or fails, by status. */
export const errorResponses = (
  operation: Operation,
  description: Description,
  settings: ServiceValues,
): Json => {
  const byStatus = Map.groupBy(
    errorsOf(operation, description, settings),
    (code) => httpErrors[code].status,
  );
  const own = [...byStatus].map(([status, codes]) => [
    String(status),
    errorResponse(status, codes, operation, description),
  ]);
  const ofGateway = Object.entries(gatewayResponses).map(([status, { name }]) => [
    status,
    ref('responses', name),
  ]);
  return { ...Object.fromEntries(ofGateway), ...Object.fromEntries(own) };
};

/** Every error that operations can answer with. */
export const codesOf = (
  inForce: readonly OperationInForce[],
  settings: ServiceValues,
): ReadonlySet<ErrorCode> =>
  new Set(
    inForce.flatMap(({ operation, describe }) => errorsOf(operation, describe(settings), settings)),
  );
