/** Schemas, as the OpenAPI document says them. */
import {
  type ConversionConfig,
  type JsonSchema,
  toJsonSchema,
  toJsonSchemaDefs,
} from '@valibot/to-json-schema';
import type * as v from 'valibot';
import type { Keywords } from '../validation.ts';
import type { NamedSchemas } from './named-schemas.ts';

/** Of a pipe's parts, what says itself in JSON Schema; see `rule` in lib/validation.ts. */
const overrideAction: NonNullable<ConversionConfig['overrideAction']> = ({
  valibotAction,
  jsonSchema,
}) => {
  const { keywords }: { type: string; keywords?: () => Keywords } = valibotAction;
  return keywords && { ...jsonSchema, ...keywords() };
};

const options: ConversionConfig = {
  target: 'draft-2020-12',
  // JSON Schema has no words for these.
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

/** What a parameter's text must say. */
export const parameterSchema = (schema: v.GenericSchema): JsonSchema =>
  convert(schema, { typeMode: 'output' });

/** The named schemas in full, each with references to the others. */
export const componentSchemas = (named: NamedSchemas): Readonly<Record<string, JsonSchema>> =>
  toJsonSchemaDefs(named, options);
