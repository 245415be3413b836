import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, inject, it, vi } from 'vitest';
import { createTables } from '../../../infra/local/create-tables.ts';
import { environmentDefaults } from '../../../infra/local-settings.ts';
import { type AuditEntry, makeEntry } from '../../../lib/audit/entry.ts';
import { uniqueAgent } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';
import {
  type OperatedService,
  operatedServiceForThisFile,
  operatedServiceForThisTest,
  operatorEntry,
} from '../../support/operator.ts';
import { scanAudit } from '../../support/stored-items.ts';

const service = await operatedServiceForThisFile();

const newEntry = (agent: string): AuditEntry =>
  makeEntry({
    user_id: 7,
    action: 'DELETE',
    resource: 'users',
    resource_id: 8,
    result: 'SUCCESS',
    ip_address: '192.0.2.1',
    user_agent: agent,
    details: { reason: 'a {brace} "quoted"' },
  });

const logged = (entry: unknown, writeId: unknown = randomUUID(), requestId = 'a-request') => ({
  level: 'error',
  event: 'audit-entry-not-written',
  fault: 'TimeoutError',
  writeId,
  requestId,
  entry,
});

const replay = async ({ folder, operate }: OperatedService, lines: readonly string[]) => {
  const file = join(folder, `${randomUUID()}.log`);
  await writeFile(file, lines.join('\n'));
  return operate(['replay-audit', file]);
};

const entriesBy = async ({ environment }: OperatedService, agent: string) => {
  const entries = await scanAudit(inject('engine'), environment.AUDIT_TABLE ?? '');
  return entries.filter(({ user_agent }) => user_agent === agent);
};

const summary = (written: number, ignored: number, malformed: number) =>
  `Entries in the table: ${written}. Other lines: ${ignored}. Malformed: ${malformed}.\n`;

describe('replay-audit', () => {
  it('writes the entries of lines in the form of the service and in the form of AWS exports', async () => {
    const agent = uniqueAgent();
    const time = '2026-11-21T04:00:00.000Z';
    const forms: readonly ((line: object) => string)[] = [
      (line) => JSON.stringify(line),
      (line) => `${time} ${JSON.stringify(line)}`,
      (line) => `${time}\t${'{x} '.repeat(20)}\tERROR\t${JSON.stringify(line)}`,
      (line) => JSON.stringify({ timestamp: time, level: 'ERROR', message: line }),
      (line) => JSON.stringify({ timestamp: 1, message: `${JSON.stringify(line)}\n` }),
    ];
    const ofMachine = { machine_id: 3, occurred_at: time };
    const entries = forms.map((_, i) => ({ ...newEntry(agent), ...(i === 0 ? ofMachine : {}) }));
    const lines = forms.map((form, i) => form(logged(entries[i])));

    const { status, stdout } = await replay(service, ['START', ...lines, 'END']);

    expect([status, stdout]).toEqual([0, summary(forms.length, 2, 0)]);
    const written = await entriesBy(service, agent);
    expect(written).toHaveLength(forms.length);
    for (const entry of entries) {
      const kept = { ...entry, request_id: 'a-request' };
      expect(written).toContainEqual(expect.objectContaining(kept));
    }
  });

  it('leaves one entry of each line if it is run twice, and records a list before and a count after', async () => {
    const agent = uniqueAgent();
    const lines = [newEntry(agent), newEntry(agent)].map((entry) => JSON.stringify(logged(entry)));

    const ends = [await replay(service, lines), await replay(service, lines)];

    expect(ends.map(({ status }) => status)).toEqual([0, 0]);
    const written = await entriesBy(service, agent);
    expect(written).toHaveLength(2);
    const own = { action: 'CREATE', resource: 'audit-logs' } as const;
    const entries = lines.map((line): number => JSON.parse(line).entry.id);
    expect((await service.entries()).slice(-2)).toMatchObject([
      operatorEntry('replay-audit', { ...own, resource_id: 'replay', details: { entries } }),
      operatorEntry('replay-audit', {
        ...own,
        details: { written: 2, ignored: 0, malformed: 0 },
      }),
    ]);
  });

  it('keeps the time to live of an entry, and refuses an expired entry', async () => {
    const agent = uniqueAgent();
    const soon = Math.floor(Date.now() / 1000) + 3600;
    const later = soon + 30 * 86_400;
    const line = (expiresAt: number) => JSON.stringify({ ...logged(newEntry(agent)), expiresAt });

    const { status, stdout, stderr } = await replay(service, [line(later), line(soon)]);

    expect([status, stdout]).toEqual([1, summary(1, 0, 1)]);
    expect(stderr).toContain('Line 2: has an entry that has expired.');
    expect(await entriesBy(service, agent)).toMatchObject([{ expires_at: later }]);
  });

  it('leaves one entry if it is run twice, even if another entry has the same id', async () => {
    const [agent, other] = [uniqueAgent(), uniqueAgent()];
    const entry = newEntry(agent);
    await replay(service, [JSON.stringify(logged({ ...entry, user_agent: other }))]);
    const line = JSON.stringify(logged(entry));

    await replay(service, [line]);
    await replay(service, [line]);

    const [written, ...more] = await entriesBy(service, agent);
    expect(more).toEqual([]);
    expect(written).toMatchObject({ ...entry, id: expect.any(Number) });
    expect(written?.id).not.toBe(entry.id);
    expect(await entriesBy(service, other)).toMatchObject([{ id: entry.id }]);
    expect((await service.entries()).slice(-2)[0]?.details).toContain(`[${written?.id}]`);
  });

  it('records lists of 200 entries at a time, before it writes these entries', async () => {
    const agent = uniqueAgent();
    const { id, ...entry } = newEntry(agent);
    const lines = Array.from({ length: 201 }, (_, index) =>
      JSON.stringify(logged({ ...entry, id: id + index })),
    );

    await replay(service, lines);

    const lists = (await service.entries()).filter(({ resource_id }) => resource_id === 'replay');
    const sizes = lists.map(({ details }) => JSON.parse(details ?? '').entries.length);
    expect(sizes.slice(-2)).toEqual([200, 1]);
    expect(await entriesBy(service, agent)).toHaveLength(201);
  });

  it('writes entries that the query finds', async () => {
    const entry = newEntry(uniqueAgent());
    await replay(service, [JSON.stringify(logged(entry))]);

    const { body } = await service.api('GET', '/api/admin/audit-logs?action=DELETE', {
      token: service.adminToken,
    });

    expect(body.data).toContainEqual(entry);
  });

  it('reports malformed lines by their numbers, and writes the others', async () => {
    const agent = uniqueAgent();
    const whole = JSON.stringify(logged(newEntry(agent)));
    const broken = (fields: object) => JSON.stringify(logged({ ...newEntry(agent), ...fields }));
    const long = 'x'.repeat(500_000);
    const lines = [
      whole.slice(0, -20),
      JSON.stringify(logged(newEntry(agent), null)),
      broken({ id: 1.5 }),
      broken({ action: 'GRANT' }),
      broken({ created_at: 'yesterday' }),
      broken({ user_agent: long }),
      JSON.stringify(logged(newEntry(agent), long)),
      whole,
    ];

    const { status, stdout, stderr } = await replay(service, lines);

    expect([status, stdout]).toEqual([1, summary(1, 0, 7)]);
    expect(stderr.split('\n').slice(0, 8)).toEqual([
      'Line 1: has no readable entry: the line may be cut short.',
      'Line 2: has no writeId.',
      'Line 3: has an entry whose id is not valid.',
      'Line 4: has an entry whose action is not valid.',
      'Line 5: has an entry whose created_at is not valid.',
      'Line 6: has an entry whose user_agent is not valid.',
      'Line 7: has no writeId.',
      'The lines above could not be replayed.',
    ]);
    expect(await entriesBy(service, agent)).toHaveLength(1);
  });

  it('writes no entry that is only quoted in another line', async () => {
    const agent = uniqueAgent();
    const quoted = JSON.stringify(logged(newEntry(agent)));
    const lines = [
      JSON.stringify({ level: 'error', event: 'fault', message: quoted }),
      `${JSON.stringify({ level: 'error', event: 'fault' })} ${quoted}`,
      JSON.stringify(logged({ ...newEntry(uniqueAgent()), user_agent: quoted }, null)),
    ];

    const { stdout } = await replay(service, lines);

    expect(stdout).toBe(summary(0, 0, lines.length));
    expect(await entriesBy(service, agent)).toEqual([]);
  });

  it('restores what a service and a command logged while the audit table was missing', async () => {
    const suffering = await operatedServiceForThisTest();
    const { USERS_TABLE: users = '', AUDIT_TABLE: audit = '' } = suffering.environment;
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    const endpoint = inject('engine');
    const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
    await client.send(new DeleteTableCommand({ TableName: audit }));
    const { id, email } = await register(suffering.api);

    const promoted = await suffering.operate(['create-admin', email], 'password');
    const exported = await suffering.operate(['export-users', '-']);
    const log = [...suffering.output().split('\n'), ...promoted.stderr.split('\n')];
    for (const [name, value] of Object.entries(environmentDefaults)) vi.stubEnv(name, value);
    await createTables(endpoint, { users, audit });
    vi.unstubAllEnvs();
    const { status } = await replay(suffering, log);

    expect(promoted.status).toBe(1);
    expect(promoted.stdout).toContain('is an admin');
    expect(promoted.stderr).toMatch(/audit entry could not be written.*replay-audit/);
    expect([exported.status, exported.stdout]).toEqual([1, '']);
    expect(exported.stderr).toMatch(/^Nothing was done/);
    expect(status).toBe(0);
    const entries = [...(await scanAudit(endpoint, audit))].sort((a, b) => a.id - b.id);
    expect(entries).toMatchObject([
      { action: 'CREATE', resource_id: String(id), user_id: id },
      { action: 'UPDATE', resource_id: String(id), user_agent: 'operator create-admin' },
      { resource: 'audit-logs', user_agent: 'operator replay-audit', resource_id: 'replay' },
      { action: 'CREATE', resource: 'audit-logs', user_agent: 'operator replay-audit' },
    ]);
    client.destroy();
  });
});
