/** Schemas, as the OpenAPI document says them. */
import { type ConversionConfig, type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { auditEntry } from '../audit/entry-schema.ts';
import { credentials } from '../auth/credentials.ts';
import { nameAndEmail, nameOrEmail } from '../users/name-and-email.ts';
import * as bodies from '../users/schema.ts';
import { memoryUser, user } from '../users/user-schema.ts';
import type { Keywords } from '../validation.ts';

/** The schemas that the document gives a name. */
export const named: Readonly<Record<string, v.GenericSchema>> = {
  User: user,
  NewUser: bodies.newUser,
  NewUserWithRole: bodies.newUserByAdmin,
  UserChanges: bodies.userChanges,
  Credentials: credentials,
  AuditEntry: auditEntry,
  MemoryUser: memoryUser,
  NameAndEmail: nameAndEmail,
  NameOrEmail: nameOrEmail,
};

/** Of a pipe's parts, what says itself in JSON Schema; see `rule` in lib/validation.ts. */
const overrideAction: NonNullable<ConversionConfig['overrideAction']> = ({
  valibotAction,
  jsonSchema,
}) => {
  const { keywords }: { type: string; keywords?: () => Keywords } = valibotAction;
  return keywords && { ...jsonSchema, ...keywords() };
};

const convert = (schema: v.GenericSchema, options: ConversionConfig): JsonSchema => {
  const { $schema, $defs, ...rest } = toJsonSchema(schema, {
    ...options,
    target: 'draft-2020-12',
    // JSON Schema has no words for these.
    ignoreActions: ['trim', 'transform', 'readonly'],
    overrideAction,
  });
  return rest;
};

/** A schema of a body, by reference where the document gives it a name. */
export const bodySchema = (schema: v.GenericSchema): JsonSchema =>
  convert(schema, {
    definitions: named,
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  });

/** What a parameter's text must say. */
export const parameterSchema = (schema: v.GenericSchema): JsonSchema =>
  convert(schema, { typeMode: 'output' });

/** A named schema in full. */
export const componentSchema = (schema: v.GenericSchema): JsonSchema => convert(schema, {});
