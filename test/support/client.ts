import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { ContractCheck } from './contract.ts';

export interface ApiRequestOptions {
  readonly token?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON; undefined if the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on what is in it
  readonly body: any;
  readonly text: string;
}

export type ApiClient = (
  method: string,
  path: string,
  options?: ApiRequestOptions,
) => Promise<ApiAnswer>;

const parsed = ({ headers }: Response, text: string): unknown => {
  const isJson = /^application\/(?:[\w.+-]+\+)?json\b/.test(headers.get('content-type') ?? '');
  return isJson && text ? JSON.parse(text) : undefined;
};

/**
 * Calls an API at a base URL.
 * @param check compares each response with the contract
 */
export const apiClient =
  (baseUrl: string, check: ContractCheck = () => undefined): ApiClient =>
  async (method, path, { token, json, body, headers } = {}) => {
    const payload = json === undefined ? body : JSON.stringify(json);
    const response = await fetch(baseUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
    });
    const text = await response.text();
    check({ method, path, status: response.status, headers: response.headers, text });
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: parsed(response, text),
    };
  };

export interface Account {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
  /** Present if there are sessions, which can be refreshed. */
  readonly refreshToken?: string;
}

export const uniqueEmail = (): string => `${randomUUID()}@example.org`;

/** Whether the service says that a table did not answer within its time limits. */
export const isLate = ({ status, text }: ApiAnswer): boolean =>
  status === 500 && /"(AbortError|TimeoutError|ETIMEDOUT)"/.test(text);

/** How often a test requests what it needs before it begins, on a machine that stalls at times. */
const maxQuestions = 3;

const untilInTime = async (ask: () => Promise<ApiAnswer>): Promise<ApiAnswer> => {
  let answer = await ask();
  for (let asked = 1; asked < maxQuestions && isLate(answer); asked += 1) answer = await ask();
  return answer;
};

type NewUser = Pick<Account, 'name' | 'email' | 'password'>;

/** Creates a user of whom only the given fields matter to the test. */
const create = async (
  api: ApiClient,
  path: string,
  fields: Partial<NewUser>,
  options: Pick<ApiRequestOptions, 'token'> = {},
): Promise<{ account: NewUser; body: ApiAnswer['body'] }> => {
  const draw = () => ({
    name: 'Some One',
    email: uniqueEmail(),
    password: randomUUID(),
    ...fields,
  });
  let account = draw();
  const { status, body } = await untilInTime(() => {
    // A request that was late may have created its user nevertheless.
    account = draw();
    return api('POST', path, { ...options, json: account });
  });
  if (status !== 201) throw new Error(`POST ${path} answered ${status} ${JSON.stringify(body)}`);
  return { account, body };
};

export const register = async (api: ApiClient, fields: Partial<NewUser> = {}): Promise<Account> => {
  const { account, body } = await create(api, '/api/auth/register', fields);
  const { token, refreshToken } = body;
  return {
    ...account,
    id: Number(decodeJwt(token).id),
    token,
    ...(refreshToken ? { refreshToken } : {}),
  };
};

/** Creates a user by POST /api/users, with the token of any caller. */
export const makeUser = async (
  api: ApiClient,
  token: string,
  fields: Partial<NewUser> = {},
): Promise<Omit<Account, 'token'>> => {
  const { account, body } = await create(api, '/api/users', fields, { token });
  return { ...account, id: body.id };
};

/** The token in the response to a login. */
export const logIn = async (
  api: ApiClient,
  { email, password, code }: Pick<Account, 'email' | 'password'> & { code?: string | undefined },
): Promise<string> => {
  const json = { email, password, ...(code === undefined ? {} : { code }) };
  const { status, body } = await untilInTime(() => api('POST', '/api/login', { json }));
  if (status !== 200) throw new Error(`Login answered ${status} ${JSON.stringify(body)}`);
  return body.token;
};
