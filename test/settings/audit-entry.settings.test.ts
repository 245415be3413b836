import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { memberOf } from '../../lib/seal/archive.ts';
import { localSigner, makeKey } from '../../lib/seal/folder-archive.ts';
import { fileName, type Header, type SignedHeader, signHeader } from '../../lib/seal/header.ts';
import type { Item } from '../../lib/seal/line.ts';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { logIn, register } from '../support/client.ts';
import { appoint } from '../support/examples.ts';
import { folderForThisFile } from '../support/folder.ts';
import { makeMachine } from '../support/machines.ts';
import { headersOf, makeTrail, type TestTrail } from '../support/sealed-trail.ts';
import { startTestService } from '../support/service.ts';
import { engineClient } from '../support/stored-items.ts';
import { until } from '../support/until.ts';

const pathOf = (id: number | string) => `/api/admin/audit-seal/entries/${id}`;

/** A signed file without lines whose header differs from the header of a file of the trail. */
const forgedFile = async (trail: TestTrail, file: number, changes: Partial<Header>) => {
  const { line: _, hash: __, ...header } = headerOf(trail, file);
  return memberOf((await signHeader({ ...header, ...changes }, trail.signer)).line);
};

const headerOf = (trail: TestTrail, file: number) =>
  headersOf(trail).find(({ number }) => number === file) as SignedHeader;

/** The entry that the operator's command leaves when it writes a logged entry. */
const replayOf = (id: number) => ({
  action: 'CREATE' as const,
  resource: 'audit-logs',
  resource_id: 'replay',
  details: { entries: [id] },
});

/** The attributes that responses show. */
const shownOf = (item: Item | undefined) => {
  const { id, user_id, action, resource, resource_id, ip_address, user_agent, result } = item ?? {};
  const of = { id, user_id, action, resource, resource_id, ip_address, user_agent, result };
  return { ...of, details: item?.details, created_at: item?.created_at };
};

/**
 * A service that goes on with an archive of some files: of March, when one entry was written, and of June, when several
 * were. Then a day passes until the sealer runs again.
 */
const sealedService = async (settings: Readonly<Record<string, string>> = {}) => {
  const folder = folderForThisFile();
  const archiveFolder = join(folder, 'audit-archive');
  const pem = makeKey();
  const trail = makeTrail({
    signer: localSigner(pem),
    archiveDays: 30,
    interval: 300,
    now: Date.UTC(2026, 2, 1),
  });
  const { items } = trail.source;
  const march = trail.add();
  await trail.seal(120_000);
  trail.now = Date.UTC(2026, 5, 1);
  await trail.seal();
  const [june, expired] = [trail.add({ details: { note: 'x' } }), trail.add()];
  items.set(expired, { ...items.get(expired), expires_at: Date.UTC(2026, 6, 2) / 1000 });
  await trail.seal(300_000);
  const late = trail.add();
  trail.source.lagging.set(late, trail.now + 400_000);
  await trail.seal(300_000);
  await trail.seal(300_000);
  const [gone, replayed] = [trail.add(), trail.add({}, Date.UTC(2026, 3, 10))];
  const replay = trail.add(replayOf(replayed));
  for (let file = 6; file <= 20; file += 1) await trail.seal(300_000);

  mkdirSync(archiveFolder);
  writeFileSync(join(folder, 'audit-seal-key.pem'), pem, { mode: 0o600 });
  for (const [name, file] of trail.archive.files) writeFileSync(join(archiveFolder, name), file);
  const own = folder.slice(-6);
  const tables = { USERS_TABLE: `users-${own}`, AUDIT_TABLE: `audit-${own}` };
  const service = await serviceForThisFile({
    ...{ DATA_DIR: folder, AUDIT_SEAL_INTERVAL: '86400', ...tables },
    ...settings,
  });
  const token = service.adminToken;
  const seal = async () => (await service.api('GET', '/api/admin/audit-seal', { token })).body;
  await until(async () => (await seal()).newest?.number === 21, 'The sealer has not run');

  const client = engineClient(inject('engine'));
  const put = (item: Item) =>
    client.send(new PutCommand({ TableName: tables.AUDIT_TABLE, Item: item }));
  const itemOf = (id: number) => items.get(id) as Item;
  return {
    ...{
      service,
      trail,
      folder: archiveFolder,
      itemOf,
      put,
      ids: { march, june, expired, late, gone, replayed, replay },
    },
    remove: (id: number) =>
      client.send(new DeleteCommand({ TableName: tables.AUDIT_TABLE, Key: { id } })),
    compare: (id: number | string) => service.api('GET', pathOf(id), { token }),
  };
};

describe('GET /api/admin/audit-seal/entries/{entry} responds with the state', async () => {
  const { trail, folder, itemOf, put, remove, compare, ids } = await sealedService();
  const { june, expired, late, gone, march, replayed } = ids;
  for (const id of Object.values(ids)) await put(itemOf(id));

  it('equal, if the table has the entry as it was sealed', async () => {
    const { status, body } = await compare(june);

    const entry = shownOf(itemOf(june));
    expect([status, body]).toEqual([
      200,
      { state: 'equal', file: 3, stored: entry, sealed: entry },
    ]);
  });

  it('equal, if a later file has the entry because the index showed it late', async () => {
    expect((await compare(late)).body).toMatchObject({ state: 'equal', file: 5 });
  });

  it('equal, if the entry was sealed with the replay that lists it, or else waits for the next run', async () => {
    expect((await compare(replayed)).body).toMatchObject({ state: 'equal', file: 6 });

    const open = trail.add({}, Date.UTC(2026, 3, 11));
    const replay = trail.add(replayOf(open), Date.now());
    await put(itemOf(open));
    expect((await compare(open)).body.state).toBe('inserted');
    await put(itemOf(replay));
    expect((await compare(open)).body.state).toBe('waits');
  });

  it('differs with the names of the fields, shown or not, if somebody changed the entry', async () => {
    const changed = {
      ...itemOf(june),
      ip_address: '192.0.2.9',
      write_id: 'w',
      added: [1],
      user_id: '7',
    };
    await put(changed);

    const { body } = await compare(june);

    await put(itemOf(june));
    expect(body).toEqual({
      state: 'differs',
      fields: ['added', 'ip_address', 'user_id', 'write_id'],
      file: 3,
      stored: shownOf(changed),
      sealed: shownOf(itemOf(june)),
    });
  });

  it('differs, if somebody moved the time and the key of the entry', async () => {
    const created_at = '2026-05-02T00:00:00.000Z';
    await put({ ...itemOf(june), created_at, created_at_id: `${created_at}#${june}` });

    const { body } = await compare(june);

    await put(itemOf(june));
    expect(body).toMatchObject({ state: 'differs', fields: ['created_at', 'created_at_id'] });
  });

  it('deleted, if the entry is gone before it expired', async () => {
    await remove(june);

    const { body } = await compare(june);

    await put(itemOf(june));
    expect(body).toEqual({
      state: 'deleted',
      file: 3,
      stored: null,
      sealed: shownOf(itemOf(june)),
    });
  });

  it('left, if the entry is gone because it expired', async () => {
    await remove(expired);

    const { body } = await compare(expired);

    expect(body).toEqual({
      state: 'left',
      file: 3,
      stored: null,
      sealed: shownOf(itemOf(expired)),
    });
  });

  it('left, if the file that had the entry has left the archive', async () => {
    expect((await compare(march)).body).toMatchObject({ state: 'equal', file: 1 });
    rmSync(join(folder, fileName(1)));

    const { body } = await compare(march);

    expect(body).toEqual({ state: 'left', stored: shownOf(itemOf(march)), sealed: null });
    await remove(march);
    expect(outcome(await compare(march))).toEqual(refusal(404, 'Audit entry not found'));
  });

  it('inserted, if the files that cover the time of the entry do not have it', async () => {
    const id = trail.add({}, Date.UTC(2026, 5, 1, 0, 2));
    await put(itemOf(id));

    const { body } = await compare(id);

    expect(body).toEqual({ state: 'inserted', stored: shownOf(itemOf(id)), sealed: null });
    await remove(id);
    expect((await compare(id)).status).toBe(404);
  });

  it('inserted, if its time is more than ten minutes ahead or is no time', async () => {
    const id = trail.add({}, Date.now() + 3_600_000);
    await put(itemOf(id));
    expect((await compare(id)).body.state).toBe('inserted');

    await put({ ...itemOf(id), created_at: 'never' });
    expect((await compare(id)).body).toMatchObject({
      state: 'inserted',
      stored: { created_at: 'never' },
    });
    // The first file has left the archive by now.
    const { created_at_id: _, ...withoutKey } = itemOf(id);
    await put(withoutKey);
    expect((await compare(id)).body.state).toBe('inserted');
  });

  it('waits, if the next run will seal the time of the entry', async () => {
    const id = trail.add({}, Date.now());
    await put(itemOf(id));

    const { body } = await compare(id);

    expect(body).toEqual({ state: 'waits', stored: shownOf(itemOf(id)), sealed: null });
  });

  it('too_large, if the file of its time has more than 16 MB', async () => {
    const large = await forgedFile(trail, 13, { length: 2 ** 24 + 1 });
    writeFileSync(join(folder, fileName(13)), large);
    const id = trail.add({}, Date.parse(headerOf(trail, 13).from));

    const { body } = await compare(id);

    expect(body).toEqual({ state: 'too_large', file: 13, stored: null, sealed: null });
  });

  it('not_found, if the file that covers its time is missing, altered or not signed', async () => {
    const file = join(folder, fileName(6));
    const content = readFileSync(file);
    const flipped = (at: number) => content.map((byte, i) => (i === at ? byte ^ 1 : byte));
    const states: unknown[] = [];
    const note = async () => {
      const { state, file: number, finding, sealed } = (await compare(gone)).body;
      states.push([state, number, finding, sealed]);
    };

    for (const other of [flipped(content.length - 9), flipped(40), Buffer.from('x')]) {
      writeFileSync(file, other);
      await note();
    }
    rmSync(file);
    await note();
    await remove(gone);
    await note();

    writeFileSync(file, content);
    expect((await compare(gone)).body.state).toBe('deleted');
    expect(states).toEqual([
      ['not_found', 6, 'altered', null],
      ['not_found', 6, 'foreign', null],
      ['not_found', 6, 'foreign', null],
      ['not_found', undefined, undefined, null],
      ['not_found', undefined, undefined, null],
    ]);
  });

  it.each(['abc', '0', '-1', '1.5', '01', '9007199254740992', '1'])(
    '404 for an id that no entry can have or has: %s',
    async (id) => {
      const response = await compare(id);

      expect(outcome(response)).toEqual(refusal(404, 'Audit entry not found'));
      expect(response.headers.get('error-code')).toBe('AUDIT_ENTRY_NOT_FOUND');
    },
  );
});

describe('GET /api/admin/audit-seal/entries/{entry}', async () => {
  const settings = { SESSION_DAYS: '90', MACHINES: 'on', AUDIT_DETAIL: 'full' };
  const { service, folder, itemOf, put, ids } = await sealedService(settings);
  const { api, adminToken } = service;
  const path = pathOf(ids.june);
  await put(itemOf(ids.june));
  const reads = async () => {
    const query = '/api/admin/audit-logs?action=READ';
    const { body } = await api('GET', query, { token: adminToken });
    return body.data.filter(({ details }: { details: string }) => details.includes('"id"'));
  };

  it('is 500 with its own message if the archive cannot be read', async () => {
    renameSync(folder, `${folder}-away`);
    writeFileSync(folder, '');

    const { status, body } = await api('GET', path, { token: adminToken });

    rmSync(folder);
    renameSync(`${folder}-away`, folder);
    expect([status, body.message]).toEqual([500, 'Error comparing audit entry']);
    expect(await reads()).toEqual([]);
  });

  it('is for admins, auditors and machines with the scope audit:read, and each is recorded once an hour', async () => {
    const [user, other] = [await register(api), await register(api)];
    const auditor = await appoint(api, adminToken, other);
    const machine = await makeMachine(api, adminToken, ['audit:read']);
    const blind = await makeMachine(api, adminToken, ['users:read']);

    const statusOf = async (token: string) => (await api('GET', path, { token })).status;
    const statuses = [];
    for (const { token } of [{ token: adminToken }, auditor, { token: machine.key }]) {
      statuses.push(await statusOf(token), await statusOf(token));
    }

    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
    expect([await statusOf(user.token), await statusOf(blind.key)]).toEqual([403, 403]);
    const entries = await reads();
    expect(entries).toHaveLength(3);
    expect(entries[0]).toMatchObject({
      user_id: null,
      machine_id: machine.id,
      resource: 'audit-logs',
      resource_id: null,
      details: `{"filter":{"id":${ids.june}}}`,
    });
  });
});

it('Without a data folder, GET /api/admin/audit-seal/entries/{entry} is 404 with a code', async () => {
  const service = await startTestService();
  onTestFinished(() => service.stop());
  const token = await logIn(service.api, service.admin);

  const response = await service.api('GET', pathOf(1), { token });

  expect(outcome(response)).toEqual(refusal(404, 'The audit trail is not sealed'));
  expect(response.headers.get('error-code')).toBe('AUDIT_NOT_SEALED');
});
