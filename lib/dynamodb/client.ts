import { randomUUID } from 'node:crypto';
import {
  type AttributeValue,
  BatchGetItemCommand,
  type CancellationReason,
  type ConditionalCheckFailedException,
  DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  type DynamoDBDocumentClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Command } from '@smithy/types';
import { DomainError, type ErrorCode, namedError } from '../ground/errors.ts';
import { patiently } from '../ground/time.ts';

let client: DynamoDBDocumentClient | undefined;

/** Since the items on which a write depends were read, other requests have written them. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** An item, or its key, in DynamoDB's own form, because the conversion by the document client costs processor time. */
export type StoredItem = Record<string, AttributeValue>;

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/**
 * One write or check of a transaction, and the error that is thrown if its condition fails. If there is no error, a
 * failed condition means that others have written since the items were read.
 */
export type Step = readonly [item: TransactItem, error?: ErrorCode | undefined];

/** The least number of attempts of a writer, and the milliseconds for which it makes further attempts. */
const minWrites = 3;
const contentionTime = 3000;

/**
 * Reads, decides and writes, and repeats this for as long as other writers interfere. Of several racing writers, one
 * succeeds in each round.
 * @param write decides by the items that were read; throws Overtaken if others have written since
 * @param known the items for the first attempt, if they were already read
 * @throws {DomainError} STORAGE_FAULT if no attempt succeeded; and the errors of an attempt
 */
export async function untilWritten<R, T>(
  read: () => Promise<R>,
  write: (read: R) => Promise<T>,
  known: R | Promise<R> = read(),
): Promise<T> {
  const until = performance.now() + patiently(contentionTime);
  let found = await known;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write(found);
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      if (attempt >= minWrites && performance.now() >= until) {
        throw new DomainError('STORAGE_FAULT', { cause: namedError('Contention') });
      }
    }
    found = await read();
  }
}

/**
 * Reads at most 100 items of a table with strong consistency, in one request unless DynamoDB leaves some items out.
 * @param limits the milliseconds for each request, and the number of further requests for items that DynamoDB left out
 *   of a response, as it may do when it is busy or the items are long
 * @returns the items that exist, in any order
 */
export async function readItems(
  table: string,
  keys: readonly StoredItem[],
  { attempts = 3, ...limits }: { timeout?: number; attempts?: number } = {},
): Promise<readonly StoredItem[]> {
  if (keys.length === 0) return [];
  const found: StoredItem[] = [];
  let missing = [...keys];
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const RequestItems = { [table]: { Keys: missing, ConsistentRead: true } };
    const { Responses, UnprocessedKeys } = await send(
      new BatchGetItemCommand({ RequestItems }),
      limits,
    );
    found.push(...(Responses?.[table] ?? []));
    missing = UnprocessedKeys?.[table]?.Keys ?? [];
    if (missing.length === 0) return found;
  }
  throw new DomainError('STORAGE_FAULT', { cause: namedError('UnprocessedKeys') });
}

/** Milliseconds that a call may take on AWS with all its retries. */
const callTime = 2500;

type DocumentCommand<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = Command<
  ServiceInputTypes,
  Input,
  ServiceOutputTypes,
  Output,
  DynamoDBDocumentClientResolvedConfig
>;

const maxAttempts = 6;

/**
 * Milliseconds. The pause before the second attempt is at most twice this unit; the maximum doubles with each attempt.
 */
const pauseUnit = 25;

/**
 * Sends one command. A write that conflicts with an unfinished transaction is retried here, because the SDK does not
 * retry it.
 * @param timeout milliseconds for the call with all its retries
 * @throws {DomainError} STORAGE_FAULT on every failure, also when a condition fails; the cause is the SDK's error. So
 *   all code that reads or writes a table throws it.
 */
export async function send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  command: DocumentCommand<Input, Output>,
  { timeout = patiently(callTime) } = {},
): Promise<Output> {
  client ??= openClient();
  const abortSignal = AbortSignal.timeout(timeout);
  const deadline = performance.now() + timeout;
  const mayHaveHappened = watchAttempts(command);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.send(command, { abortSignal });
    } catch (cause) {
      const wait = Math.random() * pauseUnit * 2 ** attempt;
      const again = attempt < maxAttempts && performance.now() + wait < deadline;
      if (!again || !isTransient(cause)) {
        throw new DomainError('STORAGE_FAULT', { cause, mayHaveHappened: mayHaveHappened() });
      }
      await pause(wait);
    }
  }
}

/** Sends a conditional write, as {@link send} does. @returns false when the condition does not hold */
export async function sendIf<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  command: DocumentCommand<Input, Output>,
  limits: { timeout?: number } = {},
): Promise<boolean> {
  try {
    await send(command, limits);
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return false;
  }
}

export function isConditionFailure(error: unknown): error is DomainError {
  return (
    error instanceof DomainError &&
    (error.cause as Error | undefined)?.name === 'ConditionalCheckFailedException'
  );
}

/**
 * Makes a conditional update. If a response is lost, the condition of the next attempt fails. The item must then show
 * whether the update was made.
 * @param isMade whether an item shows that this update was made
 * @returns false when the condition does not hold
 * @throws {DomainError} STORAGE_FAULT, also when it is not known whether the update was made before others wrote
 */
export async function updateOnce(
  update: UpdateCommandInput,
  isMade: (item: Readonly<Record<string, unknown>>) => boolean,
  limits: { timeout?: number } = {},
): Promise<boolean> {
  const ReturnValuesOnConditionCheckFailure = 'ALL_OLD';
  try {
    await send(new UpdateCommand({ ...update, ReturnValuesOnConditionCheckFailure }), limits);
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    if (!error.mayHaveHappened) return false;
    if (isMade(conditionItem(error) ?? {})) return true;
    throw error;
  }
}

/** The item whose condition failed, as returned by `ReturnValuesOnConditionCheckFailure`. */
export function conditionItem<T>(error: unknown): T | undefined {
  if (!isConditionFailure(error)) return undefined;
  const { Item } = (error as DomainError).cause as ConditionalCheckFailedException;
  return Item && (unmarshall(Item) as T);
}

/**
 * Writes all items or none.
 * @param version the version that this call gives to an item. If a condition fails and the returned item already has
 *   this version, an earlier attempt has succeeded.
 * @throws {Overtaken} when others have written since the items were read
 * @throws {DomainError} the error of the first step whose condition does not hold; STORAGE_FAULT
 */
export async function transact(steps: readonly Step[], version?: string): Promise<void> {
  try {
    const TransactItems = steps.map(([item]) => item);
    // All attempts have the same token, so that an attempt after a lost response does not make the change again.
    const ClientRequestToken = randomUUID();
    await send(new TransactWriteCommand({ TransactItems, ClientRequestToken }));
  } catch (error) {
    const reasons = reasonsOf((error as DomainError).cause);
    const failed = steps.filter((_, i) => reasons[i] && conditionFailed(reasons[i]));
    if (failed.length === 0) throw error;
    if (version && reasons.some(({ Item }) => Item?.version?.S === version)) return;
    const codes = failed.map(([, code]) => code);
    const [code] = codes.includes(undefined) ? [] : codes;
    throw code ? new DomainError(code) : new Overtaken();
  }
}

/** Milliseconds that one request to DynamoDB may take on AWS. */
const requestTime = 1000;

function openClient(): DynamoDBDocumentClient {
  const requestTimeout = patiently(requestTime);
  const requestHandler = {
    connectionTimeout: patiently(500),
    requestTimeout,
    throwOnRequestTimeout: true,
    // Limits a pause in the middle of a response, which requestTimeout does not limit.
    socketTimeout: requestTimeout,
  };
  const opened = DynamoDBDocumentClient.from(
    new DynamoDBClient({ maxAttempts: 3, requestHandler }),
  );
  // This middleware copies each command and response for a logger, even if there is no logger.
  opened.middlewareStack.remove('loggerMiddleware');
  return opened;
}

interface AttemptError extends Error {
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const isRead = /^(?:Get|BatchGet|Query|Scan)/;

/**
 * Watches each attempt of a command, because the last attempt may be refused although the first one succeeded.
 * @returns a function that says whether a write was sent without being acknowledged or refused
 */
function watchAttempts<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  command: DocumentCommand<Input, Output>,
): () => boolean {
  let unsettled = 0;
  command.middlewareStack.add(
    (next, { commandName = '' }) => {
      if (isRead.test(commandName)) return next;
      return async (args) => {
        unsettled += 1;
        try {
          return await next(args);
        } catch (error) {
          if (isRefusal(error as AttemptError)) unsettled -= 1;
          throw error;
        }
      };
    },
    // `override` is necessary because the document client adds a command's middleware to the client's stack twice.
    { step: 'finalizeRequest', priority: 'low', name: 'watchAttempts', override: true },
  );
  return () => unsettled > 0;
}

/** Network errors after which it is certain that nothing was sent. */
const notSent = ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Whether an attempt that ended with this error has certainly changed nothing. */
function isRefusal({ name, code, $metadata }: AttemptError): boolean {
  // The transaction of an earlier attempt is not finished yet.
  if (name === 'TransactionInProgressException') return false;
  const status = $metadata?.httpStatusCode ?? 0;
  return (status >= 400 && status < 500) || notSent.includes(code ?? '');
}

/** Reasons for which DynamoDB cancels a transaction that may succeed a moment later. */
const transient = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];

function isTransient(cause: unknown): boolean {
  const reasons = reasonsOf(cause);
  const isTemporary = reasons.some(({ Code = '' }) => transient.includes(Code));
  return (
    (cause instanceof Error && cause.name === 'TransactionConflictException') ||
    (isTemporary && !reasons.some(conditionFailed))
  );
}

function reasonsOf(cause: unknown): readonly CancellationReason[] {
  return cause instanceof TransactionCanceledException ? (cause.CancellationReasons ?? []) : [];
}

function conditionFailed({ Code }: CancellationReason) {
  return Code === 'ConditionalCheckFailed';
}

function pause(milliseconds: number) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
