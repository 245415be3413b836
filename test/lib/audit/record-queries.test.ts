import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { AuditFilter } from '../../../lib/audit/query.ts';
import { recordRead } from '../../../lib/audit/record-queries.ts';
import { config } from '../../../lib/ground/settings.ts';
import { proxiedTablesForThisFile } from '../../support/own-tables.ts';
import { faults } from '../../support/proxy.ts';
import { scanAudit } from '../../support/stored-items.ts';

const { proxy } = await proxiedTablesForThisFile();
beforeEach(() => void vi.stubEnv('AUDIT_DETAIL', 'full'));
afterEach(() => vi.unstubAllEnvs());

let callers = 0;
/** A caller who has not read the log yet. */
const newReader = () => {
  callers += 1;
  const user_id = callers;
  const source = { ip_address: '192.0.2.1', user_agent: 'test', request_id: 'r' };
  return {
    read: (time: string, filter: AuditFilter = { action: 'LOGIN' }) =>
      recordRead(
        { ...source, user_id },
        { filter, order: 'desc' },
        { now: new Date(`2026-11-22T${time}Z`) },
      ),
    entries: async () =>
      (await scanAudit(inject('engine'), config.auditTable)).filter(
        (entry) => entry.user_id === user_id,
      ).length,
  };
};

describe('A query of the audit trail', () => {
  it('leaves another entry once the last entry is an hour old', async () => {
    const { read, entries } = newReader();

    await read('10:59:30');
    await read('11:00:30');
    await read('11:59:29');
    expect(await entries()).toBe(1);

    await read('11:59:30');
    expect(await entries()).toBe(2);
  });

  it('leaves one entry for each filter, whatever range of times is asked for', async () => {
    const { read, entries } = newReader();

    const filters = [
      { userId: 1 },
      { action: 'READ' },
      { result: 'FAILURE' },
      { resourceId: '1' },
      { about: 1 },
      { ipAddress: '192.0.2.1' },
      {},
    ];
    for (const filter of filters as AuditFilter[]) await read('12:00:00', filter);
    await read('12:00:01', { resourceId: '1', since: '2026-11-01T00:00:00.000Z' });

    expect(await entries()).toBe(7);
  });

  it('leaves its entry even if the response to the write of the mark of the query was lost', async () => {
    const { read, entries } = newReader();
    proxy.impose({ fault: faults.lose, table: config.usersTable, times: 1 });

    await read('12:00:00');
    proxy.impose();
    await read('12:00:01');

    expect(await entries()).toBe(1);
  });

  it('leaves an entry if the mark of the query cannot be written', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    const { read, entries } = newReader();
    vi.stubEnv('USERS_TABLE', 'missing');

    await read('12:00:00');
    await read('12:00:01');

    const events = logged.mock.calls.map(([line]) => JSON.parse(String(line)).event);
    logged.mockRestore();
    expect(await entries()).toBe(2);
    expect(events).toEqual(['audit-read-not-marked', 'audit-read-not-marked']);
  });
});
