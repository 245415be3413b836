import {
  afterAll,
  afterEach,
  beforeEach,
  describe,
  expect,
  inject,
  it,
  onTestFinished,
  vi,
} from 'vitest';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { newWrite, record, recordingFaults, writeEntry } from '../../../lib/audit/record.ts';
import { DomainError } from '../../../lib/ground/errors.ts';
import { isoTimestamp } from '../../support/acceptance.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { faults, startProxy } from '../../support/proxy.ts';
import { scan } from '../../support/stored-items.ts';

const proxy = await startProxy(inject('engine'));
afterAll(() => proxy.stop());

let table: string;
beforeEach(async () => {
  proxy.impose();
  proxy.forget();
  ({ audit: table } = await useOwnTables(proxy.url));
});
const stored = () => scan(inject('engine'), table);

const errors = vi.spyOn(console, 'error').mockReturnValue();
afterEach(() => {
  errors.mockClear();
  delete process.env.AUDIT_RETENTION_DAYS;
});
const logged = () => errors.mock.calls.map(([line]) => JSON.parse(String(line)));

const uuid = expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
const unwritten = { level: 'error', event: 'audit-entry-not-written', writeId: uuid };
const entryOf = (time: string) =>
  makeEntry(
    { action: 'LOGIN', resource: 'users', result: 'SUCCESS' },
    { now: new Date(time), random: () => 1 },
  );
const entry = entryOf('2026-11-22T12:00:00.000Z');
/** The time thirty days later, in seconds since 1970. */
const expires = Date.parse('2026-12-22T12:00:00.000Z') / 1000;

describe('record', () => {
  it('writes the operation with the id of the request, and by default with the resource users', async () => {
    await record({ source: { request_id: 'a-request' }, action: 'DELETE', by: 1 });
    await record({ source: {}, action: 'EXPORT', resource: 'audit-logs' }, 'FAILURE');

    const items = await stored();
    const deleted = items.find(({ action }) => action === 'DELETE');
    const exported = items.find(({ action }) => action === 'EXPORT');
    const common = { write_id: uuid, created_at: isoTimestamp };
    const ofUsers = { action: 'DELETE', user_id: 1, resource: 'users', request_id: 'a-request' };
    expect(deleted).toMatchObject({ ...common, ...ofUsers });
    expect(exported).toMatchObject({ ...common, action: 'EXPORT', resource: 'audit-logs' });
    expect(exported).not.toHaveProperty('request_id');
    expect(errors).not.toHaveBeenCalled();
  });

  it('logs the whole of an entry that cannot be written, with all that a replay needs', async () => {
    process.env.AUDIT_RETENTION_DAYS = '30';
    proxy.impose({ fault: faults.missingTable });

    await record({ source: { request_id: 'a-request' }, action: 'DELETE', by: 1 });

    const [line] = logged();
    expect(line).toEqual({
      ...unwritten,
      fault: 'ResourceNotFoundException',
      requestId: 'a-request',
      expiresAt: Math.floor(Date.parse(line.entry.created_at) / 1000) + 30 * 86_400,
      entry: expect.objectContaining({ action: 'DELETE', user_id: 1, resource: 'users' }),
    });
  });

  it('reports details that cannot be serialised, and does not throw', async () => {
    const details = { count: 1n };

    await record({ source: { request_id: 'a-request' }, action: 'DELETE', details });

    expect(logged()).toEqual([{ ...unwritten, fault: 'TypeError', requestId: 'a-request' }]);
  });
});

describe('writeEntry', () => {
  const idsAsked = () =>
    proxy.requests.map(({ content }) => /"id":{"N":"(\d+)"}/.exec(content)?.[1]);

  it('tries five ids of the entry’s millisecond, and the same five ids again for the same write', async () => {
    proxy.impose({ fault: faults.conditionFails });
    const write = () => writeEntry(entry, { writeId: 'a-write' });
    const noFreeId = { code: 'STORAGE_FAULT', cause: { name: 'NoFreeId' } };

    await expect(write()).rejects.toMatchObject(noFreeId);
    await expect(write()).rejects.toMatchObject(noFreeId);
    await expect(writeEntry(entry, { writeId: 'another' })).rejects.toMatchObject(noFreeId);

    const ids = idsAsked();
    expect(ids[0]).toBe(String(entry.id));
    expect(new Set(ids.slice(0, 5)).size).toBe(5);
    expect(ids.slice(5, 10)).toEqual(ids.slice(0, 5));
    expect(ids.slice(10)).toHaveLength(5);
    expect(ids.slice(11).filter((id) => ids.slice(0, 5).includes(id))).toEqual([]);
    const millisecond = (id: unknown) => Math.floor(Number(id) / 4096);
    expect(new Set(ids.map(millisecond))).toEqual(new Set([millisecond(entry.id)]));
  });

  it('returns the entry with the id under which it was written', async () => {
    proxy.impose({ fault: faults.conditionFails, times: 1 });

    const written = await writeEntry(entry, { writeId: 'a-write' });

    expect(written).toEqual({ ...entry, id: expect.any(Number) });
    expect(written.id).not.toBe(entry.id);
    expect(await stored()).toEqual([expect.objectContaining(written)]);
  });

  it('does not try again after its deadline', async () => {
    proxy.impose({ fault: faults.conflict });
    proxy.forget();
    // The pause before the next attempt is this fraction of 50 milliseconds.
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.99);
    onTestFinished(() => random.mockRestore());
    const write = { writeId: 'a-write', deadline: performance.now() - 1000 };

    await expect(writeEntry(entry, write)).rejects.toMatchObject({ code: 'STORAGE_FAULT' });

    expect(proxy.requests.length).toBeLessThanOrEqual(1);
  });
});

describe('newWrite', () => {
  it('has an id of its own, and a time to live if the setting has one', () => {
    expect(newWrite(entry)).toEqual({ writeId: uuid });
    expect(newWrite(entry).writeId).not.toBe(newWrite(entry).writeId);

    process.env.AUDIT_RETENTION_DAYS = '30';

    expect(newWrite(entry)).toEqual({ writeId: uuid, expiresAt: expires });
  });
});

describe('recordingFaults', () => {
  const source = { ip_address: '192.0.2.1' };
  const details = { fields: ['name'] };
  const deed = { source, action: 'UPDATE', on: 7, details } as const;
  const entries = async () =>
    (await stored()).map(({ resource_id, result, details }) => [resource_id, result, details]);
  const cause = Object.assign(new Error('injected'), { name: 'ThrottlingException' });

  it('returns the result of a change, and lets the caller write the entry of the change', async () => {
    expect(await recordingFaults(deed, async () => 'done')).toBe('done');

    expect(await entries()).toEqual([]);
  });

  it.each([
    [
      'a fault of the store',
      new DomainError('STORAGE_FAULT', { cause }),
      '{"error":"ThrottlingException","fields":["name"]}',
    ],
    [
      'a refusal of a change that an earlier attempt may have made',
      new DomainError('USER_NOT_FOUND', { mayHaveHappened: true }),
      '{"error":"USER_NOT_FOUND","outcome":"unknown","fields":["name"]}',
    ],
  ])('records %s as a failure, with the details that are known', async (_, error, details) => {
    const change = recordingFaults(deed, () => Promise.reject(error));

    await expect(change).rejects.toBe(error);
    expect(await entries()).toEqual([['7', 'FAILURE', details]]);
  });

  it.each([new DomainError('USER_NOT_FOUND'), new Error('a bug')])(
    'records nothing when the change is refused, or fails for another reason: %s',
    async (error) => {
      const change = recordingFaults(deed, () => Promise.reject(error));
      await expect(change).rejects.toBe(error);
      expect(await entries()).toEqual([]);
    },
  );
});
