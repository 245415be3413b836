/** Sends the batches of a trail to the service, and gives back the entries that cannot be stored. */
import { AccountsError, answered } from './answer.ts';
import type { NewAuditEntriesStored } from './paths.ts';
import { ask, type Service } from './service.ts';
import type { Clock, Timer } from './trail-clock.ts';
import { bodyOf } from './trail-queue.ts';

export interface Sender {
  readonly service: Service;
  readonly key: string | (() => string | Promise<string>);
  readonly attempts: number;
  readonly clock: Clock;
  /** Gives an entry back, which is not sent again. Never rejects. */
  readonly refuse: (text: string, error: AccountsError) => Promise<void>;
  /** The key that the function has returned, until the service refuses it. */
  kept?: string | undefined;
  /** How many attempts have failed since the service last gave a definite response. */
  failures: number;
  /** How often a batch was given up because no response came, and the last error. */
  outages: number;
  outage?: AccountsError;
  pause?: Timer;
  /** How many calls of `flush` are waiting. */
  flushes: number;
}

/**
 * Stores the entries of a batch, or gives them back. Never rejects.
 * @param outages how many outages there were when the batch was closed: after a later one it is not sent at all, so
 *   that a flush of many batches does not wait for a response to each
 */
export async function store(
  sender: Sender,
  texts: readonly string[],
  outages: number,
): Promise<void> {
  if (sender.outage && outages < sender.outages) {
    await giveBack(sender, texts, sender.outage);
    return;
  }
  const error = await failureOf(sender, texts);
  if (!error) return;
  if (error.status === 0) {
    sender.outages += 1;
    sender.outage = error;
  }
  const rest = isOfOne(texts, error) ? halvesOf(texts) : [await giveBack(sender, texts, error)];
  for (const part of rest) if (part.length > 0) await store(sender, part, outages);
}

/** Gives back the entries that an error names, or all if it names none. @returns the others, which may be stored */
async function giveBack(
  { refuse }: Sender,
  texts: readonly string[],
  error: AccountsError,
): Promise<readonly string[]> {
  const errors = texts.map((_, index) => errorOf(error, index));
  if (!errors.some(Boolean)) errors.fill(error);
  await Promise.all(errors.map((own, index) => own && refuse(texts[index] as string, own)));
  return texts.filter((_, index) => !errors[index]);
}

/** The error of one entry, with its own fields; undefined if the service does not name the entry. */
function errorOf(error: AccountsError, index: number): AccountsError | undefined {
  const { code, status, message } = error;
  const start = `entries/${index}/`;
  const own = Object.entries(error.fields)
    .filter(([name]) => `${name}/`.startsWith(start))
    .map(([name, rule]) => [name.slice(start.length), rule]);
  if (own.length === 0) return undefined;
  return new AccountsError(code, { status, message, fields: Object.fromEntries(own) });
}

/** The error with which a batch has failed for good; undefined: it is stored. */
async function failureOf(
  sender: Sender,
  texts: readonly string[],
): Promise<AccountsError | undefined> {
  // Each attempt has the same key and the same bytes, so that no entry is stored twice.
  const request = { id: crypto.randomUUID(), body: bodyOf(texts), count: texts.length };
  for (;;) {
    const error = await attempt(sender, request);
    if (!error || !isPassing(sender, error)) {
      sender.failures = 0;
      return error;
    }
    sender.failures += 1;
    if (!(sender.failures < sender.attempts)) return error;
    await pause(sender, error);
  }
}

interface Request {
  readonly id: string;
  readonly body: string;
  readonly count: number;
}

/** Sends a request; once more if its key was kept and is refused, because there may be another key by now. */
async function attempt(sender: Sender, request: Request): Promise<AccountsError | undefined> {
  const wasKept = sender.kept !== undefined;
  const error = await post(sender, request);
  if (error?.status !== 401) return error;
  sender.kept = undefined;
  return wasKept ? attempt(sender, request) : error;
}

async function post(
  sender: Sender,
  { id, body, count }: Request,
): Promise<AccountsError | undefined> {
  const { data: key, error } = await answered(() => keyOf(sender));
  if (error) return error;
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': id,
  };
  const init = { method: 'POST', headers, body };
  const answer = await ask(
    sender.service,
    '/api/admin/audit-logs',
    init,
    (stored: NewAuditEntriesStored) => {
      if (stored.data.length !== count) throw new TypeError('The response has other entries');
    },
  );
  return answer.error ?? undefined;
}

/** @throws {AccountsError} if the function fails */
async function keyOf(sender: Sender): Promise<string> {
  const { key } = sender;
  if (typeof key === 'string') return key;
  try {
    sender.kept ??= await key();
    return sender.kept;
  } catch (cause) {
    throw new AccountsError('NO_RESPONSE', { message: 'The key cannot be read', cause });
  }
}

/** Whether the same request may succeed later: also with the key that a function returns then. */
function isPassing({ key }: Sender, { isTemporary, status }: AccountsError): boolean {
  return isTemporary || (status === 401 && typeof key === 'function');
}

/** Waits for as long as the service has asked, at most a minute, and for twice as long after each failure. */
async function pause(sender: Sender, { retryAfter = 0 }: AccountsError): Promise<void> {
  const { clock, failures } = sender;
  const asked = Math.min(retryAfter, 60) * 1000;
  const longest = Math.min(250 * 2 ** (failures - 1), 30_000);
  await new Promise<void>((resolve) => {
    // Other servers that failed at the same moment do not all return at the same moment.
    sender.pause = clock.later(resolve, asked + longest * (0.5 + clock.random() / 2));
    if (sender.flushes > 0) sender.pause.hold();
  });
}

/** Whether one of several entries may be the reason why their body is refused, although the error names none. */
function isOfOne(texts: readonly string[], error: AccountsError): boolean {
  const isOfBody = error.status === 400 || error.status === 413;
  return isOfBody && texts.length > 1 && !texts.some((_, index) => errorOf(error, index));
}

function halvesOf(texts: readonly string[]): readonly (readonly string[])[] {
  const middle = Math.ceil(texts.length / 2);
  return [texts.slice(0, middle), texts.slice(middle)];
}
