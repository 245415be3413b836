/**
 * Writes the types of the API for the client of apps and for the console. It is no generator for any OpenAPI document:
 * it supports only what the document of this service contains, and throws at anything else.
 */
import type { OpenApiDocument } from '../../lib/contract/document.ts';
import { codesIn, operationsOf, responsesOf } from './document.ts';

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

const simple: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

const objectType = ({ properties = {}, required = [] }: Schema): string => {
  const fields = Object.entries(properties).map(([name, schema]) =>
    fieldType(name, schema, required.includes(name)),
  );
  return fields.length > 0 ? `{ ${fields.join('; ')} }` : 'Record<string, unknown>';
};

/** The type of an optional field also allows undefined, as JSON leaves out a field with that value. */
const fieldType = (name: string, schema: Schema, isRequired: boolean | undefined): string =>
  isRequired ? `${name}: ${typeOf(schema)}` : `${name}?: ${typeOf(schema)} | undefined`;

/** The last part of a reference, which is a name. */
const named = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

const typeOf = (schema: Schema): string => {
  if (schema.$ref) return named(schema.$ref);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.type === 'array' && schema.items) return `Array<${typeOf(schema.items)}>`;
  if (schema.type === 'object') return objectType(schema);
  return simple[schema.type ?? ''] ?? expectKnown(schema);
};

const expectKnown = (schema: Schema): never => {
  throw new Error(`No type is known for ${JSON.stringify(schema)}`);
};

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

const parametersIn = (place: Parameter['in'], parameters: readonly Parameter[]): string => {
  const fields = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, required, schema }) => fieldType(name, schema, required));
  return fields.length > 0 ? `{ ${fields.join('; ')} }` : '';
};

/** The input of an operation. Its query may always be left out. */
const givenType = ({ requestBody }: Operation, parameters: readonly Parameter[]): string => {
  const [path, query] = [parametersIn('path', parameters), parametersIn('query', parameters)];
  const places = [...(path ? [`path: ${path}`] : []), ...(query ? [`query?: ${query}`] : [])];
  const fields = [
    ...(places.length > 0 ? [`params${path ? '' : '?'}: { ${places.join('; ')} }`] : []),
    ...(requestBody
      ? [`body${requestBody.required ? '' : '?'}: ${jsonType(requestBody.content)}`]
      : []),
  ];
  return fields.length > 0 ? `{ ${fields.join('; ')} }` : 'object';
};

/** The type of the JSON, for which the client asks where there are other forms; undefined if there is no body. */
const jsonType = (content?: Content): string =>
  content ? typeOf(content['application/json']?.schema ?? {}) : 'undefined';

const operationType = (
  operation: Operation,
  shared: Readonly<Record<string, Parameter>>,
): string => {
  const parameters = (operation.parameters ?? []).map(
    (each) => (each.$ref ? shared[named(each.$ref)] : each) as Parameter,
  );
  const data = Object.entries(operation.responses)
    .filter(([status]) => Number(status) < 300)
    .map(([, { content }]) => jsonType(content));
  const given = givenType(operation, parameters);
  return `{ given: ${given}; data: ${[...new Set(data)].join(' | ')} }`;
};

type Schemas = Readonly<Record<string, Schema>>;

const schemasOf = ({ components }: OpenApiDocument): Schemas => components.schemas as never;

/** A schema without the requirement of fields that it lacks, or does not require, under other settings. */
const requiredByAll = (
  name: string,
  schema: Schema,
  others: readonly OpenApiDocument[],
): Schema => {
  const all = others.flatMap((other) => schemasOf(other)[name] ?? []);
  const required = schema.required?.filter((field) =>
    all.every((other) => other.required?.includes(field)),
  );
  return { ...schema, ...(required && { required }) };
};

/** The codes of all errors of documents, in alphabetical order. */
const codesOf = (documents: readonly OpenApiDocument[]): readonly string[] => {
  const responses = documents
    .flatMap(operationsOf)
    .flatMap((operation) => responsesOf(operation, 'error'));
  const codes = responses.flatMap(([, response]) => codesIn(response));
  return [...new Set(codes)].filter((code) => code !== 'GATEWAY').sort();
};

/** The types of objects whose fields an app declares by a setting. */
const declaredByApps: Readonly<Record<string, string>> = {
  Attributes: '{ readonly [name: string]: string | number | boolean }',
  AttributeChanges: '{ readonly [name: string]: string | number | boolean | null }',
};

/**
 * The declarations of all operations and bodies of a document, and of the codes of errors.
 * @param others documents of other settings: their responses may lack fields, and they may have other errors
 */
export const clientTypes = (
  document: OpenApiDocument,
  ...others: readonly OpenApiDocument[]
): string => {
  const { paths, components } = document;
  const { parameters } = components as never;
  const operations = Object.entries(paths).map(([path, methods]) => {
    const each = Object.entries(methods).map(([method, operation]) => {
      const key = JSON.stringify(`${method.toUpperCase()} ${path}`);
      return `  ${key}: ${operationType(operation as never, parameters)};\n`;
    });
    return each.join('');
  });
  const bodies = Object.entries(schemasOf(document)).map(
    ([name, schema]) =>
      `export type ${name} = ${declaredByApps[name] ?? typeOf(requiredByAll(name, schema, others))};\n`,
  );
  const codes = codesOf([document, ...others]).map((code) => JSON.stringify(code));
  return `// Written by \`npm run contract\`: the operations, bodies and errors of the API, under every setting.

export type ContractCode = ${codes.join(' | ')};

${bodies.join('')}
/** The input and the data of each operation, by its method and path. */
export interface Operations {
${operations.join('')}}
`;
};
