import { type ErrorCode, errorCodes, httpErrors, type StorageFault } from '../errors.ts';
import type { ServiceValues } from '../settings.ts';
import { type ErrorForm, exampleName, exampleOf } from './error-examples.ts';
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

const errorResponse = (
  status: number,
  codes: readonly ErrorCode[],
  storageFault: StorageFault | undefined,
) => {
  const examples = (form: ErrorForm) =>
    Object.fromEntries(
      codes.map((code) => [
        code,
        code === 'STORAGE_FAULT'
          ? { value: exampleOf(code, storageFault)[form] }
          : ref('examples', exampleName(code, form)),
      ]),
    );
  return {
    description: reasons[status],
    headers: { ...commonHeaders, ...errorHeaders[status] },
    content: {
      'application/json': {
        schema: ref('schemas', status === 500 ? 'Fault' : 'Error'),
        examples: examples('plain'),
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
  const entries = [...byStatus].map(([status, codes]) => [
    String(status),
    errorResponse(status, codes, operation.storageFault),
  ]);
  return Object.fromEntries(entries);
};

/** Every error that operations can answer with. */
export const codesOf = (
  inForce: readonly OperationInForce[],
  settings: ServiceValues,
): ReadonlySet<ErrorCode> =>
  new Set(
    inForce.flatMap(({ operation, describe }) => errorsOf(operation, describe(settings), settings)),
  );
