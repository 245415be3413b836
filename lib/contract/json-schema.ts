import { type ConversionConfig, type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import type { Keywords } from '../ground/validation.ts';

export type Json = Readonly<Record<string, unknown>>;

export const responseHeaders = {
  'Cache-Control': ref('headers', 'Cache-Control'),
  'X-Request-Id': ref('headers', 'X-Request-Id'),
};

/** Adds the keywords of a rule (`rule` in lib/ground/validation.ts), and leaves out the names of schemas. */
const overrideAction: NonNullable<ConversionConfig['overrideAction']> = ({
  valibotAction,
  jsonSchema,
}) => {
  const { keywords }: { type: string; keywords?: () => Keywords } = valibotAction;
  if (valibotAction.type !== 'metadata') return keywords && { ...jsonSchema, ...keywords() };
  const { name: _, ...rest } = jsonSchema as Json;
  return rest;
};

const options: ConversionConfig = {
  target: 'draft-2020-12',
  // JSON Schema has no keywords for these actions.
  ignoreActions: ['trim', 'transform', 'readonly'],
  overrideAction,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
};

export function ref(kind: string, name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

export function usedComponents<Components extends Readonly<Record<string, Json>>>(
  all: Components,
  paths: unknown,
): Components {
  const used = new Set(references(paths));
  // The loop adds names to the set while it visits them, and so also visits the added names.
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
}

/** Collects the named schemas of bodies, each with references to the others. */
export function collectSchemas() {
  const schemas: Record<string, JsonSchema> = {};
  const bodySchema = (schema: v.GenericSchema): JsonSchema => {
    const definitions = namedIn(schema);
    const { $schema, $defs, ...rest } = toJsonSchema(schema, { ...options, definitions });
    Object.assign(schemas, $defs);
    return rest;
  };
  return { schemas, bodySchema };
}

export function parameterSchema(schema: v.GenericSchema): JsonSchema {
  const { $schema, ...rest } = toJsonSchema(schema, { ...options, typeMode: 'output' });
  return rest;
}

/** The components that a part of the document refers to, such as `schemas/User`. */
function references(part: unknown): readonly string[] {
  return JSON.stringify(part).match(/(?<="\$ref":"#\/components\/)[^"]+/g) ?? [];
}

type Schema = v.GenericSchema & {
  readonly entries?: v.ObjectEntries;
  readonly item?: v.GenericSchema;
  readonly wrapped?: v.GenericSchema;
};

/** The named schemas within a schema, by their names; see `named` in schemas.ts. */
function namedIn(schema: Schema): Readonly<Record<string, v.GenericSchema>> {
  const parts = [...Object.values(schema.entries ?? {}), schema.item, schema.wrapped];
  const { name } = v.getMetadata(schema);
  return Object.assign(
    typeof name === 'string' ? { [name]: schema } : {},
    ...parts.map((part) => part && namedIn(part as Schema)),
  );
}
