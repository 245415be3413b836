/** The operations of the service by their paths, with the types of the contract. */
import { AccountsError, type ApiAnswer, answered, requested } from './answer.ts';
import { send, type Way } from './fetch.ts';
import { follow, isAnonymous } from './follow.ts';
import type { Operations } from './paths.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** For example `api.PUT('/api/users/{id}', { params: { path: { id } }, body: { name } })`. */
export type Api = { readonly [M in Method]: Caller<M> };

type Caller<M extends Method> = <Path extends PathWith<M>>(
  path: Path,
  ...options: object extends Operation<M, Path>['given']
    ? [options?: Operation<M, Path>['given'] & RequestOptions]
    : [options: Operation<M, Path>['given'] & RequestOptions]
) => Promise<ApiAnswer<Operation<M, Path>['data']>>;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof methods)[number];

type PathWith<M extends Method> = keyof Operations extends infer Key
  ? Key extends `${M} ${infer Path}`
    ? Path
    : never
  : never;

type Operation<M extends Method, Path extends string> = Operations[`${M} ${Path}` &
  keyof Operations];

interface RequestOptions extends CallOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function apiOf(way: Way): Api {
  const callers = methods.map((method) => [
    method,
    async (path: string, { params, body, ...options }: Parameterized = {}) => {
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const request = { ...options, ...json, method, path: filledIn(path, params) };
      return call(way, request as ApiRequest);
    },
  ]);
  return Object.fromEntries(callers);
}

interface Parameterized extends RequestOptions {
  readonly params?: Partial<Record<'path' | 'query', Readonly<Record<string, unknown>>>>;
  readonly body?: unknown;
}

function filledIn(
  pattern: string,
  { path = {}, query = {} }: Parameterized['params'] = {},
): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const pairs = given.map((pair) => pair.map((part) => encodeURIComponent(String(part))).join('='));
  const filled = pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(path[name])));
  return pairs.length > 0 ? `${filled}?${pairs.join('&')}` : filled;
}

interface ApiRequest extends Readonly<RequestInit> {
  readonly path: string;
  readonly method: string;
}

async function call(way: Way, request: ApiRequest): Promise<ApiAnswer<unknown>> {
  let response: Response | undefined;
  const sent = async () => {
    response = await sendToService(way, request);
    return response;
  };
  const answer = await answered(() => requested(sent, bodyOf, request.signal));
  if (!answer.error) await follow(way.keeper, request, answer.data);
  return { ...answer, response };
}

function sendToService(way: Way, { path, ...request }: ApiRequest): Promise<Response> {
  const init: RequestInit = {
    ...request,
    headers: {
      Accept: 'application/json, application/problem+json',
      ...(request.body && { 'Content-Type': 'application/json' }),
      ...request.headers,
    },
  };
  const target = way.base + path;
  return isAnonymous(path) ? way.fetch(target, init) : send(way, target, init);
}

/**
 * The JSON of a response, or its text; undefined if the body is empty.
 * @throws {AccountsError} for an HTML page: an app's own server returns one for any path, and no operation does
 */
async function bodyOf(response: Response): Promise<unknown> {
  const { headers, status } = response;
  const type = headers.get('Content-Type') ?? '';
  if (type.startsWith('text/html')) {
    const message = 'The response is a page: check the url of the service';
    throw new AccountsError(`HTTP_${status}`, { status, message });
  }
  const text = await response.text();
  const isJson = /^[^;]*[/+]json\b/.test(type);
  return isJson && text ? JSON.parse(text) : text || undefined;
}
