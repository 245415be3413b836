import { type ErrorCode, errorCodes, errorMeanings, httpErrors } from '../ground/errors.ts';
import { hasMachines, type ServiceValues } from '../ground/settings.ts';
import {
  type Contract,
  type Description,
  type Endpoint,
  isPublic,
  takesSource,
  type WithOptions,
} from './contract.ts';
import { type ErrorForm, exampleName, ownExample } from './error-examples.ts';
import { type Json, ref, responseHeaders } from './json-schema.ts';

const errorHeaders: Readonly<Record<number, Json>> = {
  401: { 'WWW-Authenticate': ref('headers', 'WWW-Authenticate') },
  429: { 'Retry-After': ref('headers', 'Retry-After') },
};

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

/** Every error with which given endpoints can respond, in the order of the table. */
export function codesOf(
  endpoints: readonly Endpoint[],
  settings: ServiceValues,
): readonly ErrorCode[] {
  const all = endpoints.map(({ contract, describe }) =>
    errorsOf(contract, describe(settings), settings),
  );
  return errorCodes.filter((code) => all.some((codes) => codes.includes(code)));
}

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

const pathErrors = {
  id: 'USER_NOT_FOUND',
  session: 'SESSION_NOT_FOUND',
  identity: 'IDENTITY_NOT_FOUND',
  passkey: 'PASSKEY_NOT_FOUND',
  machine: 'MACHINE_NOT_FOUND',
  file: 'FILE_NOT_FOUND',
  page: 'FILE_NOT_FOUND',
} as const satisfies Readonly<Record<string, ErrorCode>>;

function errorsOfContract(contract: Contract, settings: ServiceValues): WithOptions<ErrorCode> {
  const { route, may, body, query, whenMissing, whenInvalid = 'FIELD_INVALID' } = contract;
  const refusesUsers = may === 'readUser' ? settings.accounts === 'private' : may !== 'own';
  const refuses = refusesUsers || hasMachines(settings);
  return [
    body && bodyErrors,
    body && (typeof whenInvalid === 'string' ? whenInvalid : Object.values(whenInvalid)),
    whenMissing,
    query && 'PARAMETER_INVALID',
    !isPublic(may) && tokenErrors,
    !isPublic(may) && refuses && 'FORBIDDEN',
    ...Object.entries(pathErrors).map(([name, code]) => route.includes(`{${name}}`) && code),
    hasMachines(settings) && takesSource(contract) && 'CLIENT_ADDRESS_INVALID',
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
      // Conflicts have little in common, so each code is explained.
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
