/** The trail of another service, with the real accounts service; trail.test.ts has the faults. */
import { describe, expect, it } from 'vitest';
import type { AccountsError } from '../../functions/client/answer.ts';
import type { Fetch } from '../../functions/client/fetch.ts';
import type { NewAuditEntries } from '../../functions/client/paths.ts';
import { type TrailEntry, type TrailOptions, trailOf } from '../../functions/client/trail.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { makeMachine } from '../support/machines.ts';
import { stillClockForThisFile } from '../support/still-clock.ts';
import { manualClock } from './support/manual-clock.ts';

const { url, api, adminToken } = await serviceForThisFile({ MACHINES: 'on' });
stillClockForThisFile();

/** A machine with its trail, what the trail gives back, and what the service has stored of it, oldest first. */
const start = async (options: Partial<TrailOptions> = {}) => {
  const machine = await makeMachine(api, adminToken, ['audit:write']);
  const given: (readonly [TrailEntry, AccountsError])[] = [];
  const onRefused = (...refused: readonly [TrailEntry, AccountsError]) => void given.push(refused);
  const clock = { ...manualClock().clock, now: () => new Date() };
  const trail = trailOf({ url, key: machine.key, onRefused, ...options }, clock);
  const stored = async () => {
    const path = `/api/admin/audit-logs?from=machines&machineId=${machine.id}&order=asc&limit=100`;
    return (await api('GET', path, { token: adminToken })).body.data;
  };
  const storedIds = async () =>
    (await stored()).map((entry: { resource_id: string }) => entry.resource_id);
  return { ...trail, machine, given, stored, storedIds };
};

const entryOf = (resourceId: string, more: Partial<TrailEntry> = {}): TrailEntry => ({
  ...{ action: 'UPDATE', resource: 'shop.orders', result: 'FAILURE', resourceId },
  ...more,
});

describe('At a service, createTrail', () => {
  it('stores each field of an entry', async () => {
    const { record, flush, machine, stored, given } = await start();
    const occurredAt = new Date(Date.now() - 60_000).toISOString();
    const entry = entryOf('4711', {
      ...{ userId: 5, ipAddress: '2001:db8::1', userAgent: 'Gerät/1.0' },
      ...{ details: { items: ['pen'] }, occurredAt },
    });
    // The service takes the fields that the types of the package have.
    const { details, ...others } = entry;
    void ({ entries: [{ ...others, details: { ...details } }] } satisfies NewAuditEntries);
    record(entry);
    await flush();

    expect(given).toEqual([]);
    expect(await stored()).toMatchObject([
      {
        ...{ action: 'UPDATE', resource: 'shop.orders', resource_id: '4711', result: 'FAILURE' },
        ...{ user_id: 5, ip_address: '2001:db8::1', user_agent: 'Gerät/1.0' },
        ...{ details: '{"items":["pen"]}', machine_id: machine.id, occurred_at: occurredAt },
      },
    ]);
  });

  it('stores entries that fill several bodies', async () => {
    const { record, flush, storedIds, given } = await start();
    const ids = Array.from({ length: 60 }, (_, index) => String(index));
    for (const id of ids) record(entryOf(id, { details: { text: 'ä'.repeat(1000) } }));
    await flush();

    expect(given).toEqual([]);
    // Those that are stored in the same millisecond have no order.
    expect((await storedIds()).sort()).toEqual(ids.sort());
  });

  it('gives entries back that the service refuses, with their faults, and stores the others', async () => {
    const { record, flush, storedIds, given } = await start();
    record(entryOf('stored'));
    record(entryOf('without a dot', { resource: 'orders' }));
    record(entryOf('of the service', { resource: 'users.orders' }));
    record(entryOf('long', { userAgent: 'x'.repeat(1025), details: { text: 'x'.repeat(2048) } }));
    record(entryOf('early', { occurredAt: '2020-01-01T00:00:00Z' }));
    record(entryOf('stored too'));
    await flush();

    expect((await storedIds()).sort()).toEqual(['stored', 'stored too']);
    const faults = given.map(([{ resourceId }, { fields }]) => [resourceId, Object.keys(fields)]);
    expect(faults).toEqual([
      ['without a dot', ['resource']],
      ['of the service', ['resource']],
      ['long', ['userAgent', 'details']],
      ['early', ['occurredAt']],
    ]);
  });

  it('stores the neighbours of an entry for which the service refuses the whole body', async () => {
    const { record, flush, storedIds, given } = await start();
    // An own field of this name, which a user's JSON can bring.
    const details = JSON.parse('{"__proto__":{"a":1}}');
    for (const id of ['1', '2', '3', '4', '5']) record(entryOf(id, id === '4' ? { details } : {}));
    await flush();

    expect((await storedIds()).sort()).toEqual(['1', '2', '3', '5']);
    expect(given.map(([{ resourceId }, { status }]) => [resourceId, status])).toEqual([['4', 400]]);
  });

  it('stores nothing twice after a response that was lost', async () => {
    const statuses: number[] = [];
    const losing: Fetch = async (...request) => {
      const response = await fetch(...request);
      statuses.push(response.status);
      if (statuses.length === 1) throw new TypeError('lost');
      return response;
    };
    const { record, flush, storedIds } = await start({ fetch: losing });
    record(entryOf('once'));
    await flush();

    expect([statuses, await storedIds()]).toEqual([[201, 200], ['once']]);
  });

  it('goes on with the next key when the one before has been ended', async () => {
    let key = '';
    const { record, flush, machine, storedIds, given } = await start({ key: async () => key });
    key = machine.key;
    record(entryOf('with the first key'));
    await flush();
    const path = `/api/machines/${machine.id}/keys`;
    const added = await api('POST', path, { token: adminToken, json: { endPrevious: true } });
    key = added.body.key;
    record(entryOf('with the second key'));
    await flush();

    expect((await storedIds()).sort()).toEqual(['with the first key', 'with the second key']);
    expect(given).toEqual([]);
  });

  it('gives all back where the machine may not write', async () => {
    const { key } = await makeMachine(api, adminToken, ['users:read']);
    const { record, flush, given } = await start({ key });
    record(entryOf('forbidden'));
    await flush();

    expect(given.map(([, { status, code }]) => [status, code])).toEqual([[403, 'FORBIDDEN']]);
  });
});
