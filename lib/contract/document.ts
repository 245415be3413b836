/** The OpenAPI 3.1 document: all operations, in the words of OpenAPI. */
import type { ServiceValues } from '../settings.ts';
import { components } from './components.ts';
import { codesOf, errorResponses } from './error-responses.ts';
import { info, tags } from './info.ts';
import { bodySchema, parameterSchema } from './json-schema.ts';
import { type NamedSchemas, namedSchemas } from './named-schemas.ts';
import type { Caller, Description, Operation, Success } from './operation.ts';
import { type OperationInForce, operationsInForce } from './operations.ts';
import { commonHeaders, type Json, ref, usedComponents } from './references.ts';

const mediaType = (contentType: string): string => contentType.replace(/;.*/, '');

/** The body, by the media types in which it may be had. */
const contentOf = (
  { schema, example, contentType = 'application/json', textForms = [] }: Success,
  named: NamedSchemas,
): Json => {
  const forms = [...(schema ? [{ contentType, schema, example }] : []), ...textForms];
  return Object.fromEntries(
    forms.map(({ contentType, schema, example }) => [
      mediaType(contentType),
      { schema: bodySchema(schema, named), example },
    ]),
  );
};

const successResponse = ({ success }: Description, named: NamedSchemas): Json => {
  const { status, description, schema, headers = [] } = success;
  const own = Object.fromEntries(headers.map((name) => [name, ref('headers', name)]));
  return {
    [status]: {
      description,
      headers: { ...commonHeaders, ...own },
      ...(schema ? { content: contentOf(success, named) } : {}),
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
  ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ref('parameters', name)),
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
  maker: 'For the user itself, and for admins.',
  admin: 'For admins.',
};

const operationObject = (
  path: string,
  { operation, describe }: OperationInForce,
  settings: ServiceValues,
): Json => {
  const description = describe(settings);
  const named = namedSchemas(settings);
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
            required: !description.isBodyOptional,
            content: {
              'application/json': { schema: bodySchema(body, named), example: bodyExample },
            },
          },
        }
      : {}),
    responses: {
      ...successResponse(description, named),
      ...errorResponses(operation, description, settings),
      default: ref('responses', 'Gateway'),
    },
  };
};

/**
 * The document of the service under some settings.
 * @param server the URL under which the service is reached
 */
export const buildDocument = (settings: ServiceValues, server: string) => {
  const inForce = operationsInForce(settings);
  const used = new Set(inForce.map(({ describe }) => describe(settings).tag));
  const byPath = Map.groupBy(inForce, ({ route }) => route.slice(route.indexOf('/')));
  const paths = [...byPath].map(([path, operations]) => [
    path,
    Object.fromEntries(
      operations.map((each) => [
        each.route.slice(0, each.route.indexOf(' ')).toLowerCase(),
        operationObject(path, each, settings),
      ]),
    ),
  ]);
  return {
    openapi: '3.1.1',
    info,
    servers: [{ url: server }] as const,
    tags: tags.filter(({ name }) => used.has(name)),
    paths: Object.fromEntries(paths) as Readonly<Record<string, Readonly<Record<string, Json>>>>,
    components: usedComponents(components(codesOf(inForce, settings), settings), paths),
  };
};

export type OpenApiDocument = ReturnType<typeof buildDocument>;
