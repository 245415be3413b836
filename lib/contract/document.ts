import { type Operation, scopesFor } from '../accounts/policy.ts';
import { hasMachines, hasSessions, type ServiceValues } from '../ground/settings.ts';
import { components, pathParameter } from './components.ts';
import {
  type Contract,
  type Description,
  type Endpoint,
  inForce,
  isPublic,
  type Success,
} from './contract.ts';
import { errorResponses } from './errors.ts';
import {
  collectSchemas,
  type Json,
  parameterSchema,
  ref,
  responseHeaders,
  usedComponents,
} from './json-schema.ts';

/** The part of the document about the service as a whole. */
export const info = {
  title: 'Accounts service',
  version: '1.0.0',
  description: `User accounts, authentication and an audit trail.

**Errors** are \`{"message": …}\`, a 500 with one further field that names the fault. The header \`Error-Code\` has the code of the error, for programs. With \`Accept: application/problem+json\` they are problem details (RFC 9457), with the code and all fields of the body that break a rule.

**Input.** Bodies are JSON objects in UTF-8, 64 KiB at most, of type \`application/json\` or another \`…+json\`. Unknown fields are ignored; a key \`__proto__\`, or \`constructor\` with \`prototype\`, is refused at any depth. Text must be well-formed Unicode; its length counts in code points.

**Order of checks.** Token (401), role (403), body and parameters (400, 413), existence (404), conflict (409). Only the first error is reported.

**Pages of allowed origins** can read \`Error-Code\`, \`Link\`, \`Retry-After\`, \`X-Request-Id\` and \`apigw-requestid\`.

**Compatibility.** New operations, optional fields and parameters, fields of responses and error codes may come at any time: ignore those that you do not know. A change that would break clients gets a new path, and what it replaces is first marked as \`deprecated\` here.`,
  license: { name: 'MIT', identifier: 'MIT' },
};

export type OpenApiDocument = ReturnType<typeof buildDocument>;

const tags = [
  { name: 'Accounts', description: 'Registration, login and the caller’s own profile.' },
  { name: 'Users', description: 'Users, read and changed by those who have a token.' },
  { name: 'Machines', description: 'Services that call this one with keys of their own.' },
  { name: 'Audit trail', description: 'What was done, by whom and from where. For admins.' },
  {
    name: 'Users in memory',
    description: 'A demonstration: users in the memory of one process, open to anyone.',
  },
  { name: 'Documentation', description: 'This document.' },
  { name: 'Console', description: 'Users and the audit trail in a browser.' },
];

/** @param server the URL under which the service is reached */
export function buildDocument(
  endpoints: readonly Endpoint[],
  settings: ServiceValues,
  server: string,
) {
  const available = inForce(endpoints, settings);
  const used = new Set(available.map(({ tag }) => tag));
  const { schemas, bodySchema } = collectSchemas();
  const byPath = Map.groupBy(available, ({ contract }) => contract.route.split(' ')[1]);
  const paths = [...byPath].map(([path, operations]) => [
    path,
    Object.fromEntries(
      operations.map((each) => [
        each.contract.route.split(' ')[0]?.toLowerCase(),
        operationObject(each, settings, bodySchema),
      ]),
    ),
  ]);
  const all = components({ schemas, endpoints: available, settings });
  return {
    openapi: '3.1.1',
    info,
    servers: [{ url: server }] as const,
    tags: tags.filter(({ name }) => used.has(name)),
    paths: Object.fromEntries(paths) as Readonly<Record<string, Readonly<Record<string, Json>>>>,
    components: usedComponents(all, paths),
  };
}

type BodySchemaOf = ReturnType<typeof collectSchemas>['bodySchema'];

function operationObject(
  { contract, tag, describe }: Endpoint,
  settings: ServiceValues,
  bodySchema: BodySchemaOf,
): Json {
  const description = describe(settings);
  const { id, summary, text, bodyExample } = description;
  const body = contract.body?.(settings, 'admin');
  const { may, takesToken } = contract;
  const parameters = parametersOf(contract, description, settings);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [callersUnder(may, settings), [text].flat(2).filter(Boolean).join(' ')]
      .filter(Boolean)
      .join('\n\n'),
    security: [
      ...(takesToken ? [{}] : []),
      ...(isPublic(may) && !takesToken ? [] : [{ token: [] }]),
    ],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: !description.isBodyOptional,
            content: {
              'application/json': { schema: bodySchema(body), example: bodyExample },
            },
          },
        }
      : {}),
    responses: {
      ...successResponse(description, bodySchema),
      ...errorResponses(contract, description, settings),
      default: ref('responses', 'Gateway'),
    },
  };
}

function parametersOf(
  contract: Contract,
  { success, requestHeaders = [] }: Description,
  settings: ServiceValues,
): readonly Json[] {
  return [
    ...[...contract.route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => pathParameter(name)),
    ...requestHeaders.map((name) => ref('parameters', name)),
    // The text form allows all parameters that JSON allows, and more.
    ...Object.entries(contract.query?.(success.textForms?.[0]?.contentType, settings) ?? {}).map(
      ([name, schema]) => {
        const { description, ...rest } = parameterSchema(schema as never);
        return { name, in: 'query', description, schema: rest };
      },
    ),
  ];
}

/** The sentence that says who may call an operation. Further limits are in the description. */
const callers: Readonly<Record<Operation, string>> = {
  public: 'For anyone, without a token.',
  register: 'For anyone, without a token.',
  own: 'For every user.',
  listUsers: 'For every user.',
  createUser: 'For every user.',
  readUser: 'For every user.',
  changeUser: 'For users about themselves, and for admins.',
  sessionsOf: 'For users about themselves, and for admins.',
  inviteUser: 'For admins.',
  audit: 'For admins.',
  requestCheck: 'For admins.',
  postEntries: 'For machines.',
  readMachines: 'For admins.',
  machines: 'For admins.',
  administer: 'For admins.',
  administerOthers: 'For admins.',
};

function callersUnder(may: Operation, settings: ServiceValues): string {
  const isForReaders = ['audit', 'requestCheck', 'readMachines'].includes(may);
  const people = isForReaders && hasSessions(settings) ? 'For admins and auditors.' : callers[may];
  const [scope] = hasMachines(settings) ? scopesFor(may) : [];
  return scope ? `${people} Machines need the scope \`${scope}\`.` : people;
}

function successResponse({ success }: Description, bodySchema: BodySchemaOf): Json {
  const { status, description, schema, alternative, headers = [] } = success;
  const own = Object.fromEntries(headers.map((name) => [name, ref('headers', name)]));
  const response = {
    description,
    headers: { ...responseHeaders, ...own },
    ...(schema ? { content: contentOf(success, bodySchema) } : {}),
  };
  return {
    [status]: response,
    ...(alternative
      ? { [alternative.status]: { ...response, description: alternative.description } }
      : {}),
    ...(headers.includes('ETag')
      ? {
          304: {
            description: 'It still has the ETag of `If-None-Match`.',
            headers: { ...responseHeaders, ...own },
          },
        }
      : {}),
  };
}

function contentOf(
  { schema, example, contentType = 'application/json', textForms = [] }: Success,
  bodySchema: BodySchemaOf,
): Json {
  const forms = [...(schema ? [{ contentType, schema, example }] : []), ...textForms];
  return Object.fromEntries(
    forms.map(({ contentType, schema, example }) => [
      mediaType(contentType),
      { schema: bodySchema(schema), example },
    ]),
  );
}

function mediaType(contentType: string): string {
  return contentType.replace(/;.*/, '');
}
