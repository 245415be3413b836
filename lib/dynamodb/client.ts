import {
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
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Command } from '@smithy/types';
import { DomainError } from '../errors.ts';

/** Milliseconds that one request to DynamoDB may take, and one call with its retries. */
const requestTimeout = 1000;
const callTimeout = 2500;

const client = DynamoDBDocumentClient.from(
  new DynamoDBClient({
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 500,
      requestTimeout,
      throwOnRequestTimeout: true,
      // Of silence in the middle of an answer, which requestTimeout does not cover.
      socketTimeout: requestTimeout,
    },
  }),
);

const reasonsOf = (cause: unknown): readonly CancellationReason[] =>
  cause instanceof TransactionCanceledException ? (cause.CancellationReasons ?? []) : [];

const conditionFailed = ({ Code }: CancellationReason) => Code === 'ConditionalCheckFailed';

/** Why DynamoDB cancels a transaction that may succeed a moment later. */
const passing = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];

/** Whether a write met a transaction under way, or a transaction too little capacity. */
const isPassing = (cause: unknown): boolean => {
  const reasons = reasonsOf(cause);
  const met = reasons.some(({ Code = '' }) => passing.includes(Code));
  return (
    (cause instanceof Error && cause.name === 'TransactionConflictException') ||
    (met && !reasons.some(conditionFailed))
  );
};

/** Attempts, and milliseconds of the first pause, at what {@link isPassing}. */
const passingAttempts = 6;
const passingPause = 25;

const pause = (milliseconds: number) =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * milliseconds));

/**
 * Sends one command. Besides what the SDK retries, a write that met a transaction under way is
 * retried here, because the SDK does not.
 * @param timeout milliseconds for the call with all its retries
 * @throws {DomainError} STORAGE_FAULT on every failure, conditions that do not hold included;
 *   its cause is the SDK's error
 */
export const send = async <Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  command: Command<
    ServiceInputTypes,
    Input,
    ServiceOutputTypes,
    Output,
    DynamoDBDocumentClientResolvedConfig
  >,
  { timeout = callTimeout } = {},
): Promise<Output> => {
  const abortSignal = AbortSignal.timeout(timeout);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.send(command, { abortSignal });
    } catch (cause) {
      const again = isPassing(cause) && attempt < passingAttempts && !abortSignal.aborted;
      if (!again) throw new DomainError('STORAGE_FAULT', { cause });
      await pause(passingPause * 2 ** attempt);
    }
  }
};

/** Whether a {@link send} failed because its condition did not hold. */
export const isConditionFailure = (error: unknown): boolean =>
  error instanceof DomainError &&
  (error.cause as Error | undefined)?.name === 'ConditionalCheckFailedException';

/** The item, read by `ReturnValuesOnConditionCheckFailure`, for which a condition did not hold. */
export const conditionItem = <T>(error: unknown): T | undefined => {
  if (!isConditionFailure(error)) return undefined;
  const { Item } = (error as DomainError).cause as ConditionalCheckFailedException;
  return Item && (unmarshall(Item) as T);
};

/**
 * Writes all of the items or none.
 * @returns per item, the reason why its condition failed, or undefined where it held; an empty
 *   list when everything was written
 * @throws {DomainError} STORAGE_FAULT
 */
export const transact = async (
  items: NonNullable<TransactWriteCommandInput['TransactItems']>,
): Promise<readonly (CancellationReason | undefined)[]> => {
  try {
    await send(new TransactWriteCommand({ TransactItems: items }));
    return [];
  } catch (error) {
    const reasons = reasonsOf((error as DomainError).cause);
    if (!reasons.some(conditionFailed)) throw error;
    return reasons.map((reason) => (conditionFailed(reason) ? reason : undefined));
  }
};
