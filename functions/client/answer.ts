/** The answer of every call: data, or an error that has a code. Only a programmer's mistake throws. */
import type { ContractCode } from './paths.ts';

export type Answer<Data> =
  | { readonly data: Data; readonly error: null }
  | { readonly data: null; readonly error: AccountsError };

/** An answer with the HTTP response, whose body was already read; `response` is absent if none came. */
export type ApiAnswer<Data> = Answer<Data> & { readonly response?: Response | undefined };

/**
 * The codes of the contract, and the client's own codes. `ABORTED` need not be shown to users; a code such as
 * `HTTP_429` means that a gateway or a proxy responded instead of the service. A newer service may have more codes.
 */
export type ErrorCode =
  | ContractCode
  | 'NO_RESPONSE'
  | 'ABORTED'
  | 'ISSUER_FAILED'
  | `PASSKEY_${'REFUSED' | 'EXISTS' | 'FAILED'}`
  | `HTTP_${number}`
  | (string & {});

interface ErrorDetails {
  readonly status?: number;
  readonly message: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** A call that failed. */
export class AccountsError extends Error {
  override readonly name = 'AccountsError';
  readonly code: ErrorCode;
  /** The status of the response; 0 if no response came. */
  readonly status: number;
  /** The faults of the body, by the names of its fields. */
  readonly fields: Readonly<Record<string, string>>;
  /** Seconds after which the call may succeed. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    { status = 0, message, fields = {}, retryAfter, cause }: ErrorDetails,
  ) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.fields = fields;
    this.retryAfter = retryAfter;
  }

  /** Whether the same call may succeed later. */
  get isTemporary(): boolean {
    return this.code === 'NO_RESPONSE' || this.status === 429 || this.status >= 500;
  }
}

/** The answer of a call that throws an {@link AccountsError} if it fails. @throws any other error of the call */
export async function answered<Data>(call: () => Promise<Data>): Promise<Answer<Data>> {
  try {
    return { data: await call(), error: null };
  } catch (error) {
    if (error instanceof AccountsError) return { data: null, error };
    throw error;
  }
}

/**
 * Sends a request, and reads its response.
 * @throws {AccountsError} also for a response that was cut off, or that something other than the service has sent
 */
export async function requested<Made>(
  send: () => Promise<Response>,
  read: (response: Response) => Promise<Made>,
  signal?: AbortSignal | null,
): Promise<Made> {
  try {
    const response = await send();
    if (!response.ok) throw await errorIn(response);
    return await read(response);
  } catch (error) {
    throw error instanceof AccountsError ? error : lost(error, signal);
  }
}

export async function mapped<Data, Made>(
  call: Promise<ApiAnswer<Data>>,
  make: (data: Data) => Made | Promise<Made>,
): Promise<Answer<Made>> {
  const answer = await call;
  return answer.error ? answer : { data: await make(answer.data), error: null };
}

/** The error of a request for which `fetch` rejected. @param signal the signal with which the caller may abort it */
export function lost(cause: unknown, signal?: AbortSignal | null): AccountsError {
  const isLate = (cause as Partial<Error> | undefined)?.name === 'TimeoutError';
  return signal?.aborted && !isLate
    ? new AccountsError('ABORTED', { message: 'The call was aborted', cause })
    : new AccountsError('NO_RESPONSE', { message: 'No response came from the service', cause });
}

/** The error of a response that is not a success (functions/README.md, Errors). */
async function errorIn(response: Response): Promise<AccountsError> {
  const { status, headers } = response;
  const body: Problem = Object(await response.json().catch(() => ({})));
  const own = headers.get('Error-Code') ?? textIn(body.code);
  const isBusy = status === 429 || status >= 500;
  // A gateway does not say when to try again.
  const wait = Number(headers.get('Retry-After') ?? Number.NaN);
  return new AccountsError(own ?? `HTTP_${status}`, {
    status,
    message: textIn(body.title) ?? textIn(body.message) ?? `The service responded with ${status}`,
    fields: Object.fromEntries([body.errors].flat().flatMap(faultIn)),
    retryAfter: wait >= 0 ? wait : !own && isBusy ? 10 : undefined,
    cause: body,
  });
}

/** The body of an error, plain or as problem details; a gateway may send JSON of any other form. */
type Problem = Readonly<Partial<Record<'message' | 'title' | 'code' | 'errors', unknown>>>;

/** The name of a field and what is wrong with it, as the service lists it; nothing for any other value. */
function faultIn(given: unknown): readonly (readonly [string, string])[] {
  const { pointer, detail } = Object(given);
  return textIn(pointer) && textIn(detail) ? [[pointer.slice(2), detail]] : [];
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
