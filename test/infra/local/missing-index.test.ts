/** A start on tables that lack indexes, as the tables of version 1.0.0 lack the last index of each. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createTables } from '../../../infra/local/create-tables.ts';
import { startEngine } from '../../../infra/local/engine.ts';
import { environmentDefaults } from '../../../infra/local-settings.ts';
import { auditIndexes, usersIndexes } from '../../../lib/dynamodb/tables.ts';
import { type Items, load, readFixture, readItems } from '../../settings/released/fixture.ts';
import { readPages } from '../../support/acceptance.ts';
import { logIn } from '../../support/client.ts';
import { createWithout } from '../../support/own-tables.ts';
import { ownEngineForThisFile, tables } from './own-engine.ts';

const fixture = readFixture('1.0.0');
/** Tables beside those of the service. */
const complete = { users: 'complete-users', audit: 'complete-audit' };
const missing = [
  ['users', tables.USERS_TABLE, [usersIndexes.admins.name, usersIndexes.lastSeen.name]],
  ['audit', tables.AUDIT_TABLE, [auditIndexes.failures.name, auditIndexes.byResource.name]],
] as const;

describe('A start whose tables lack indexes', () => {
  const own = ownEngineForThisFile();
  const place = { folder: own.data, tables };

  /** Puts the fixture into the folder, into tables that lack indexes. */
  beforeAll(async () => {
    for (const [name, value] of Object.entries(environmentDefaults)) vi.stubEnv(name, value);
    const engine = await startEngine({ folder: own.data, only: inject('engineName') });
    await createTables(engine.endpoint, complete);
    const client = new DynamoDBClient({ endpoint: engine.endpoint });
    for (const [name, TableName, indexes] of missing) {
      await createWithout(client, indexes, { like: complete[name], TableName });
    }
    await load(fixture, place, engine.endpoint);
    await engine.stop();
  });
  afterAll(() => void vi.unstubAllEnvs());

  it('adds each index with all items of the table, says so in a line, and loses no data', async () => {
    // The admin of the fixture, whom the start finds as it wants it.
    const service = await own.start({ ADMIN_PASSWORD: 'the password of the admin' });
    const token = await logIn(service.api, service.admin);
    const query = '/api/admin/audit-logs?result=FAILURE';
    const failures = await readPages(service.api, query, { token });
    const { body: admins } = await service.api('GET', '/api/users?role=admin', { token });
    const stored = await readItems(place, own.running().endpoint);

    const said = missing.flatMap(([, table, indexes]) =>
      indexes.map(
        (index) =>
          `The table ${table} lacks the index ${index}, which this version needs: it is added before the service starts.`,
      ),
    );
    expect(service.output().match(/^The table .*$/gm)).toEqual(said);
    const { users, audit } = fixture.items;
    const failed = failures.flatMap(({ answer }) => answer.body.data);
    expect(idsOf(failed)).toEqual(storedIds(audit.filter(({ result }) => result?.S === 'FAILURE')));
    expect(idsOf(admins)).toEqual(storedIds(users.filter(({ role }) => role?.S === 'admin')));
    expect(lasting(stored.users)).toEqual(lasting(users));
    expect(stored.audit).toEqual(expect.arrayContaining([...audit]));
  });
});

const idsOf = (all: readonly { id: number }[]) => all.map(({ id }) => id).sort((a, b) => a - b);
const storedIds = (items: Items['users']) => idsOf(items.map(({ id }) => ({ id: Number(id?.N) })));

/** The items that a start leaves as they are, by their keys: it seals, and removes what has expired. */
const lasting = (users: Items['users']) =>
  Object.fromEntries(
    users
      .filter(({ pk, expires_at }) => !expires_at && !pk?.S?.startsWith('audit-'))
      .map(({ recovery_codes: codes, ...item }) => [item.pk?.S, [item, new Set(codes?.SS)]]),
  );
