import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type * as v from 'valibot';
import type {
  MachineOnlyOperation,
  MachineOperation,
  Operation,
  PublicOperation,
  Standing,
} from '../accounts/policy.ts';
import type { Contract } from '../contract/contract.ts';
import { languages, type ServiceValues } from '../ground/settings.ts';
import type { Source } from '../ground/source.ts';
import type { Claims } from '../keys/token.ts';
import type { Machine } from '../options/machines/machine.ts';
import type { Bearer } from '../options/sessions/bearer.ts';

type UserClaims = Claims & Standing;

/** The gateway's event (payload format 2.0) while the middlewares run. */
export type IncomingEvent = Omit<APIGatewayProxyEventV2, 'body'> & {
  body?: unknown;
  query?: unknown;
  id?: number;
  claims?: UserClaims;
  bearer?: Bearer;
  machine?: Machine;
  vouchingMachine?: number;
  /** Settles when the uses of keys of machines are noted; never rejects. */
  noting?: Promise<unknown> | undefined;
};

export type Middleware = MiddlewareObj<IncomingEvent>;

/** The argument of a handler: the event after the middlewares have run. */
export type ApiRequest = Omit<APIGatewayProxyEventV2, 'body'> & {
  /** Absent: there is no token, or a machine calls. */
  readonly claims?: UserClaims;
  readonly machine?: Machine;
  readonly vouchingMachine?: number;
  readonly source: Source;
};

export type SharedRequest = ApiRequest & {
  /** The caller as stored, with the session of the token; absent where there are no sessions, and for machines. */
  readonly bearer?: Bearer;
};

export type AuthenticatedRequest = SharedRequest & { readonly claims: UserClaims };

export type MachineRequest = ApiRequest & { readonly machine: Machine };

type BodyOf<C> = C extends {
  readonly body: (...about: never[]) => infer Schema extends v.GenericSchema;
}
  ? { readonly body: v.InferOutput<Schema> }
  : unknown;

type QueryOf<C> = C extends {
  readonly query: (
    accept: string | undefined,
    settings: ServiceValues,
  ) => infer Entries extends v.ObjectEntries;
}
  ? { readonly query: v.InferOutput<v.ObjectSchema<Entries, undefined>> }
  : unknown;

type RequestBy<May extends Operation> = May extends PublicOperation
  ? ApiRequest
  : May extends MachineOnlyOperation
    ? MachineRequest
    : May extends MachineOperation
      ? SharedRequest
      : AuthenticatedRequest;

/** A request that a contract accepts. Its body and query parameters are the values that the contract has parsed. */
export type RequestTo<C extends Contract> = RequestBy<C['may']> &
  BodyOf<C> &
  QueryOf<C> &
  (C['route'] extends `${string}{id}${string}` ? { readonly id: number } : unknown);

export interface ApiResponse {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Serialised as JSON; text of another content type, and bytes, are sent as they are. */
  readonly body?: unknown;
  readonly contentType?: string;
}

export type Handler = (
  event: APIGatewayProxyEventV2,
  context: unknown,
) => Promise<APIGatewayProxyStructuredResultV2>;

export type EndpointHandler = Handler & { readonly route: string };

/**
 * The id and the origin of a request, for audit entries: they come from the gateway, and from a header only if a machine
 * vouches for it. Also the machine that calls or vouches, and the language of the mails that the request causes.
 */
export function sourceOf(event: IncomingEvent): Source {
  const { headers, machine, requestContext, vouchingMachine } = event;
  const { http, requestId } = requestContext;
  const machine_id = machine?.id ?? vouchingMachine;
  const language = preferredLanguage(headers?.['accept-language'], languages);
  return {
    ip_address: http.sourceIp,
    user_agent: http.userAgent,
    request_id: requestId,
    ...(language && { language }),
    ...(machine_id !== undefined && { machine_id }),
  };
}

/** The offered language that an Accept-Language header (RFC 9110, section 12.5.4) prefers, if any. */
export function preferredLanguage<T extends string>(
  header: string | undefined,
  offer: readonly T[],
): T | undefined {
  return rangesOf(header ?? '')
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .flatMap(({ type }) => offer.find((each) => each === type.replace(/-.*/, '')) ?? [])[0];
}

/** Whether a header such as Accept names a value itself, not by a wildcard, and with a quality above 0. */
export function accepts(header: string | undefined, value: string): boolean {
  return rangesOf(header ?? '').some(({ type, quality }) => type === value && quality > 0);
}

/**
 * The offered media type that an Accept header prefers: by quality, then by precision, then by the order in the header,
 * then by the order of the offer. The first type of the offer is returned when there is no header, or when no type is
 * acceptable.
 */
export function preferredType<T extends string>(
  header: string | undefined,
  offer: readonly [T, ...T[]],
): T {
  const ranges = rangesOf(header ?? '');
  const rated = offer.map((type) => {
    // The quality of a type is the quality of the most precise range that includes the type.
    const names = [type, type.replace(/[^/]*$/, '*'), '*/*'];
    const places = names.map((name) => ranges.findIndex((range) => range.type === name));
    const precision = places.findIndex((place) => place >= 0);
    const place = places[precision] ?? -1;
    return { type, quality: ranges[place]?.quality ?? 0, precision, place };
  });
  const [best] = rated
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.precision - b.precision || a.place - b.place);
  return best?.type ?? offer[0];
}

/** A media range of an Accept header (RFC 9110, section 12.5.1). */
interface MediaRange {
  /** In lower case; a wildcard is an asterisk. */
  readonly type: string;
  /** From 0 (not acceptable) to 1; NaN if the text is not a number. */
  readonly quality: number;
}

function rangesOf(header: string): readonly MediaRange[] {
  // A comma or a semicolon in a quoted string separates nothing.
  const unquoted = header.toLowerCase().replace(/"(?:[^"\\]|\\.?)*(?:"|$)/g, '""');
  return unquoted.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
  });
}
