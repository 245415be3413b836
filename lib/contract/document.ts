/** The OpenAPI 3.1 document: all operations, in the words of OpenAPI. */
import { type ErrorCode, errorCodes, httpErrors, type StorageFault } from '../errors.ts';
import type { ServiceValues } from '../settings.ts';
import { components } from './components.ts';
import { type ErrorForm, exampleName, exampleOf } from './error-examples.ts';
import { bodySchema, parameterSchema } from './json-schema.ts';
import type { Caller, Description, Operation, Success } from './operation.ts';
import { type OperationInForce, operationsInForce } from './operations.ts';

type Json = Readonly<Record<string, unknown>>;

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

const tokenErrors = ['NO_TOKEN', 'TOKEN_EXPIRED', 'TOKEN_INVALID'] as const;
const bodyErrors = [
  ...(['BODY_MISSING', 'BODY_MEDIA_TYPE', 'BODY_TOO_LARGE', 'BODY_ENCODING'] as const),
  ...(['BODY_MALFORMED', 'BODY_TOO_DEEP', 'BODY_FORBIDDEN_KEY', 'BODY_NOT_OBJECT'] as const),
] as const;

/** Every error that an operation can answer with. */
const errorsOf = (
  { caller, body, storageFault }: Operation,
  { errors }: Description,
  { userDirectory }: ServiceValues,
): readonly ErrorCode[] => {
  const refusesSome =
    caller === 'self' ||
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
  404: 'There is no such user.',
  409: 'Another user has this email address.',
  413: 'The body is larger than 64 KiB.',
  429: 'Too many attempts: wait for the seconds that `Retry-After` says.',
  500: 'A fault of the service. The further field names it.',
  503: 'The memory holds as many users as it can.',
};

/** Headers of every response of a function. */
const commonHeaders = {
  'Cache-Control': ref('headers', 'Cache-Control'),
  'X-Request-Id': ref('headers', 'X-Request-Id'),
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

const errorResponses = (
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

const mediaType = (contentType: string): string => contentType.split(';')[0] ?? '';

/** The body, by the media types in which it may be had. */
const contentOf = ({ schema, example, contentType, textForms = [] }: Success): Json => {
  const content = {
    ...(schema ? { schema: bodySchema(schema) } : { schema: { type: 'string' } }),
    ...(example ? { example } : {}),
  };
  const others = textForms.map(({ contentType, description, example }) => [
    mediaType(contentType),
    { schema: { type: 'string', description }, example },
  ]);
  return {
    [mediaType(contentType ?? 'application/json')]: content,
    ...Object.fromEntries(others),
  };
};

const successResponse = ({ success }: Description): Json => {
  const { status, description, schema, contentType, headers = [] } = success;
  const own = Object.fromEntries(headers.map((name) => [name, ref('headers', name)]));
  return {
    [status]: {
      description,
      headers: { ...commonHeaders, ...own },
      ...(schema || contentType ? { content: contentOf(success) } : {}),
    },
    ...(headers.includes('ETag')
      ? {
          304: {
            description: 'It has not changed since `If-None-Match`.',
            headers: { ...commonHeaders, ...own },
          },
        }
      : {}),
  };
};

const parametersOf = (path: string, { query }: Operation): readonly Json[] => [
  ...(path.includes('{id}') ? [ref('parameters', 'id')] : []),
  ...Object.entries(query ?? {}).map(([name, schema]) => {
    const { description, ...rest } = parameterSchema(schema as never);
    return { name, in: 'query', description, schema: rest };
  }),
];

/** Who may call an operation; what else limits them is in its text. */
const callers: Readonly<Record<Caller, string>> = {
  anyone: 'For anyone, without a token.',
  user: 'For every user.',
  directory: 'For every user.',
  self: 'For the user itself, and for admins.',
  admin: 'For admins.',
};

const operationObject = (
  path: string,
  { operation, describe }: OperationInForce,
  settings: ServiceValues,
): Json => {
  const description = describe(settings);
  const { id, tag, summary, text, body = operation.body, bodyExample } = description;
  const parameters = parametersOf(path, operation);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [callers[operation.caller], text].filter(Boolean).join('\n\n'),
    security: operation.caller === 'anyone' ? [] : [{ token: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: bodySchema(body), example: bodyExample },
            },
          },
        }
      : {}),
    responses: {
      ...successResponse(description),
      ...errorResponses(operation, description, settings),
      default: ref('responses', 'Gateway'),
    },
  };
};

const info = {
  title: 'Accounts service',
  version: '1.0.0',
  description: `User accounts, authentication and an audit trail.

**Errors** are \`{"message": …}\`, a 500 with one further field that names the fault. A request with \`Accept: application/problem+json\` gets them as problem details (RFC 9457), with a code for programs and every fault of its body.

**Input.** Bodies are JSON objects in UTF-8, 64 KiB at most, of type \`application/json\` or another \`…+json\`. Unknown fields are ignored; a key \`__proto__\`, or \`constructor\` with \`prototype\`, is refused at any depth. Text must be well-formed Unicode; its length counts in code points.

**Order of checks.** Token (401), role (403), body and parameters (400, 413), existence (404), conflict (409): who breaks several rules hears of the first.

**Pages of other origins** that are allowed can read \`Link\`, \`Retry-After\`, \`X-Request-Id\` and \`apigw-requestid\`.

**Compatibility.** New operations, optional fields and parameters, fields of responses and error codes may come at any time: ignore what you do not know. Anything else that would break a client gets a path of its own, and what it replaces is marked as \`deprecated\` here first.`,
  license: { name: 'MIT', identifier: 'MIT' },
};

const tags = [
  { name: 'Accounts', description: 'Registration, login and the caller’s own profile.' },
  { name: 'Users', description: 'Users, read and changed by those who have a token.' },
  { name: 'Audit trail', description: 'What was done, by whom and from where. For admins.' },
  {
    name: 'Users in memory',
    description: 'A demonstration: users in the memory of one process, open to anyone.',
  },
  { name: 'Documentation', description: 'This document.' },
];

const codesOf = (
  inForce: readonly OperationInForce[],
  settings: ServiceValues,
): ReadonlySet<ErrorCode> =>
  new Set(
    inForce.flatMap(({ operation, describe }) => errorsOf(operation, describe(settings), settings)),
  );

/** What a part of the document refers to, as `schemas/User`. */
const references = (part: unknown): readonly string[] =>
  [...JSON.stringify(part).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(
    ([, name = '']) => name,
  );

/** The components that are left when those which nothing refers to are taken out. */
const usedComponents = <Components extends Readonly<Record<string, Json>>>(
  all: Components,
  paths: unknown,
): Components => {
  const used = new Set<string>();
  const wanted = [...references(paths)];
  for (let name = wanted.pop(); name; name = wanted.pop()) {
    const [kind = '', key = ''] = name.split('/');
    if (!used.has(name)) wanted.push(...references(all[kind]?.[key]));
    used.add(name);
  }
  const kept = Object.entries(all).map(([kind, parts]) => {
    const isUsed = ([key]: readonly [string, unknown]) =>
      kind === 'securitySchemes' || used.has(`${kind}/${key}`);
    return [kind, Object.fromEntries(Object.entries(parts).filter(isUsed))];
  });
  return Object.fromEntries(kept);
};

/**
 * The document of the service under some settings.
 * @param server the URL under which the service is reached
 */
export const buildDocument = (settings: ServiceValues, server: string) => {
  const inForce = operationsInForce(settings);
  const used = new Set(inForce.map(({ describe }) => describe(settings).tag));
  const byPath = Map.groupBy(inForce, ({ route }) => route.split(' ')[1] ?? '');
  const paths = [...byPath].map(([path, operations]) => [
    path,
    Object.fromEntries(
      operations.map((each) => [
        (each.route.split(' ')[0] ?? '').toLowerCase(),
        operationObject(path, each, settings),
      ]),
    ),
  ]);
  return {
    openapi: '3.1.1',
    info,
    servers: [{ url: server }],
    tags: tags.filter(({ name }) => used.has(name)),
    paths: Object.fromEntries(paths) as Readonly<Record<string, Readonly<Record<string, Json>>>>,
    components: usedComponents(components(codesOf(inForce, settings)), paths),
  };
};

export type OpenApiDocument = ReturnType<typeof buildDocument>;
