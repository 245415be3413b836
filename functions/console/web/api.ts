/** Calls the service with the token of the session, and words its errors for screens. */
import type { AccountsError, ApiAnswer } from '../../client/answer.ts';
import type { Problem } from '../../client/paths.ts';
import type { PageData } from '../page-data.ts';
import { clockTime } from './format.ts';
import { isOfChange, now } from './service.ts';
import { accounts } from './session.ts';

export const settings: PageData = JSON.parse(
  document.getElementById('settings')?.textContent ?? '{}',
);

export const { api } = accounts;

interface Details {
  readonly code?: string;
  readonly faults?: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly wait?: number;
  readonly mayHaveChanged?: boolean;
}

/** A request that failed. Its message is a sentence. */
export class ConsoleError extends Error {
  /** 0: there was no response. */
  readonly status: number;
  /** The code of an error of the client; '': the console itself has found a fault. */
  readonly code: string;
  /** The faults of a form, by its fields. */
  readonly faults: Readonly<Record<string, string>>;
  /** When the request may be sent again, by `performance.now()`, which no change of the clock affects. */
  readonly mayRetryAt: number;
  /** Whether the failed request may have changed something nevertheless; reads never change anything. */
  readonly mayHaveChanged: boolean;

  constructor(message: string, status = 0, details: Details = {}) {
    super(message);
    const { code = '', faults = {}, wait = 0, mayHaveChanged = false } = details;
    this.status = status;
    this.code = code;
    this.faults = faults;
    this.mayRetryAt = performance.now() + wait * 1000;
    this.mayHaveChanged = mayHaveChanged;
  }

  get said(): string {
    return this.message + (this.mayHaveChanged ? ' It may have been done all the same.' : '');
  }
}

const sentence = (text: string): string =>
  text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

const faultsIn = ({ code, message, fields }: AccountsError) => {
  if (code === 'EMAIL_REGISTERED') return { email: sentence(message) };
  if (/CODE_WRONG$/.test(code)) return { code: 'This code is wrong, or was used before.' };
  return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, sentence(text)]));
};

/** The labels of filters that the console names differently from the API. */
export const labels = {
  userId: 'Who did it',
  resourceId: 'To whom',
  about: 'Person',
  ipAddress: 'Source',
  resource: 'Resource',
  machineId: 'Machine',
} as const;

/** The label of the filter that a word names; any other word is returned unchanged. */
const labelOf = (word: string): string =>
  Object.entries(labels).find(([name]) => name === word)?.[1] ?? word;

/** The first minute on the clock in which a request may be sent again. */
const timeIn = ({ retryAfter = 0 }: AccountsError): string =>
  clockTime(new Date(now() + retryAfter * 1000 + 59_999).toISOString());

const messageOf = (error: AccountsError): string => {
  const { status, code, message } = error;
  const problem: Partial<Problem> & { readonly message?: string } =
    status > 0 ? Object(error.cause) : { message };
  const said = problem.title ?? problem.message ?? `The service answered ${status}`;
  const title = sentence(said.replace(/^\w+/, labelOf));
  const fault = problem.err ?? problem.hashErr ?? problem.insertErr;
  if (code === 'HTTP_429') return 'The service has too much to do.';
  if (code === 'PASSKEY_EXISTS') return 'This device has a passkey of the account already.';
  if (code === 'SECOND_FACTOR_REQUIRED')
    return `${title} You need one yourself: set it up in My account, or sign in with it.`;
  if (code === 'MAILS_LIMITED') return `${title} The next may be sent at ${timeIn(error)}.`;
  if (status < 500) return title;
  return fault ? `${title.slice(0, -1)} (${fault}).` : title;
};

const replyOf = async <Data>(
  request: Promise<ApiAnswer<Data>>,
): Promise<ApiAnswer<Data> & { readonly error: null }> => {
  const answer = await request;
  const { error, response } = answer;
  if (!error) return answer;
  const isUnknown = ['NO_RESPONSE', 'STORAGE_FAULT'].includes(error.code);
  throw new ConsoleError(messageOf(error), error.status, {
    code: error.code,
    faults: faultsIn(error),
    wait: Number(response?.headers.get('Retry-After') ?? 0),
    mayHaveChanged: isUnknown && isOfChange(response ?? error.cause),
  });
};

/** @returns the data of an answer @throws {ConsoleError} */
export const send = async <Data>(request: Promise<ApiAnswer<Data>>): Promise<Data> =>
  (await replyOf(request)).data;

/** Sends a request. @returns undefined if it failed with this code @throws {ConsoleError} of another code */
export const sendUnless = async <Data>(
  code: string,
  request: Promise<ApiAnswer<Data>>,
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
  request: Promise<ApiAnswer<{ readonly data: Row[] }>>,
): Promise<readonly Row[]> => (await send(request)).data;

export interface Page<Data> {
  readonly data: Data;
  /** The path of the next page, with its query; absent: this is the last one. */
  readonly next?: string;
}

/** @returns the body of a page of a list, and the path of the next page @throws {ConsoleError} */
export const sendForPage = async <Data>(request: Promise<ApiAnswer<Data>>): Promise<Page<Data>> => {
  const { data, response } = await replyOf(request);
  const [, next] = /<(.+)>; rel="next"/.exec(response?.headers.get('Link') ?? '') ?? [];
  return { data, ...(next ? { next } : {}) };
};
