import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { handler } from '../../../functions/background/publish-audit.ts';
import { type AuditEntry, makeEntry } from '../../../lib/audit/entry.ts';
import { listEntries } from '../../../lib/audit/query.ts';
import { toItem } from '../../../lib/audit/record.ts';
import { day, seconds } from '../../../lib/ground/time.ts';
import type { StreamRecord } from '../../../lib/options/events/events.ts';
import { startEventBus } from '../../support/event-bus.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { engineClient } from '../../support/stored-items.ts';
import { openStream } from '../../support/stream.ts';

const { audit: TableName } = await useOwnTables();
const nextRecords = await openStream(TableName);
const table = engineClient(inject('engine'));
const bus = await startEventBus();
afterAll(bus.stop);

const logged = vi.spyOn(console, 'error').mockReturnValue();
const findings = () =>
  logged.mock.calls
    .map(([line]) => JSON.parse(line))
    .filter(({ event }) => event === 'audit-trail-broken')
    .flatMap((line) => line.findings);

beforeEach(() => {
  for (const [name, value] of Object.entries(bus.environment)) vi.stubEnv(name, value);
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const service of ['events', 'sqs'] as const) bus.fail(service);
  bus.events.length = 0;
  bus.queue.length = 0;
  logged.mockClear();
});
afterAll(() => logged.mockRestore());

const put = async (item: object): Promise<void> => {
  await table.send(new PutCommand({ TableName, Item: item }));
};

/** Writes an entry as the service does. @returns its item */
const write = async (fields: Partial<AuditEntry> = {}, now = new Date()) => {
  const action = { user_id: 7, action: 'DELETE', resource: 'users', resource_id: '8' } as const;
  const entry = { ...makeEntry({ ...action, result: 'SUCCESS' }, { now }), ...fields };
  const item = toItem(entry, { writeId: String(entry.id), requestId: 'a-request' });
  await put(item);
  return item;
};

const remove = async ({ id }: { readonly id: unknown }): Promise<void> => {
  await table.send(new DeleteCommand({ TableName, Key: { id } }));
};

/** Invokes the function with the records of all changes since the last call. */
const publish = async (alter: (change: StreamRecord) => StreamRecord = (each) => each) =>
  handler({ Records: (await nextRecords()).map(alter) });

const done = { batchItemFailures: [] };
const byDynamoDB = { type: 'Service', principalId: 'dynamodb.amazonaws.com' };

describe('A new entry', () => {
  it('is put on the bus as the API shows it, with the source and the type of the action', async () => {
    const { id } = await write({ details: '{"reason":"a \\"quoted\\" text"}' });
    const [shown] = (await listEntries({ resourceId: '8' }, { limit: 1, order: 'desc' })).entries;

    expect(await publish()).toEqual(done);

    expect(shown?.id).toBe(id);
    expect(bus.events).toEqual([
      { source: 'accounts', type: 'users.DELETE', detail: shown, time: expect.any(Number) },
    ]);
    expect(findings()).toEqual([]);
  });

  it('has on the bus what an entry of a machine has beside the fields of all entries', async () => {
    const ofMachine = { machine_id: 3, occurred_at: '2026-11-20T09:00:00.000Z' };
    await write({ resource: 'shop.orders', ...ofMachine });

    expect(await publish()).toEqual(done);

    expect(bus.events).toMatchObject([{ type: 'shop.orders.DELETE', detail: ofMachine }]);
  });

  it.each([
    [{ action: 'LOGIN', result: 'FAILURE' }, 'users.LOGIN.FAILURE'],
    [{ action: 'EXPORT', resource: 'audit-logs' }, 'audit-logs.EXPORT'],
    [{ resource: 'r'.repeat(300) }, 'r'.repeat(128)],
  ] as const)('of %j has the type %s', async (fields, type) => {
    await write(fields);

    expect(await publish()).toEqual(done);

    expect(bus.events.map((event) => event.type)).toEqual([type]);
  });

  it('that somebody else than the service has written is put on the bus as the API shows it', async () => {
    const odd = { details: new Uint8Array([1, 2, 3]), ip_address: new Set([1, 2]), user_id: '7' };
    const { id } = await write(odd as never);
    const { entries } = await listEntries({ resourceId: '8' }, { limit: 100, order: 'desc' });

    await publish();

    expect(bus.events[0]?.detail).toEqual(entries.find((entry) => entry.id === id));
  });

  it('that is too long for the bus is cut', async () => {
    await write({ details: '"'.repeat(300_000), user_agent: '😀'.repeat(20_000) });

    expect(await publish()).toEqual(done);

    const [{ detail } = { detail: {} }] = bus.events;
    expect(detail).toMatchObject({ resource_id: '8', details: '"'.repeat(1000) });
    expect(detail.user_agent).toBe('😀'.repeat(500));
    expect(bus.queue).toEqual([]);
  });

  it('is put on the bus by a request that is signed with the credentials of the role', async () => {
    vi.stubEnv('AWS_SESSION_TOKEN', 'a-session');
    await write();

    await publish();

    expect(bus.headers.at(-1)).toMatchObject({
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=local\/\d{8}\/us-east-1\/events\/aws4_request, /,
      ),
      'x-amz-security-token': 'a-session',
    });
  });
});

/** Writes an entry, and changes it after its event was published. */
const alter = async (change: object) => {
  const before = await write();
  await publish();
  const after = { ...before, ...change };
  await put(after);
  return { kind: 'changed', id: before.id, before, after };
};
const insert = async (fields: Partial<AuditEntry>) => {
  const after = await write(fields);
  return { kind: 'inserted', id: after.id, before: null, after };
};
const minutesAgo = (count: number) => new Date(Date.now() - count * 60_000);

describe('Tampering with an entry', () => {
  const told = (...deeds: readonly object[]) => {
    const tampered = bus.events.filter(({ type }) => type === 'audit-logs.TAMPERED');
    expect(
      tampered.map(({ detail: { kind, id, before, after } }) => ({ kind, id, before, after })),
    ).toEqual(deeds);
  };

  it.each([
    ['changed in an attribute', () => alter({ ip_address: '192.0.2.66' })],
    ['changed only in a key of an index', () => alter({ user_key: '6' })],
    ['changed only in its time to live', () => alter({ expires_at: 1 })],
    [
      'deleted',
      async () => {
        const before = await write();
        await remove(before);
        return { kind: 'deleted', id: before.id, before, after: null };
      },
    ],
    [
      'inserted eleven minutes after its time',
      () => insert({ created_at: minutesAgo(11).toISOString() }),
    ],
    ['inserted before its time', () => insert({ created_at: minutesAgo(-12).toISOString() })],
    ['inserted without a time', () => insert({ created_at: 'yesterday' })],
  ])('is reported at once with both images, and logged: the entry was %s', async (_, tamper) => {
    const deed = await tamper();

    expect(await publish()).toEqual(done);

    told(deed);
    expect(findings()).toEqual([{ kind: deed.kind, subject: deed.id }]);
  });

  it('is not reported if the service writes the same entry again', async () => {
    const item = await write();
    await put(item);

    await publish();

    expect(bus.events.map(({ type }) => type)).toEqual(['users.DELETE']);
    expect(findings()).toEqual([]);
  });

  const now = seconds(new Date());
  it.each([
    ['DynamoDB deletes it when it is due', 31, now - day, byDynamoDB, []],
    ['somebody deletes it when it is due', 31, now - day, undefined, ['deleted']],
    ['DynamoDB deletes it before it is due', 31, now + day, byDynamoDB, ['deleted']],
    ['the time to live was shorter than any setting', 1, now - 3600, byDynamoDB, ['deleted']],
  ] as const)(
    'with a time to live is reported only if DynamoDB does not delete the entry when it is due: %s',
    async (_, days, due, by, kinds) => {
      const created = new Date((now - days * day) * 1000);
      const item = { ...(await write({}, created)), expires_at: due };
      await put(item);
      await nextRecords();
      await remove(item);

      await publish((change) => ({ ...change, ...(by ? { userIdentity: by } : {}) }));

      expect(findings().map(({ kind }) => kind)).toEqual(kinds);
      expect(bus.events).toHaveLength(kinds.length);
    },
  );

  const replay = (details: string, now?: Date) =>
    write({ action: 'CREATE', resource: 'audit-logs', resource_id: 'replay', details }, now);
  const listing = (entries: unknown) => JSON.stringify({ entries });

  it('is not reported if a replay lists an old entry and then inserts it', async () => {
    const replayed = makeEntry(
      { action: 'LOGIN', resource: 'users', result: 'SUCCESS' },
      { now: minutesAgo(600) },
    );
    await replay(listing([1, replayed.id]));
    await put(toItem(replayed, { writeId: 'replayed' }));

    expect(await publish()).toEqual(done);

    expect(bus.events.map(({ type }) => type)).toEqual(['audit-logs.CREATE', 'users.LOGIN']);
    expect(findings()).toEqual([]);
  });

  it('is not reported if two replays, an hour apart, list old entries that arrive together', async () => {
    const hourAgo = minutesAgo(60);
    const items = [600, 500].map((age) =>
      toItem(
        makeEntry(
          { action: 'LOGIN', resource: 'users', result: 'SUCCESS' },
          { now: minutesAgo(age) },
        ),
        { writeId: 'replayed' },
      ),
    );
    const [early, late] = items.map(({ id }) => id);
    await replay(listing([early]), hourAgo);
    await replay(listing([late]));
    await nextRecords();
    for (const item of items) await put(item);

    await publish(({ dynamodb, ...change }) => {
      const isEarly = dynamodb.NewImage?.id?.N === String(early);
      const at = isEarly ? seconds(hourAgo) : dynamodb.ApproximateCreationDateTime;
      return { ...change, dynamodb: { ...dynamodb, ApproximateCreationDateTime: at } };
    });

    expect(findings()).toEqual([]);
  });

  it('is reported for an old entry that only a replay of another time or an unreadable replay lists', async () => {
    const old = await write({}, minutesAgo(90));
    await nextRecords();
    await remove(old);
    await replay(listing([old.id]), minutesAgo(30));
    await replay(listing(old.id + 1));
    await replay('{');
    await write({ action: 'CREATE', resource_id: 'replay', details: listing([old.id]) });
    await nextRecords();
    await put(old);

    await publish();

    told({ kind: 'inserted', id: old.id, before: null, after: old });
  });

  it('is reported without the images if they are too long for the bus', async () => {
    const names = Array.from({ length: 9000 }, (_, number) => [`an-attribute-${number}`, number]);
    const item = { ...(await write()), ...Object.fromEntries(names) };
    await put(item);

    expect(await publish()).toEqual(done);

    const [, { detail } = { detail: {} }] = bus.events;
    expect(detail).toEqual({ kind: 'changed', id: item.id, event_id: expect.any(String) });
  });
});

describe('An event that the bus refuses', () => {
  it.each([
    [{ error: 'MalformedDetail' }, 'MalformedDetail'],
    [{ status: 400, error: 'com.amazon#ValidationException' }, 'ValidationException'],
  ])(
    'goes into the queue with the error, and delays no other event: %j',
    async (failure, error) => {
      const { id } = await write();
      const records = await nextRecords();
      bus.fail('events', failure);

      expect(await handler({ Records: [...records] })).toEqual(done);

      const [message] = bus.queue;
      expect(message).toMatchObject({ error, Source: 'accounts', DetailType: 'users.DELETE' });
      expect(JSON.parse(message.Detail).id).toBe(id);
    },
  );

  it('is tried again if the queue does not accept it', async () => {
    await write();
    bus.fail('events', { error: 'MalformedDetail' });
    bus.fail('sqs', { status: 400, error: 'AccessDeniedException' });

    const { batchItemFailures } = await publish();

    expect(batchItemFailures).toHaveLength(1);
  });
});

describe('A fault of the bus', () => {
  it.each([
    { status: 500 },
    { status: 0 },
    { status: 400, error: 'ThrottlingException' },
    { status: 400, error: 'AccessDeniedException' },
    { error: 'InternalFailure' },
  ])('makes Lambda try again, and loses no event: %j', async (failure) => {
    const items = [];
    for (let count = 0; count < 12; count += 1) items.push(await write());
    const Records = [...(await nextRecords())];
    bus.fail('events', failure);

    const { batchItemFailures } = await handler({ Records });

    expect(batchItemFailures).toContainEqual({
      itemIdentifier: Records[0]?.dynamodb.SequenceNumber,
    });
    expect([bus.events, bus.queue]).toEqual([[], []]);
    bus.fail('events');
    expect(await handler({ Records })).toEqual(done);
    const ids = (each: readonly { id: unknown }[]) => each.map(({ id }) => id).sort();
    expect(ids(bus.events.map(({ detail }) => detail))).toEqual(ids(items));
  });

  it('does not delay the alarm, because the log raises it', async () => {
    const item = await write();
    await remove(item);
    bus.fail('events', { status: 500 });

    await publish();

    expect(findings()).toEqual([{ kind: 'deleted', subject: item.id }]);
  });
});
