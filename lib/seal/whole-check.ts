/**
 * The whole check that an admin has requested last: an item of the users table with its progress. The endpoint writes
 * it, the sealer goes on with it (whole.ts), and the console shows it. Version 1.0.0 ignores it. All
 * functions throw DomainError STORAGE_FAULT.
 */
import { randomUUID } from 'node:crypto';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionItem, isConditionFailure, Overtaken, send } from '../dynamodb/client.ts';
import { itemKey } from '../dynamodb/tables.ts';
import { DomainError } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { dayInMilliseconds } from '../ground/time.ts';
import { isTime } from './line.ts';

const key = itemKey('audit-seal-whole');

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const time = v.pipe(
  v.string(),
  v.check((text: string) => isTime(text)),
);

const form = v.object({
  /** Changes with each write. */
  mark: v.string(),
  asked_at: time,
  /** The number of the first file that is not checked yet, and of the last file; null: the sealer has not begun. */
  first: count,
  last: v.nullable(count),
  /** How many files are checked, of how many; null: the sealer has not begun. */
  checked: count,
  of: v.nullable(count),
  /** How many parts were begun since a part was last finished. */
  attempts: count,
  /** When it ended, also before it has checked all files; null: it goes on. */
  ended_at: v.nullable(time),
});

export type WholeCheck = v.InferOutput<typeof form>;

/**
 * Requests a whole check. An item that {@link read} refuses refuses nothing.
 * @throws {DomainError} WHOLE_CHECK_REQUESTED if one was requested within a day
 */
export async function ask(now: Date): Promise<void> {
  const whole: WholeCheck = {
    mark: randomUUID(),
    asked_at: now.toISOString(),
    first: 1,
    last: null,
    checked: 0,
    of: null,
    attempts: 0,
    ended_at: null,
  };
  // A clock that was ahead must not refuse requests for longer than a day.
  const [since, until] = [-1, 1].map((days) =>
    new Date(now.getTime() + days * dayInMilliseconds).toISOString(),
  );
  const refusing = await put(
    whole,
    'attribute_not_exists(pk) OR NOT asked_at BETWEEN :since AND :until',
    { ':since': since, ':until': until },
  );
  if (!refusing) return;
  // Another request may have replaced the item meanwhile.
  const { mark } = refusing;
  const isAsked =
    !v.is(form, refusing) &&
    !(mark === undefined
      ? await put(whole, 'attribute_not_exists(mark)')
      : await put(whole, 'mark = :before', { ':before': mark }));
  if (!isAsked) throw new DomainError('WHOLE_CHECK_REQUESTED');
}

/** @returns undefined if none was ever requested, or the item is not as the service writes it */
export async function read(): Promise<WholeCheck | undefined> {
  const command = new GetCommand({ TableName: config.usersTable, Key: key, ConsistentRead: true });
  const { Item } = await send(command);
  const { success, output } = v.safeParse(form, Item);
  return success ? output : undefined;
}

/**
 * Replaces a whole check as it was read or written last.
 * @returns what is stored then
 * @throws {Overtaken} if another run or request has written it since
 */
export async function write(whole: WholeCheck): Promise<WholeCheck> {
  const next = { ...whole, mark: randomUUID() };
  const other = await put(next, 'mark = :before', { ':before': whole.mark });
  if (other) throw new Overtaken();
  return next;
}

/** Writes the item if it meets a condition. @returns the item that does not meet it; undefined: it is written */
async function put(
  whole: WholeCheck,
  condition: string,
  values: Readonly<Record<string, unknown>> = {},
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const command = new PutCommand({
    TableName: config.usersTable,
    Item: { ...key, ...whole },
    // The mark recognises an earlier attempt whose response was lost.
    ConditionExpression: `${condition} OR mark = :mark`,
    ExpressionAttributeValues: { ...values, ':mark': whole.mark },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  try {
    await send(command);
    return undefined;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return conditionItem(error) ?? {};
  }
}
