import {
  type ConversionConfig,
  type JsonSchema,
  toJsonSchema,
  toJsonSchemaDefs,
} from '@valibot/to-json-schema';
import type * as v from 'valibot';
import type { Keywords } from '../validation.ts';
import type { NamedSchemas } from './named-schemas.ts';

/** A part of the document, as JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** Refers to a component of the document. */
export const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** Headers of every response of a function. */
export const commonHeaders = {
  'Cache-Control': ref('headers', 'Cache-Control'),
  'X-Request-Id': ref('headers', 'X-Request-Id'),
};

/** The components that a part of the document refers to, such as `schemas/User`. */
const references = (part: unknown): readonly string[] =>
  JSON.stringify(part).match(/(?<="\$ref":"#\/components\/)[^"]+/g) ?? [];

/** The components without those that nothing refers to. */
export const usedComponents = <Components extends Readonly<Record<string, Json>>>(
  all: Components,
  paths: unknown,
): Components => {
  const used = new Set(references(paths));
  // The set grows while it is walked.
  for (const name of used) {
    const [kind, key] = name.split('/') as [string, string];
    for (const further of references(all[kind]?.[key])) used.add(further);
  }
  const kept = Object.entries(all).map(([kind, parts]) => {
    const isUsed = ([key]: readonly [string, unknown]) =>
      kind === 'securitySchemes' || used.has(`${kind}/${key}`);
    return [kind, Object.fromEntries(Object.entries(parts).filter(isUsed))];
  });
  return Object.fromEntries(kept);
};

/** Adds the JSON Schema keywords of a rule; see `rule` in lib/validation.ts. */
const overrideAction: NonNullable<ConversionConfig['overrideAction']> = ({
  valibotAction,
  jsonSchema,
}) => {
  const { keywords }: { type: string; keywords?: () => Keywords } = valibotAction;
  return keywords && { ...jsonSchema, ...keywords() };
};

const options: ConversionConfig = {
  target: 'draft-2020-12',
  // JSON Schema has no keywords for these.
  ignoreActions: ['trim', 'transform', 'readonly'],
  overrideAction,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
};

const convert = (schema: v.GenericSchema, more: ConversionConfig): JsonSchema => {
  const { $schema, $defs, ...rest } = toJsonSchema(schema, { ...options, ...more });
  return rest;
};

/** A schema of a body, by reference where it has a name. */
export const bodySchema = (schema: v.GenericSchema, definitions: NamedSchemas = {}): JsonSchema =>
  convert(schema, { definitions });

/** The schema of a query parameter, by the value that its text is converted to. */
export const parameterSchema = (schema: v.GenericSchema): JsonSchema =>
  convert(schema, { typeMode: 'output' });

/** The named schemas in full, each with references to the others. */
export const componentSchemas = (named: NamedSchemas): Readonly<Record<string, JsonSchema>> =>
  toJsonSchemaDefs(named, options);
