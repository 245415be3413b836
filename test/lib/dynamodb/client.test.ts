import { randomUUID } from 'node:crypto';
import {
  BatchGetCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  conditionItem,
  isConditionFailure,
  Overtaken,
  send,
  transact,
  untilWritten,
} from '../../../lib/dynamodb/client.ts';
import { DomainError, faultName } from '../../../lib/ground/errors.ts';
import { proxiedTablesForThisFile } from '../../support/own-tables.ts';
import { cancelFor, faults } from '../../support/proxy.ts';

const { proxy, users: table } = await proxiedTablesForThisFile();
beforeAll(async () => {
  // After this request, the SDK and the engine have done everything that they do only once.
  await send(write(newItem()));
});
/** The fraction of the longest pause for which the next attempt waits. */
const random = vi.spyOn(Math, 'random');
beforeEach(() => {
  random.mockReturnValue(0);
  proxy.impose();
  proxy.forget();
});
afterAll(() => random.mockRestore());

const newItem = () => ({ pk: `test#${randomUUID()}`, value: 1 });
const write = (item: object, condition?: string) =>
  new PutCommand({
    TableName: table,
    Item: item,
    ...(condition ? { ConditionExpression: condition } : {}),
    ...(condition ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } : {}),
  });
const read = async ({ pk }: { pk: string }) =>
  (await send(new GetCommand({ TableName: table, Key: { pk }, ConsistentRead: true }))).Item;
const put = (item: object, condition?: string) => ({
  Put: {
    TableName: table,
    Item: item,
    ...(condition ? { ConditionExpression: condition } : {}),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  },
});
const absent = 'attribute_not_exists(pk)';
const storageFault = (name: string) =>
  expect.objectContaining({ code: 'STORAGE_FAULT', cause: expect.objectContaining({ name }) });
const outcomeOf = (work: Promise<unknown>) => work.catch((error) => error);

describe('send', () => {
  it('tries again while another transaction uses the item', async () => {
    const item = newItem();
    proxy.impose({ fault: faults.conflict, operation: 'PutItem', times: 5 });

    await send(write(item));

    expect(proxy.requests).toHaveLength(6);
    expect(await read(item)).toEqual(item);
  });

  it('tries six times, and then fails with the conflict as its cause', async () => {
    proxy.impose({ fault: faults.conflict });

    const error = await outcomeOf(send(write(newItem())));

    expect(error).toEqual(storageFault('TransactionConflictException'));
    expect(proxy.requests).toHaveLength(6);
  });

  it('does not try again when no time is left', async () => {
    proxy.impose({ fault: faults.conflict });
    // The pause is this fraction of 50 milliseconds.
    random.mockReturnValue(0.99);

    const error = await outcomeOf(send(write(newItem()), { timeout: 40 }));

    expect(error).toEqual(expect.objectContaining({ code: 'STORAGE_FAULT' }));
    expect(proxy.requests.length).toBeLessThanOrEqual(1);
  });

  it('does not try again when a condition does not hold', async () => {
    const item = newItem();
    await send(write(item));
    proxy.forget();

    const error = await outcomeOf(send(write({ ...item, value: 2 }, absent)));

    expect(error).toEqual(storageFault('ConditionalCheckFailedException'));
    expect(proxy.requests).toHaveLength(1);
    expect([isConditionFailure(error), conditionItem(error)]).toEqual([true, item]);
    expect(await read(item)).toEqual(item);
  });

  it.each([
    ['that is not acknowledged in time', faults.silence, { timeout: 500 }, true],
    ['at which the engine fails', faults.internalError, {}, true],
    ['whose earlier attempt has not ended', faults.inProgress, {}, true],
    ['that the engine refuses', faults.missingTable, {}, false],
    ['that the engine throttles', faults.throttle, {}, false],
  ])(
    'reports for a write %s whether it may have been made',
    async (_, fault, limits, mayHaveHappened) => {
      proxy.impose({ fault });

      const error = await outcomeOf(send(write(newItem()), limits));

      expect(error).toMatchObject({ code: 'STORAGE_FAULT', mayHaveHappened });
    },
  );

  it('reports a write that no engine received as not made', async () => {
    await proxy.refuse();
    // With this read the client notices that its connections are broken: a write on a broken connection might be made.
    await outcomeOf(read(newItem()));

    const error = await outcomeOf(send(write(newItem())));
    await proxy.accept();

    expect(faultName(error)).toBe('ECONNREFUSED');
    expect(error).toMatchObject({ code: 'STORAGE_FAULT', mayHaveHappened: false });
  });

  it.each([
    ['GetItem', () => send(new GetCommand({ TableName: table, Key: { pk: 'x' } }))],
    [
      'BatchGetItem',
      () => send(new BatchGetCommand({ RequestItems: { [table]: { Keys: [{ pk: 'x' }] } } })),
    ],
    [
      'Query',
      () =>
        send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'pk = :x',
            ExpressionAttributeValues: { ':x': 'x' },
          }),
        ),
    ],
    ['Scan', () => send(new ScanCommand({ TableName: table }))],
  ])('tries a %s three times when the engine fails', async (_, read) => {
    proxy.impose({ fault: faults.internalError });

    const error = await outcomeOf(read());

    expect(error).toEqual(storageFault('InternalServerError'));
    expect(error).toMatchObject({ mayHaveHappened: false });
    expect(proxy.requests).toHaveLength(3);
  });

  it.each([
    ['that does not respond', faults.stall],
    ['that stops in the middle of its response', faults.stallMidway],
  ])('waits no longer than its limit for an engine %s', async (_, fault) => {
    const item = newItem();
    await send(write(item));
    proxy.forget();
    proxy.impose({ fault });

    const work = send(new GetCommand({ TableName: table, Key: { pk: item.pk } }), {
      timeout: 200,
    });

    expect(await outcomeOf(work)).toEqual(expect.objectContaining({ code: 'STORAGE_FAULT' }));
    // Without the limit of the call, the SDK would send the request again after the limit of a request: 10 s in tests.
    expect(proxy.requests.length).toBeLessThanOrEqual(1);
  });
});

describe('transact', () => {
  it.each([
    ['conflicts with another transaction', faults.conflict],
    ['is throttled', faults.throttleTransaction],
    ['exceeds the provisioned throughput', cancelFor('None', 'ProvisionedThroughputExceeded')],
  ])('tries again when it %s', async (_, fault) => {
    const [one, other] = [newItem(), newItem()];
    proxy.impose({ fault, times: 2 });

    await transact([[put(one)], [put(other)]]);

    expect(proxy.requests).toHaveLength(3);
    expect([await read(one), await read(other)]).toEqual([one, other]);
  });

  it.each([
    ['fails with the error of a condition that does not hold', 'FORBIDDEN', 'FORBIDDEN'],
    [
      'throws Overtaken if a condition without an error of its own does not hold',
      undefined,
      undefined,
    ],
  ] as const)('%s, and writes nothing', async (_, error, expected) => {
    const [there, other] = [newItem(), newItem()];
    await send(write(there));
    proxy.forget();

    const outcome = await outcomeOf(
      transact([
        [put(other, absent), 'LAST_ADMIN'],
        [put({ ...there, value: 2 }, absent), error],
      ]),
    );

    if (error) expect(outcome).toMatchObject({ code: expected });
    else expect(outcome).toBeInstanceOf(Overtaken);
    expect(proxy.requests).toHaveLength(1);
    expect([await read(there), await read(other)]).toEqual([there, undefined]);
  });

  it('recognises the write of an earlier call by its version', async () => {
    const there = { ...newItem(), version: 'ours' };
    await send(write(there));
    const again = (version: string) =>
      transact([[put(newItem())], [put(there, absent), 'FORBIDDEN']], version);

    await again('ours');
    expect(await outcomeOf(again('other'))).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('does not try again when a condition has failed besides a conflict', async () => {
    proxy.impose({ fault: cancelFor('TransactionConflict', 'ConditionalCheckFailed') });

    const outcome = await outcomeOf(transact([[put(newItem())], [put(newItem(), absent)]]));

    expect(outcome).toBeInstanceOf(Overtaken);
    expect(proxy.requests).toHaveLength(1);
  });

  it('fails when it is cancelled for another reason, and does not try again', async () => {
    proxy.impose({ fault: cancelFor('None', 'ValidationError') });

    const error = await outcomeOf(transact([[put(newItem())], [put(newItem(), absent)]]));

    expect(error).toEqual(storageFault('TransactionCanceledException'));
    expect(proxy.requests).toHaveLength(1);
  });

  it('fails with the fault of the engine when no condition has failed', async () => {
    proxy.impose({ fault: faults.missingTable });

    const error = await outcomeOf(transact([[put(newItem())]]));

    expect(error).toEqual(storageFault('ResourceNotFoundException'));
  });
});

describe('untilWritten', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  /** How often the client attempts a write before it succeeds or fails, while some number of writes are overtaken. */
  const attemptsAt = async (overtaken: number, milliseconds: number) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    let attempts = 0;
    const write = async () => {
      attempts += 1;
      vi.advanceTimersByTime(milliseconds);
      if (attempts <= overtaken) throw new Overtaken();
      return 'written';
    };
    return [await outcomeOf(untilWritten(async () => undefined, write)), attempts];
  };

  it('writes again as long as there is time, and at least three times', async () => {
    const hour = 3_600_000;
    expect(await attemptsAt(9, 0)).toEqual(['written', 10]);
    expect(await attemptsAt(2, hour)).toEqual(['written', 3]);
    expect(await attemptsAt(9, hour)).toEqual([storageFault('Contention'), 3]);
  });
});

describe('conditionItem', () => {
  it('is undefined for an item that does not exist, and for any other error', async () => {
    const missing = await outcomeOf(send(write(newItem(), 'attribute_exists(pk)')));
    const foreign = Object.assign(new Error(), { name: 'ConditionalCheckFailedException' });
    const errors = [missing, foreign, new DomainError('STORAGE_FAULT'), undefined];

    expect(errors.map(isConditionFailure)).toEqual([true, false, false, false]);
    expect(errors.map(conditionItem)).toEqual(Array(4).fill(undefined));
  });
});
