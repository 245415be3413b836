/** What the page reads in the OpenAPI document. */
import type { OpenApiDocument } from '../contract/document.ts';

interface Ref {
  readonly $ref: string;
}

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Example {
  readonly value: unknown;
}

export interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example | Ref>>;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, Media>>;
}

interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly (Parameter | Ref)[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface PageOperation extends OperationObject {
  readonly method: string;
  readonly path: string;
}

/** Every operation, in the order of the document. */
export const operationsOf = ({ paths }: OpenApiDocument): readonly PageOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...(operation as unknown as OperationObject),
      ...{ method: method.toUpperCase(), path },
    })),
  );

/** The name that a reference ends with. */
export const refName = ($ref: string): string => $ref.slice($ref.lastIndexOf('/') + 1);

/** What a reference leads to; anything else as it is. */
export const resolve = <T extends object>({ components }: OpenApiDocument, value: T | Ref): T => {
  const { $ref } = value as Partial<Ref>;
  if ($ref === undefined) return value as T;
  const [kind, name] = $ref.split('/').slice(2) as [string, string];
  const found = (components as unknown as Record<string, Record<string, T>>)[kind]?.[name];
  if (!found) throw new Error(`${$ref} leads nowhere.`);
  return found;
};

/** Responses of success, or of errors, in the order of their status. */
export const responsesOf = (
  { responses }: PageOperation,
  kind: 'success' | 'error',
): readonly (readonly [status: string, response: Response])[] =>
  Object.entries(responses).filter(([status]) =>
    kind === 'success' ? Number(status) < 400 : Number(status) >= 400,
  );

/** An error as the examples of a response show it. */
export interface ErrorExample {
  readonly code: string;
  readonly message: string;
}

/** The errors of one response, by its examples of problem details. */
export const errorsIn = (document: OpenApiDocument, response: Response): readonly ErrorExample[] =>
  Object.entries(response.content?.['application/problem+json']?.examples ?? {}).map(
    ([code, example]) => {
      const { value } = resolve(document, example);
      return { code, message: (value as { title: string }).title };
    },
  );
