/** The service, called with the token of the session, and its errors as screens say them. */
import createClient from 'openapi-fetch';
import type { Problem, paths } from '../../client/paths.ts';
import type { PageData } from '../page-data.ts';
import { now, setClock } from './clock.ts';
import { clockTime } from './format.ts';
import { endSession, refresh, signedIn } from './session.ts';

export const settings: PageData = JSON.parse(
  document.getElementById('settings')?.textContent ?? '{}',
);

/** Milliseconds: longer than the gateway waits for a function. */
const timeout = 35_000;

export const api = createClient<paths>({
  baseUrl: '',
  headers: { Accept: 'application/json, application/problem+json' },
  fetch: (request) =>
    fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeout)]) }),
});

const sentence = (text: string): string =>
  text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

const faultsIn = ({ errors = [], code, title = '' }: Partial<Problem>) => {
  if (code === 'EMAIL_REGISTERED') return { email: sentence(title) };
  if (/CODE_WRONG$/.test(code ?? '')) return { code: 'This code is wrong, or was used before.' };
  return Object.fromEntries(
    errors.map(({ pointer, detail }) => [pointer.slice(2), sentence(detail)]),
  );
};

/** A request that failed. Its message is a sentence. */
export class ConsoleError extends Error {
  /** 0: there was no response. */
  readonly status: number;
  /** The error's code; '': the gateway or the network failed. */
  readonly code: string;
  /** The faults of a form, by its fields. */
  readonly faults: Readonly<Record<string, string>>;
  /** When the request may be sent again, by `performance.now()`, which nobody sets. */
  readonly mayRetryAt: number;
  /** Whether something may have been changed all the same: a read changes nothing. */
  mayHaveChanged = false;

  constructor(message: string, status = 0, problem: Partial<Problem> = {}, wait = 0) {
    super(message);
    this.status = status;
    this.code = problem.code ?? '';
    this.faults = faultsIn(problem);
    this.mayRetryAt = performance.now() + wait * 1000;
  }

  get said(): string {
    return this.message + (this.mayHaveChanged ? ' It may have been done all the same.' : '');
  }
}

const reads = new WeakSet<Response>();

api.use({
  onRequest: async ({ request }) => {
    await refresh();
    const { session } = signedIn.get();
    if (session) request.headers.set('Authorization', `Bearer ${session.token}`);
  },
  onResponse: ({ request, response }) => {
    setClock(response);
    if (request.method === 'GET') reads.add(response);
  },
  onError: ({ request }) => {
    const failure = new ConsoleError('No response came from the service.');
    failure.mayHaveChanged = request.method !== 'GET';
    return failure;
  },
});

/** The labels of filters whose names in the API people do not see. */
export const labels = {
  userId: 'Who did it',
  resourceId: 'To whom',
  about: 'Who or to whom',
  ipAddress: 'Source',
} as const;

/** The word for a filter, by which the service begins what is wrong with it; other words stay. */
const labelOf = (word: string): string =>
  Object.entries(labels).find(([name]) => name === word)?.[1] ?? word;

/** The first minute on the clock in which a request may be sent again. */
const timeIn = ({ retryAfter = 0 }: Partial<Problem>): string =>
  clockTime(new Date(now() + retryAfter * 1000 + 59_999).toISOString());

const messageOf = (status: number, problem: Partial<Problem> & { message?: string }): string => {
  const said = problem.title ?? problem.message ?? `The service answered ${status}`;
  const title = sentence(said.replace(/^\w+/, labelOf));
  const fault = problem.err ?? problem.hashErr ?? problem.insertErr;
  if (status === 429 && !problem.code) return 'The service has too much to do.';
  if (problem.code === 'SECOND_FACTOR_REQUIRED')
    return `${title} Set one up in My account, or sign in with it.`;
  if (problem.code === 'MAILS_LIMITED')
    return `${title} The next may be sent at ${timeIn(problem)}.`;
  if (status < 500) return title;
  return fault ? `${title.slice(0, -1)} (${fault}).` : title;
};

interface Reply<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

const replyOf = async <Data>(request: Promise<Reply<Data>>): Promise<Reply<Data>> => {
  const sentWith = signedIn.get().session?.token;
  const reply = await request;
  const { response, error } = reply;
  if (response.ok) return reply;
  const problem = typeof error === 'object' && error ? (error as Partial<Problem>) : {};
  const isOver = response.status === 401 && problem.code?.startsWith('TOKEN_');
  if (isOver && signedIn.get().session?.token === sentWith) endSession();
  const wait = Number(response.headers.get('Retry-After') ?? 0);
  const failure = new ConsoleError(
    messageOf(response.status, problem),
    response.status,
    problem,
    wait,
  );
  failure.mayHaveChanged = failure.code === 'STORAGE_FAULT' && !reads.has(response);
  throw failure;
};

/** @returns the body of a response @throws {ConsoleError} */
export const send = async <Data>(request: Promise<Reply<Data>>): Promise<Data> =>
  (await replyOf(request)).data as Data;

/** Sends a request. @returns undefined if it failed with this code @throws {ConsoleError} of another code */
export const sendUnless = async <Data>(
  code: string,
  request: Promise<Reply<Data>>,
): Promise<Data | undefined> => {
  try {
    return await send(request);
  } catch (error) {
    if (error instanceof ConsoleError && error.code === code) return undefined;
    throw error;
  }
};

/** @returns the list in the body of a response @throws {ConsoleError} */
export const sendForList = async <Row>(
  request: Promise<Reply<{ readonly data: Row[] }>>,
): Promise<readonly Row[]> => (await send(request)).data;

export interface Page<Data> {
  readonly data: Data;
  /** The path of the next page, with its query; absent: this is the last one. */
  readonly next?: string;
}

/** @returns the body of a page of a list, and where the next one is @throws {ConsoleError} */
export const sendForPage = async <Data>(request: Promise<Reply<Data>>): Promise<Page<Data>> => {
  const { data, response } = await replyOf(request);
  const [, next] = /<(.+)>; rel="next"/.exec(response.headers.get('Link') ?? '') ?? [];
  return { data: data as Data, ...(next ? { next } : {}) };
};
