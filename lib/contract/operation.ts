/** What an endpoint promises: its handler keeps it, and the OpenAPI document says it. */
import type * as v from 'valibot';
import type { ErrorCode, StorageFault } from '../errors.ts';
import type { ServiceValues } from '../settings.ts';

/**
 * Who may call an endpoint: without a token; with any; where the directory is closed, about
 * itself; about itself and, unless the directory is closed, about users whom it made; an admin.
 * Admins may call them all.
 */
export type Caller = 'anyone' | 'user' | 'directory' | 'maker' | 'admin';

/** Text in which a client may have a body by asking for its media type in Accept. */
export interface TextForm {
  readonly contentType: string;
  readonly schema: v.GenericSchema;
  readonly example: string;
}

export interface Success {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  /** Of the body; absent: there is none. */
  readonly schema?: v.GenericSchema;
  readonly example?: unknown;
  /** Absent: JSON. */
  readonly contentType?: string;
  /** In what other forms the JSON body may be had. */
  readonly textForms?: readonly TextForm[];
  /** Names of headers in lib/contract/document.ts, beside those of every response. */
  readonly headers?: readonly string[];
}

export interface Description {
  /** Whether it is there at all; absent: it always is. */
  readonly exists?: boolean;
  /** In camel case: generators name functions after it. */
  readonly id: string;
  readonly tag: string;
  /** A few words, without a full stop. */
  readonly summary: string;
  readonly text?: string;
  /** Of the JSON body, where a setting adds to the operation's. */
  readonly body?: v.GenericSchema;
  /** Whether a request without a body succeeds. */
  readonly isBodyOptional?: true;
  readonly bodyExample?: Readonly<Record<string, unknown>>;
  readonly success: Success;
  /** The errors of its own. Those of tokens, bodies and stores follow from the rest. */
  readonly errors: readonly ErrorCode[];
}

/** What handler and document share of an operation. */
export interface Operation {
  readonly caller: Caller;
  /** The JSON body that it expects. */
  readonly body?: v.GenericSchema;
  /** Query parameters, from their text. */
  readonly query?: v.ObjectEntries;
  /** What a 500 says when the store fails. */
  readonly storageFault?: StorageFault;
}

/** What only the document says of an operation: bundles of other functions leave it out. */
export type Describe = (settings: ServiceValues) => Description;

/** Operations by the route that each has, `METHOD /path`. */
export type Operations = Readonly<Record<string, readonly [Operation, Describe]>>;
