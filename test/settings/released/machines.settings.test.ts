/** Machines post entries into the table of a released version, after an update has added the index by resource. */
import { randomUUID } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, inject, it, vi } from 'vitest';
import { createTables } from '../../../infra/local/create-tables.ts';
import { auditIndexes } from '../../../lib/dynamodb/tables.ts';
import { folderArchive, localSigner } from '../../../lib/seal/folder-archive.ts';
import { seal } from '../../../lib/seal/sealer.ts';
import { readPages } from '../../support/acceptance.ts';
import { folderForThisFile } from '../../support/folder.ts';
import { makeMachine, postAs } from '../../support/machines.ts';
import { createWithout } from '../../support/own-tables.ts';
import { verifyAll } from '../../support/sealed-trail.ts';
import { load, readFixture, readItems, versions } from './fixture.ts';
import { makePlace, type Place, setClock, startOn } from './service.ts';

/** Makes a place whose audit table lacks the index by resource, as tables of 1.0.0 do. */
const makeOlderPlace = async (folder: string): Promise<Place> => {
  const { tables } = await makePlace(folder);
  const older = { ...tables, AUDIT_TABLE: `audit-${randomUUID()}` };
  const names = { like: tables.AUDIT_TABLE, TableName: older.AUDIT_TABLE };
  const client = new DynamoDBClient({ endpoint: inject('engine') });
  await createWithout(client, [auditIndexes.byResource.name], names);
  Object.assign(process.env, older);
  return { folder, tables: older };
};

/** Adds what the tables of a place lack. */
const update = async ({ tables }: Place) => {
  const said = vi.spyOn(console, 'log').mockReturnValue();
  const names = { users: tables.USERS_TABLE, audit: tables.AUDIT_TABLE };
  await createTables(inject('engine'), names, { isOwn: true });
  const lines = said.mock.calls.map(([line]) => line);
  said.mockRestore();
  return lines;
};

describe.each(versions)('The table of entries of %s, once updated,', async (version) => {
  const fixture = readFixture(version);
  const { sealed } = fixture.known;
  const folder = folderForThisFile();
  const place = await makeOlderPlace(join(folder, 'data'));
  await load(fixture, place);
  const lines = await update(place);
  setClock(sealed + 60_000);
  const service = await startOn(place, 'off', { MACHINES: 'on' });
  afterAll(() => service.stop());
  const { api, adminToken: token } = service;
  const { key } = await makeMachine(api, token, ['audit:write']);
  const resources = ['shop.orders', 'shop.invoices', 'shop.orders'];
  const entries = resources.map((resource) => ({ ...order, resource }));
  const { body: posted } = await postAs(api, key, 'first', entries);
  const idsAt = async (query: string) => {
    const pages = await readPages(api, `/api/admin/audit-logs?${query}`, { token });
    return pages.flatMap(({ answer }) => answer.body.data.map(idOf)).sort((a, b) => a - b);
  };
  const idsOfFixture = fixture.items.audit.map(({ id }) => Number(id?.N)).sort((a, b) => a - b);

  it('has the index', () => {
    expect(lines).toEqual([expect.stringContaining(auditIndexes.byResource.name)]);
  });

  it('takes entries of machines, which queries find by their resource', async () => {
    const [first, second, third] = posted.data.map(idOf);

    expect(await idsAt('resource=shop.orders')).toEqual([first, third]);
    expect(await idsAt('from=machines')).toEqual([first, second, third]);
  });

  it('still has every entry, of which none is of a machine', async () => {
    const until = `until=${new Date(sealed).toISOString()}`;

    expect(await idsAt(until)).toEqual(idsOfFixture);
    expect(await idsAt(`${until}&from=service`)).toEqual(idsOfFixture);
    expect(await idsAt(`${until}&from=machines`)).toEqual([]);
  });

  it('is sealed with the entries of machines, and verified', async () => {
    const copy = join(folder, 'sealed');
    cpSync(fixture.data, copy, { recursive: true });
    const signer = localSigner(readFileSync(join(copy, 'audit-seal-key.pem'), 'utf8'));
    const { auditEntries: source } = await import('../../../lib/seal/table.ts');
    const archive = folderArchive(join(copy, 'audit-archive'));
    const trail = { archive, publicKey: signer.publicKey, source };
    const now = sealed + 600_000;

    await seal({ ...trail, signer, interval: 300 }, new Date(now));
    const verified = await verifyAll({ ...trail, now });

    const { length: entries } = (await readItems(place)).audit;
    expect(verified).toMatchObject({ findings: [], waiting: 0, unproven: 0, entries });
    expect(entries).toBeGreaterThan(idsOfFixture.length + posted.data.length);
  });
});

const order = { action: 'CREATE', result: 'SUCCESS' };
const idOf = ({ id }: { readonly id: number }) => id;
