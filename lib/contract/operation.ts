/** What an endpoint promises: its handler keeps it, and the OpenAPI document says it. */
import type * as v from 'valibot';
import type { ErrorCode, StorageFault } from '../errors.ts';
import type { ServiceValues } from '../settings.ts';

/**
 * Who may call an endpoint: without a token; with any; where the directory is closed, about
 * itself; about itself; an admin. Admins may call them all.
 */
export type Caller = 'anyone' | 'user' | 'directory' | 'self' | 'admin';

export interface Success {
  readonly status: 200 | 201 | 204;
  readonly description: string;
  /** Of the JSON body; absent: another content type, or no body. */
  readonly schema?: v.GenericSchema;
  readonly example?: unknown;
  /** Of text that clients may keep; absent: JSON. */
  readonly contentType?: string;
  /** Names of headers in lib/contract/document.ts, beside those of every response. */
  readonly headers?: readonly string[];
}

export interface Description {
  /** In camel case: generators name functions after it. */
  readonly id: string;
  readonly tag: string;
  /** A few words, without a full stop. */
  readonly summary: string;
  readonly text?: string;
  readonly bodyExample?: Readonly<Record<string, unknown>>;
  readonly success: Success;
  /** The errors of its own. Those of tokens, bodies and stores follow from the rest. */
  readonly errors: readonly ErrorCode[];
}

export type ParameterSchema = v.ObjectSchema<v.ObjectEntries, undefined>;

export interface Operation {
  readonly caller: Caller;
  /** The JSON body that it expects. */
  readonly body?: v.GenericSchema;
  /** Query parameters, from their text. */
  readonly query?: ParameterSchema;
  /** What a 500 says when the store fails. */
  readonly storageFault?: StorageFault;
  /** Whether it is there at all, by the settings in force; absent: always. */
  readonly exists?: (settings: ServiceValues) => boolean;
  /** What only the document says. A function, so that no other request pays for it. */
  readonly describe: (settings: ServiceValues) => Description;
}

type SuccessOf<O extends Operation> = ReturnType<O['describe']>['success'];

interface TextResponse {
  readonly statusCode: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly body?: string;
}

interface JsonResponse<S extends Success> {
  readonly statusCode: S['status'];
  readonly headers?: Readonly<Record<string, string>>;
}

type BodyOf<S extends Success> = S extends { readonly schema: infer T extends v.GenericSchema }
  ? { readonly body: v.InferOutput<T> }
  : unknown;

/** The response that an operation's handler makes when all is well. */
export type ResponseOf<O extends Operation> =
  SuccessOf<O> extends { readonly contentType: string }
    ? TextResponse
    : JsonResponse<SuccessOf<O>> & BodyOf<SuccessOf<O>>;
