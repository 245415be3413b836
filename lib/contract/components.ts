import { type ErrorCode, errorMeanings, fieldFaultMeanings } from '../ground/errors.ts';
import { hasMachines, type ServiceValues } from '../ground/settings.ts';
import type { Endpoint } from './contract.ts';
import { sharedExamples } from './error-examples.ts';
import { codesOf, gatewayResponses } from './errors.ts';
import { type Json, ref } from './json-schema.ts';
import { tokenLifetime } from './schemas.ts';

const text = { type: 'string' };
const message = { ...text, description: 'For people. Programs read the header `Error-Code`.' };
const faultName = { ...text, description: 'The name of the fault.', examples: ['ECONNREFUSED'] };

const id = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'A user’s id, in decimal digits.',
  example: 17,
  schema: {
    type: 'integer',
    format: 'int64',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
  },
};

/** The responses that API Gateway itself gives to any operation and to unknown paths. */
const responses = {
  Gateway: {
    description:
      'Responses of API Gateway itself, without the headers of the service: 404 for an unknown path or method, 413 for a body of more than 10 MB, 429 when it throttles, 431, 500 and 503.',
    content: { 'application/json': { schema: ref('schemas', 'ErrorMessage') } },
  },
  ...Object.fromEntries(
    Object.values(gatewayResponses).map(({ name, description, message }) => [
      name,
      {
        description,
        content: {
          'application/json': { schema: ref('schemas', 'ErrorMessage'), example: { message } },
        },
      },
    ]),
  ),
};

/** The name is not `session`: generators for Go would make one type out of this component and the schema Session. */
const parameterNames: Readonly<Record<string, string>> = {
  session: 'sessionId',
  identity: 'identityId',
  passkey: 'passkeyId',
  entry: 'auditEntryId',
  machine: 'machineId',
};

export function pathParameter(name: string) {
  return ref('parameters', parameterNames[name] ?? name);
}

const headers = {
  'Cache-Control': always(
    '`no-store`; of the document and its page `no-cache`; of the page’s files `immutable`.',
  ),
  'X-Request-Id': always('Identifies the request in the logs.'),
  'Error-Code': always(
    'The code of the error, the same as `code` in `Problem`. Responses of API Gateway itself have none.',
  ),
  'WWW-Authenticate': always('RFC 6750.'),
  'Retry-After': always('Seconds to wait.', { type: 'integer', minimum: 0 }),
  Link: {
    description: '`<…>; rel="next"` (RFC 8288), as long as more remains. Follow it unchanged.',
    schema: text,
  },
  Location: always('The path that it leads to.'),
  ETag: always('Send it back in `If-None-Match`.'),
};

const parameters = {
  id,
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description: 'Such as a UUID; new for each new request. It counts for 8 days.',
    example: '8f14e45f-ceea-467f',
    schema: { ...text, minLength: 1, maxLength: 64, pattern: '^[!-~]+$' },
  },
  sessionId: inPath('session', 'A session’s id.', 'R0h2kQ9mT4yWcXbZ1nLp7A'),
  identityId: inPath('identity', 'An identity’s id.', 'R0h2kQ9mT4yWcXbZ'),
  passkeyId: inPath('passkey', 'A passkey’s id.', 'R0h2kQ9mT4yWcXbZ'),
  auditEntryId: inPath('entry', 'An audit entry’s id.', '115032113971201'),
  machineId: inPath('machine', 'A machine’s id.', '3'),
  page: inPath(
    'page',
    'The name of a page, an encoded `#`, and what a link has after it.',
    'reset#token=17.Yk5HbUdmbWJ0ZkVvZ0xkWnN2Q3hRd2pKcE1hVXJ5VGs',
  ),
  file: inPath(
    'file',
    'The name of a file, as the page has it. It changes with the content.',
    'page.0123456789abcdef.js',
  ),
};

export function components({
  schemas,
  endpoints,
  settings,
}: {
  schemas: Json;
  endpoints: readonly Endpoint[];
  settings: ServiceValues;
}) {
  return {
    schemas: { ...schemas, ...errorSchemas(codesOf(endpoints, settings)) },
    examples: sharedExamples(),
    headers,
    parameters,
    responses,
    securitySchemes: {
      token: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: [
          `From registration or login; valid for ${tokenLifetime(settings)}.`,
          ...(hasMachines(settings) ? ['Or the key of a machine, where its scope says so.'] : []),
        ].join(' '),
      },
    },
  };
}

const faultFields = { err: faultName, hashErr: faultName, insertErr: faultName };

function errorSchemas(codes: readonly ErrorCode[]) {
  return {
    ErrorMessage: { type: 'object', properties: { message }, required: ['message'] },
    Fault: {
      description: 'A message, and one further field, which names the fault.',
      type: 'object',
      properties: { message, ...faultFields },
      required: ['message'],
      minProperties: 2,
      maxProperties: 2,
    },
    FieldError: {
      type: 'object',
      properties: {
        pointer: { ...text, description: 'A JSON pointer (RFC 6901) to the field, after `#`.' },
        code: { ...text, description: `New codes may come.\n\n${listed(fieldFaultMeanings)}` },
        detail: text,
      },
      required: ['pointer', 'code', 'detail'],
    },
    Problem: {
      description: 'Problem details (RFC 9457).',
      type: 'object',
      properties: {
        type: { ...text, format: 'uri-reference' },
        title: { ...text, description: 'The text that `message` has in the default form.' },
        status: { type: 'integer' },
        code: {
          ...text,
          description: `New codes may come.\n\n${listed(
            Object.fromEntries(codes.map((code) => [code, errorMeanings[code]])),
          )}`,
        },
        errors: {
          type: 'array',
          items: { $ref: '#/components/schemas/FieldError' },
          description: 'Every fault of the body.',
        },
        retryAfter: { type: 'integer', minimum: 0, description: 'Seconds, as in `Retry-After`.' },
        ...faultFields,
      },
      required: ['type', 'title', 'status', 'code'],
    },
  };
}

function listed(meanings: Readonly<Record<string, string>>): string {
  return Object.entries(meanings)
    .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
    .join('\n');
}

function always(description: string, schema: Json = text) {
  return { description, required: true, schema };
}

function inPath(name: string, description: string, example: string) {
  return { name, in: 'path', required: true, description, example, schema: text };
}
