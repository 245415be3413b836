import { type ErrorCode, errorCodes, type FieldFaultCode, httpErrors } from '../ground/errors.ts';
import type { ServiceValues } from '../ground/settings.ts';
import type { Contract, Description, Endpoint, WithOptions } from './contract.ts';
import { type ErrorForm, exampleName, ownExample } from './error-examples.ts';
import { type Json, ref, responseHeaders } from './json-schema.ts';

/** The meaning of each error in a line, for the document and its page. */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  NO_TOKEN: 'The request has no Authorization header that begins with `Bearer` and a space.',
  TOKEN_EXPIRED: 'The token has expired: log in again.',
  TOKEN_INVALID:
    'The service did not issue this token, or the token was altered, or its session has ended.',
  FORBIDDEN: 'The caller is known, but may not do this.',
  BODY_MEDIA_TYPE: 'The body is not declared as JSON.',
  BODY_TOO_LARGE: 'The body is larger than 64 KiB.',
  BODY_ENCODING: 'The body is not UTF-8.',
  BODY_MALFORMED: 'The body is not JSON.',
  BODY_TOO_DEEP: 'The body is nested too deeply.',
  BODY_FORBIDDEN_KEY: 'The body has a key that could change a prototype.',
  BODY_NOT_OBJECT: 'The body is JSON, but not an object.',
  FIELDS_REQUIRED: 'A name, an email or a password is missing or empty.',
  CREDENTIALS_REQUIRED: 'An email or a password is missing or empty.',
  NAME_AND_EMAIL_REQUIRED: 'A name or an email is missing or empty.',
  EMAIL_REQUIRED: 'The email is missing or empty.',
  TOKEN_AND_PASSWORD_REQUIRED: 'A token or a password is missing or empty.',
  REFRESH_TOKEN_REQUIRED: 'The refresh token is missing or empty.',
  CURRENT_PASSWORD_REQUIRED: 'The current password is missing or empty.',
  CODE_REQUIRED: 'The code is missing or empty.',
  NO_FIELDS_TO_UPDATE: 'The body has none of the fields that can be changed.',
  FIELD_INVALID: 'A field breaks its rule; `errors` lists all such fields.',
  PARAMETER_INVALID: 'A query parameter is unknown, repeated or breaks its rule.',
  RESET_TOKEN_INVALID:
    'The token of a password reset is unknown, altered, used or expired, or a newer one was mailed.',
  ID_TOKEN_REQUIRED: 'An ID token or its nonce is missing or empty.',
  TOO_MANY_IDENTITIES: 'Ten identities are linked to the user already.',
  VERIFICATION_TOKEN_INVALID:
    'The token of a mailed link is unknown, altered or expired, or a newer one was mailed.',
  CURRENT_PASSWORD_WRONG: 'The current password is wrong.',
  ACCOUNT_SUSPENDED: 'Password and code are right, but an admin has suspended the user.',
  EMAIL_NOT_VERIFIED: 'The address of the user is not verified: open the link that was mailed.',
  CODE_WRONG: 'The code is wrong, was used before, or belongs to another half minute.',
  SECOND_FACTOR_REQUIRED: 'The caller is an admin, but has no second factor: enrol one first.',
  LOGIN_CODE_REQUIRED: 'The password is right, and this user logs in with a code too.',
  LOGIN_CODE_WRONG: 'The password is right, but the code is wrong or was used before.',
  REFRESH_TOKEN_INVALID:
    'The refresh token is unknown, or was used before, or its session has ended: log in again.',
  IDENTITY_TOKEN_INVALID:
    'The ID token or its nonce is not valid, or was used before, or belongs to another account.',
  INVALID_CREDENTIALS:
    'The password is wrong or, with private accounts, the address is unknown or not verified.',
  USER_NOT_REGISTERED: 'No user has this email address.',
  SESSION_NOT_FOUND: 'The user has no session of this id, or it has ended.',
  IDENTITY_NOT_FOUND: 'The user has no identity of this id.',
  USER_NOT_FOUND: 'No user has this id.',
  SECOND_FACTOR_NOT_FOUND: 'The user has no second factor, or none that waits for its first code.',
  FILE_NOT_FOUND: 'The page has no file of this name.',
  AUDIT_NOT_SEALED:
    'This service keeps nothing, and so does not seal its audit trail. Or sealing is paused, so that nothing can be checked.',
  EMAIL_REGISTERED: 'Another user has this email address.',
  IDENTITY_LINKED: 'The identity is linked to an account already.',
  LAST_LOGIN: 'Without this identity the user could not log in: set a password first.',
  LAST_ADMIN: 'The caller is the only admin, without whom nobody could manage users.',
  LAST_ADMIN_SUSPENSION: 'Nobody else is an admin, without whom nobody could manage users.',
  SECOND_FACTOR_ENABLED: 'The caller has a second factor already: remove it first.',
  EMAIL_EXISTS: 'Another user of the in-memory variant has this email address.',
  TOO_MANY_ATTEMPTS: 'Too many attempts: wait as long as `retryAfter` says.',
  IDENTITY_PROVIDER_FAULT: 'The keys of the issuer cannot be read: try again later.',
  MEMORY_FULL: 'The memory holds as many users as it can.',
  HASHING_FAULT: 'A password could not be hashed.',
  TOKEN_FAULT: 'No token could be signed.',
  MAIL_FAULT: 'No mail could be asked for: nothing is on its way.',
  STORAGE_FAULT: 'The store failed; the change may have been made.',
  UNEXPECTED_FAULT: 'Something else failed.',
};

/** The meaning of each code of a field in `errors`. */
export const fieldFaultMeanings: Readonly<Record<FieldFaultCode, string>> = {
  REQUIRED: 'It is missing, null or empty.',
  WRONG_TYPE: 'It is of another JSON type.',
  NOT_WELL_FORMED: 'It has half a surrogate pair.',
  EMPTY: 'It is empty, or shows nothing, as white space does.',
  TOO_SHORT: 'It has too few characters.',
  TOO_LONG: 'It has too many characters.',
  INVALID_FORMAT: 'It does not have the required form.',
  UNKNOWN_VALUE: 'It is not an allowed value.',
};

const errorHeaders: Readonly<Record<number, Json>> = {
  401: { 'WWW-Authenticate': ref('headers', 'WWW-Authenticate') },
  429: { 'Retry-After': ref('headers', 'Retry-After') },
};

/** The responses that API Gateway itself gives to any operation, by status. */
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

/** The error responses of an endpoint, by status. */
export function errorResponses(
  contract: Contract,
  description: Description,
  settings: ServiceValues,
): Json {
  const byStatus = Map.groupBy(
    errorsOf(contract, description, settings),
    (code) => httpErrors[code].status,
  );
  const own = [...byStatus].map(([status, codes]) => [
    String(status),
    errorResponse(status, codes, contract, description),
  ]);
  const ofGateway = Object.entries(gatewayResponses).map(([status, { name }]) => [
    status,
    ref('responses', name),
  ]);
  return { ...Object.fromEntries(ofGateway), ...Object.fromEntries(own) };
}

/** Every error that some endpoints can respond with. */
export function codesOf(
  endpoints: readonly Endpoint[],
  settings: ServiceValues,
): ReadonlySet<ErrorCode> {
  return new Set(
    endpoints.flatMap(({ contract, describe }) => errorsOf(contract, describe(settings), settings)),
  );
}

/** Every error that an endpoint can respond with. */
function errorsOf(
  contract: Contract,
  { errors = [] }: Description,
  settings: ServiceValues,
): readonly ErrorCode[] {
  const all = new Set([...errorsOfContract(contract, settings), ...errors].flat());
  if (all.has('FORBIDDEN') && settings.secondFactor === 'admins') all.add('SECOND_FACTOR_REQUIRED');
  return errorCodes.filter((code) => all.has(code));
}

const tokenErrors = ['NO_TOKEN', 'TOKEN_EXPIRED', 'TOKEN_INVALID'] as const;
const bodyErrors = [
  'BODY_MEDIA_TYPE',
  'BODY_TOO_LARGE',
  'BODY_ENCODING',
  'BODY_MALFORMED',
  'BODY_TOO_DEEP',
  'BODY_FORBIDDEN_KEY',
  'BODY_NOT_OBJECT',
] as const;

/** The errors of parameters of paths. */
const pathErrors = {
  id: 'USER_NOT_FOUND',
  session: 'SESSION_NOT_FOUND',
  identity: 'IDENTITY_NOT_FOUND',
  file: 'FILE_NOT_FOUND',
} as const satisfies Readonly<Record<string, ErrorCode>>;

/** The errors that follow from a contract. */
function errorsOfContract(contract: Contract, settings: ServiceValues): WithOptions<ErrorCode> {
  const { route, may, body, query, whenMissing, whenInvalid = 'FIELD_INVALID' } = contract;
  const refuses = may === 'readUser' ? settings.accounts === 'private' : may !== 'own';
  return [
    body && bodyErrors,
    body && (typeof whenInvalid === 'string' ? whenInvalid : Object.values(whenInvalid)),
    whenMissing,
    query && 'PARAMETER_INVALID',
    may !== 'public' && tokenErrors,
    may !== 'public' && refuses && 'FORBIDDEN',
    ...Object.entries(pathErrors).map(([name, code]) => route.includes(`{${name}}`) && code),
    contract.storageFault && 'STORAGE_FAULT',
    'UNEXPECTED_FAULT',
  ];
}

const reasons: Readonly<Record<number, string>> = {
  400: 'The request breaks a rule.',
  401: 'The caller is not authenticated.',
  403: 'The caller may not do this.',
  404: 'What is asked for does not exist.',
  413: 'The body is larger than 64 KiB.',
  429: 'Too many attempts: wait for the seconds that `Retry-After` says.',
  500: 'A fault of the service. The further field names it.',
};

function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  contract: Contract,
  description: Description,
) {
  const examples = (form: ErrorForm) =>
    Object.fromEntries(
      codes.map((code) => {
        const own = ownExample(code, contract, description);
        return [code, own ? { value: own[form] } : ref('examples', exampleName(code, form))];
      }),
    );
  const ofGateway = gatewayResponses[status];
  return {
    description: [
      // Conflicts have little in common.
      reasons[status] ?? codes.map((code) => errorMeanings[code]).join(' '),
      ofGateway && 'API Gateway itself sends this status too, without the headers of the service.',
    ]
      .filter(Boolean)
      .join(' '),
    headers: {
      ...responseHeaders,
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
}
