/**
 * The whole check that an admin has requested last: an item of the users table with its progress. The endpoint writes
 * it, the sealer goes on with it (whole.ts), and the console shows it. Version 1.0.0 ignores it.
 */
import { randomUUID } from 'node:crypto';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { Overtaken, send, sendIf } from '../dynamodb/client.ts';
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
 * @throws {DomainError} WHOLE_CHECK_REQUESTED if one was requested within a day; STORAGE_FAULT
 */
export async function ask(now: Date): Promise<void> {
  const before = await readItem();
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
  // A refused item is replaced, unless another request has replaced it meanwhile.
  const refused = v.is(form, before) ? undefined : before;
  const isSame = refused?.mark === undefined ? 'attribute_not_exists(mark)' : 'mark = :refused';
  const isAsked = await sendIf(
    new PutCommand({
      TableName: config.usersTable,
      Item: { ...key, ...whole },
      // The mark recognises an earlier attempt whose response was lost.
      ConditionExpression: `NOT asked_at BETWEEN :since AND :until OR mark = :mark OR ${refused ? isSame : 'attribute_not_exists(pk)'}`,
      ExpressionAttributeValues: {
        ...{ ':since': since, ':until': until, ':mark': whole.mark },
        ...(refused?.mark !== undefined && { ':refused': refused.mark }),
      },
    }),
  );
  if (!isAsked) throw new DomainError('WHOLE_CHECK_REQUESTED');
}

/**
 * @returns undefined if none was ever requested, or the item is not as the service writes it
 * @throws {DomainError} STORAGE_FAULT
 */
export async function read(): Promise<WholeCheck | undefined> {
  const { success, output } = v.safeParse(form, await readItem());
  return success ? output : undefined;
}

/**
 * Replaces a whole check as it was read or written last.
 * @returns what is stored then
 * @throws {Overtaken} if another run or request has written it since; {DomainError} STORAGE_FAULT
 */
export async function write(whole: WholeCheck): Promise<WholeCheck> {
  const next = { ...whole, mark: randomUUID() };
  const isWritten = await sendIf(
    new PutCommand({
      TableName: config.usersTable,
      Item: { ...key, ...next },
      ConditionExpression: 'mark = :before OR mark = :mark',
      ExpressionAttributeValues: { ':before': whole.mark, ':mark': next.mark },
    }),
  );
  if (!isWritten) throw new Overtaken();
  return next;
}

async function readItem(): Promise<Readonly<Record<string, unknown>> | undefined> {
  const command = new GetCommand({ TableName: config.usersTable, Key: key, ConsistentRead: true });
  return (await send(command)).Item;
}
