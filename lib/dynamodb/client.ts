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
const callTimeout = 3000;

const client = DynamoDBDocumentClient.from(
  new DynamoDBClient({
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 500,
      requestTimeout,
      throwOnRequestTimeout: true,
    },
  }),
);

/**
 * Sends one command.
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
  try {
    return await client.send(command, {
      abortSignal: AbortSignal.timeout(timeout),
    });
  } catch (cause) {
    throw new DomainError('STORAGE_FAULT', { cause });
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

const reasonsOf = (error: unknown): readonly CancellationReason[] =>
  error instanceof DomainError && error.cause instanceof TransactionCanceledException
    ? (error.cause.CancellationReasons ?? [])
    : [];

const conditionFailed = ({ Code }: CancellationReason) => Code === 'ConditionalCheckFailed';

/** Attempts, and milliseconds of the first pause, for a transaction that met another one. */
const conflictAttempts = 6;
const conflictPause = 25;

const pause = (milliseconds: number) =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * milliseconds));

/**
 * Writes all of the items or none. A conflict with a transaction under way is retried, which the
 * SDK does not do.
 * @returns per item, the reason why its condition failed, or undefined where it held; an empty
 *   list when everything was written
 * @throws {DomainError} STORAGE_FAULT
 */
export const transact = async (
  items: NonNullable<TransactWriteCommandInput['TransactItems']>,
): Promise<readonly (CancellationReason | undefined)[]> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await send(new TransactWriteCommand({ TransactItems: items }));
      return [];
    } catch (error) {
      const reasons = reasonsOf(error);
      if (reasons.some(conditionFailed)) {
        return reasons.map((reason) => (conditionFailed(reason) ? reason : undefined));
      }
      const conflict = reasons.some(({ Code }) => Code === 'TransactionConflict');
      if (!conflict || attempt === conflictAttempts) throw error;
      await pause(conflictPause * 2 ** attempt);
    }
  }
};
