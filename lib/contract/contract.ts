/** The contract of an endpoint, which its handler, the stack and the OpenAPI document share. */
import type * as v from 'valibot';
import type { Operation, PublicOperation } from '../accounts/policy.ts';
import type { ErrorCode, StorageFault } from '../ground/errors.ts';
import type { ServiceValues } from '../ground/settings.ts';
import type { BodySchema, Fields } from '../ground/validation.ts';
import type { Role } from '../users/user.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';

/**
 * Schemas are made by functions, so that a bundle leaves out the schemas that its function does not use.
 */
export interface Contract {
  /** The path is in API Gateway's form: a segment in braces is a parameter. */
  readonly route: `${HttpMethod} /${string}`;
  /** Whether the settings make it available; absent: it always is. */
  readonly exists?: (settings: ServiceValues) => boolean;
  /**
   * The name of a row in lib/accounts/policy.ts, which says who may call the operation and what callers may request.
   */
  readonly may: Operation;
  /** Callers need no token, but a token that they send is read. */
  readonly takesToken?: true;
  /**
   * Whether the source of a request counts: the request is recorded or counted, mails, or begins a session. Absent: it
   * does for all methods but GET and HEAD.
   */
  readonly takesSource?: boolean;
  /** A token is accepted even if its user was deleted. */
  readonly evenIfDeleted?: true;
  /**
   * The schema of the JSON body, for checks of requests and for the document. It may depend on the settings, on the
   * caller's role, and on the body's own fields. The document shows the schema for an admin and a body without fields.
   */
  readonly body?: (settings: ServiceValues, role: Role, given?: Fields) => BodySchema;
  /** The error when a field of the body is missing or empty; absent: FIELD_INVALID. */
  readonly whenMissing?: ErrorCode;
  /** The error if a field of the body breaks a rule, for all fields or by field; absent: FIELD_INVALID. */
  readonly whenInvalid?: ErrorCode | Readonly<Record<string, ErrorCode>>;
  /** Each has a schema that converts its text; they may depend on the header Accept and on the settings. */
  readonly query?: (accept: string | undefined, settings: ServiceValues) => v.ObjectEntries;
  /** Unknown and repeated parameters are refused; absent: they are ignored. */
  readonly refusesOtherParameters?: true;
  /** The message and the field of a 500 when the store fails. */
  readonly storageFault?: StorageFault;
}

export function isPublic(may: Operation): may is PublicOperation {
  return may === 'public' || may === 'register';
}

/** Whether the source of a request to an endpoint counts. */
export function takesSource({ route, takesSource: own }: Contract): boolean {
  return own ?? !/^(?:GET|HEAD) /.test(route);
}

/** A contract of an endpoint whose source does not count, as {@link takesSource} says. */
export type Uncounted =
  | { readonly takesSource: false }
  | { readonly route: `${'GET' | 'HEAD'} /${string}`; readonly takesSource?: false };

/** A text form, which a client gets instead of JSON if it names its media type in Accept. */
export interface TextForm {
  readonly contentType: string;
  readonly schema: v.GenericSchema;
  readonly example: string;
}

export interface Success {
  readonly status: 200 | 201 | 202 | 204 | 302;
  readonly description: string;
  readonly schema?: v.GenericSchema;
  readonly example?: unknown;
  readonly contentType?: string;
  readonly textForms?: readonly TextForm[];
  /** Another response with the same body: 201 if something is created, or 200 if the request was made before. */
  readonly alternative?: Pick<Success, 'status' | 'description'>;
  /** Names of headers in lib/contract/components.ts, in addition to the headers of every response. */
  readonly headers?: readonly string[];
}

/** A list that leaves out falsy items, which belong to options that are off. */
export type WithOptions<Item> = readonly (Item | readonly Item[] | false | undefined)[];

export interface Description {
  /** In camel case: generators name functions after it. */
  readonly id: string;
  /** A few words, without a full stop. */
  readonly summary: string;
  /** Sentences, which the document joins by spaces. */
  readonly text?: string | WithOptions<string>;
  readonly isBodyOptional?: true;
  readonly bodyExample?: Readonly<Record<string, unknown>>;
  /** Names of required headers of the request, of those that lib/contract/components.ts has. */
  readonly requestHeaders?: readonly string[];
  readonly success: Success;
  /** The errors of this endpoint that do not follow from the contract. */
  readonly errors?: WithOptions<ErrorCode>;
}

/** Descriptions by the names of contracts. Bundles leave them out, because no handler imports them. */
export type Descriptions = Readonly<Record<string, (settings: ServiceValues) => Description>>;

/** A contract, its description, and the file of its handler, such as `users/get`. */
export interface Endpoint {
  readonly file: string;
  readonly contract: Contract;
  readonly tag: string;
  readonly describe: Descriptions[string];
}

export function inForce(endpoints: readonly Endpoint[], settings: ServiceValues) {
  return endpoints.filter(({ contract }) => contract.exists?.(settings) ?? true);
}
