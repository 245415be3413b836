/** The contract of an endpoint, which its handler and the OpenAPI document share. */
import type * as v from 'valibot';
import type { ErrorCode, StorageFault } from '../errors.ts';
import type { ServiceValues } from '../settings.ts';

/**
 * Who may call an endpoint.
 * - `anyone`: callers without a token;
 * - `user`: callers with any valid token;
 * - `reader`: the same; while accounts are private, only about themselves;
 * - `maker`: callers about themselves and, while accounts are open, about users whom they created;
 * - `self`: callers about themselves;
 * - `admin`: admins, who may call all endpoints.
 */
export type Caller = 'anyone' | 'user' | 'reader' | 'maker' | 'self' | 'admin';

/** A form of text that a client gets instead of JSON by naming its media type in Accept. */
export interface TextForm {
  readonly contentType: string;
  readonly schema: v.GenericSchema;
  readonly example: string;
}

export interface Success {
  readonly status: 200 | 201 | 202 | 204 | 302;
  readonly description: string;
  /** The schema of the body; absent: there is no body. */
  readonly schema?: v.GenericSchema;
  readonly example?: unknown;
  /** Absent: JSON. */
  readonly contentType?: string;
  /** Other forms of the JSON body. */
  readonly textForms?: readonly TextForm[];
  /** Names of headers in lib/contract/components.ts, beside those of every response. */
  readonly headers?: readonly string[];
}

export interface Description {
  /** Whether the settings make the operation available; absent: it always is. */
  readonly exists?: boolean;
  /** In camel case: generators name functions after it. */
  readonly id: string;
  readonly tag: string;
  /** A few words, without a full stop. */
  readonly summary: string;
  readonly text?: string;
  /** Anyone may call, and a token is read if there is one. */
  readonly takesToken?: true;
  /** The schema of the JSON body, if a setting adds to that of the operation. */
  readonly body?: v.GenericSchema;
  /** Whether a request without a body succeeds. */
  readonly isBodyOptional?: true;
  readonly bodyExample?: Readonly<Record<string, unknown>>;
  readonly success: Success;
  /** Errors of this operation. Those of tokens, bodies and stores follow from the rest. */
  readonly errors: readonly ErrorCode[];
}

/** The part of the contract that the handler uses. */
export interface Operation {
  readonly caller: Caller;
  /** The JSON body. */
  readonly body?: v.GenericSchema;
  /** Query parameters, each a schema from text to value. */
  readonly query?: v.ObjectEntries;
  /** The message and the field of a 500 when the store fails. */
  readonly storageFault?: StorageFault;
}

/**
 * The part of the contract that only the document uses: bundles of other functions leave it out.
 */
export type Describe = (settings: ServiceValues) => Description;

/** Operations by route, `METHOD /path`. */
export type Operations = Readonly<Record<string, readonly [Operation, Describe]>>;
