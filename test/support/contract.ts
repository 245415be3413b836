/** Compares responses with the OpenAPI document of the service that sent them. */
import { type Ajv2020, Ajv2020 as Validator } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument } from '../../lib/contract/document.ts';
import { configFrom } from '../../lib/ground/settings.ts';
import { documentFor } from './document.ts';

/** A request and its response. */
export interface Exchange {
  readonly method: string;
  /** The path as the client sent it, or the path of a route. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Throws for a response that the document does not promise. */
export type ContractCheck = (exchange: Exchange) => void;

// biome-ignore lint/suspicious/noExplicitAny: the document is walked as the JSON that it is
type Json = any;

/**
 * A schema of a response that allows no further fields: clients must ignore fields that they do not know, but the
 * service must not send a field that its document does not name.
 */
const closed = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [
    key,
    key === '$ref' ? `contract${value}` : closed(value),
  ]);
  const isOpen = schema.type === 'object' && !('additionalProperties' in schema);
  return { ...Object.fromEntries(entries), ...(isOpen ? { additionalProperties: false } : {}) };
};

/** The messages of API Gateway's own responses, which name no charset, by their status. */
const gatewayMessages: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  413: 'Request Entity Too Large',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

const isOfGateway = ({ headers, status }: Exchange) =>
  status >= 400 && headers.get('content-type') === 'application/json';

const isPreflight = ({ method, status, text }: Exchange) =>
  method === 'OPTIONS' && status === 204 && text === '';

/** @param isRoute whether a route leads from this path to a function */
const gatewayFaults = ({ method, status, text }: Exchange, isRoute: boolean): readonly string[] => {
  const message = isRoute && status === 404 ? undefined : gatewayMessages[status];
  const body = method === 'HEAD' ? '' : JSON.stringify({ message });
  return message && text === body ? [] : ['API Gateway does not answer so by itself'];
};

const sentencesOfTheirOwn = ['FIELD_INVALID', 'PARAMETER_INVALID'];

/** The names of the fields of an error, without `errors`, which some errors of a code lack. */
const fieldsOf = (body: object) =>
  Object.keys(body)
    .filter((field) => field !== 'errors')
    .sort()
    .join();

/** Whether an error is like an example: it has the same message or code, and the same fields. */
const isExample = (body: Json, code: string, example: Json): boolean =>
  (body.code === undefined || body.code === code) &&
  fieldsOf(body) === fieldsOf(example) &&
  (sentencesOfTheirOwn.includes(code) ||
    (body.title ?? body.message) === (example.title ?? example.message));

/** The document, with its references replaced by their targets, and with its schemas compiled. */
const readable = (document: OpenApiDocument) => {
  const json: Json = JSON.parse(JSON.stringify(document));
  const resolve = (value: Json): Json => {
    const path: string | undefined = value?.$ref;
    if (path === undefined) return value;
    return path
      .split('/')
      .slice(1)
      .reduce((part, key) => part[key], json);
  };
  // Lint validates the schemas. Validation here would compile the schema of schemas for each service.
  const options = { allErrors: true, strictTypes: false, validateSchema: false };
  const ajv: Ajv2020 = new Validator(options);
  addFormats.default(ajv);
  const components = { schemas: closed(json.components.schemas) };
  ajv.addKeyword('components');
  ajv.addSchema({ $id: 'contract', components }, undefined, false, false);
  const validators = new Map<Json, ReturnType<Ajv2020['compile']>>();
  const schemaFaults = (schema: Json, value: unknown, name: string): readonly string[] => {
    const validate = validators.get(schema) ?? ajv.compile(closed(schema));
    validators.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${name}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
  return { json, resolve, schemaFaults };
};

type Readable = ReturnType<typeof readable>;

const headerFaults = (
  { json, resolve, schemaFaults }: Readable,
  response: Json,
  { headers }: Exchange,
): readonly string[] =>
  Object.keys(json.components.headers).flatMap((name) => {
    const [promised, value] = [resolve(response.headers?.[name]), headers.get(name)];
    if (value === null) return promised?.required ? [`The header ${name} is missing`] : [];
    if (!promised) return [`The header ${name} is not documented`];
    const isNumber = promised.schema.type === 'integer' && /^\d+$/.test(value);
    return schemaFaults(promised.schema, isNumber ? Number(value) : value, name);
  });

/** @param code the code that the header of the response names */
const errorFaults = (
  { resolve }: Readable,
  media: Json,
  body: Json,
  code: string | null,
): readonly string[] => {
  const examples = Object.entries<Json>(media.examples);
  const known = examples.some(
    ([name, it]) => name === code && isExample(body, name, resolve(it).value),
  );
  const names = examples.map(([name]) => name).join(', ');
  return known ? [] : [`The error with the code ${code} is none of ${names}`];
};

const bodyFaults = (
  read: Readable,
  response: Json,
  { status, headers, text }: Exchange,
): readonly string[] => {
  if (!response.content) return text === '' ? [] : ['There is a body'];
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  const media = response.content[type];
  if (!media) return [`The content type ${type} is not documented`];
  const body = /[/+]json$/.test(type) ? JSON.parse(text) : text;
  const faults = read.schemaFaults(media.schema, body, 'The body');
  return status < 400 || faults.length > 0
    ? faults
    : errorFaults(read, media, body, headers.get('error-code'));
};

/** The operation that a path leads to, by the paths of the document. */
const findOperation = (json: Json, { method, path }: Exchange): Json => {
  const { pathname } = new URL(path, 'http://localhost');
  const found = Object.entries<Json>(json.paths).find(([pattern]) =>
    new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
  return found?.[1][method.toLowerCase()];
};

/** The properties of a response that the document does not promise. */
const faultsOf = (read: Readable, exchange: Exchange): readonly string[] => {
  const operation = findOperation(read.json, exchange);
  if (isPreflight(exchange)) return [];
  if (!operation || isOfGateway(exchange)) return gatewayFaults(exchange, Boolean(operation));
  const response = read.resolve(operation.responses[exchange.status]);
  if (!response) return ['The status is not documented'];
  return [...headerFaults(read, response, exchange), ...bodyFaults(read, response, exchange)];
};

/** Returns a check that compares responses with a document. */
export const checkAgainst = (document: OpenApiDocument): ContractCheck => {
  const read = readable(document);
  return (exchange) => {
    const faults = faultsOf(read, exchange);
    if (faults.length === 0) return;
    const { method, path, status, text } = exchange;
    throw new Error(
      `${method} ${path}: the OpenAPI document does not promise this response of status ${status} (and has its handler a line in infra/uses.ts?):\n` +
        `${faults.join('\n')}\n${text.slice(0, 1000)}`,
    );
  };
};

/** Returns a check that compares responses with the document of a service that has the settings of an environment. */
export const checkUnder = (environment: Readonly<Record<string, string | undefined>>) =>
  checkAgainst(documentFor(configFrom(environment), '/'));
