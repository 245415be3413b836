/** Reads from the OpenAPI document what tests check. */
import { endpoints } from '../../functions/contracts.ts';
import { buildDocument, type OpenApiDocument } from '../../lib/contract/document.ts';
import type { ServiceValues } from '../../lib/ground/settings.ts';

interface Response {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly examples?: object }>>;
}

export interface DocumentedOperation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly responses: Readonly<Record<string, Response>>;
}

/** The document of the service under given settings, at a URL. */
export const documentFor = (settings: ServiceValues, server: string): OpenApiDocument =>
  buildDocument(endpoints, settings, server);

/** Every operation, in the order of the document. */
export const operationsOf = ({ paths }: OpenApiDocument): readonly DocumentedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...(operation as unknown as DocumentedOperation),
      method: method.toUpperCase(),
      path,
    })),
  );

/** Responses of success, or of errors, in the order of their status. */
export const responsesOf = (
  { responses }: DocumentedOperation,
  kind: 'success' | 'error',
): readonly (readonly [status: string, response: Response])[] =>
  Object.entries(responses).filter(([status]) =>
    kind === 'success' ? Number(status) < 400 : Number(status) >= 400,
  );

/** The codes of the errors of one response, read from its examples of problem details. */
export const codesIn = ({ content }: Response): readonly string[] =>
  Object.keys(content?.['application/problem+json']?.examples ?? {});
