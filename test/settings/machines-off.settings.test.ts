/** Where there were machines once: what they posted, while the setting is off again. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { environmentDefaults } from '../../infra/local-settings.ts';
import { localSigner, makeKey } from '../../lib/seal/folder-archive.ts';
import { seal } from '../../lib/seal/sealer.ts';
import { auditEntries } from '../../lib/seal/table.ts';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { apiClient, logIn, register, uniqueEmail } from '../support/client.ts';
import { checkUnder } from '../support/contract.ts';
import { folderForThisFile } from '../support/folder.ts';
import { makeMachine, postAs } from '../support/machines.ts';
import { operate } from '../support/operator.ts';
import { memoryArchive, verifyAll } from '../support/sealed-trail.ts';
import { startTestService } from '../support/service.ts';

const folder = folderForThisFile();
const tables = { USERS_TABLE: `users-${randomUUID()}`, AUDIT_TABLE: `audit-${randomUUID()}` };
const same = { ...tables, DATA_DIR: folder, ADMIN_PASSWORD: 'the password of the admin' };

/** What a machine did while there were machines. */
const before = await (async () => {
  const { api, admin, stop } = await startTestService({ ...same, MACHINES: 'on' });
  const machine = await makeMachine(api, await logIn(api, admin), ['audit:write', 'users:write']);
  const user = await register(api);
  const about = { userId: user.id, resourceId: String(user.id) };
  const entry = { action: 'CREATE', resource: 'shop.users', result: 'FAILURE', ...about };
  const { body: posted } = await postAs(api, machine.key, 'before', [entry]);
  const json = { name: 'Ada', email: uniqueEmail(), password: 'pass-word-1' };
  const { body: made } = await api('POST', '/api/users', { token: machine.key, json });
  await stop();
  return { machine, user, made, posted: posted.data[0].id as number };
})();
const { url, api, adminToken: token } = await serviceForThisFile(same);
/** A client to which entries may show a machine, as the document of a service with machines says. */
const withMachines = apiClient(
  url.replace('localhost', '127.0.0.1'),
  checkUnder({ MACHINES: 'on' }),
);
const path = '/api/admin/audit-logs';

describe('While MACHINES is off', () => {
  it('nobody posts entries', async () => {
    for (const by of [before.machine.key, token]) {
      const refused = await api('POST', path, { token: by, json: { entries: [] } });

      expect(outcome(refused)).toEqual(refusal(404, 'Not Found'));
    }
  });

  it.each(['from=machines', 'from=service', 'resource=shop.users', 'machineId=1'])(
    'a query with %s is refused, because the parameter is unknown',
    async (query) => {
      const refused = await api('GET', `${path}?${query}`, { token });

      const [name] = query.split('=');
      expect(outcome(refused)).toEqual(
        refusal(400, expect.stringMatching(new RegExp(`^${name} is unknown; the parameters are `))),
      );
    },
  );

  it.each([
    '',
    `userId=${before.user.id}`,
    `userId=${before.user.id}&action=CREATE`,
    `about=${before.user.id}`,
    `resourceId=${before.user.id}`,
    'action=CREATE',
    'result=FAILURE',
  ])('a query with the parameters "%s" finds no posted entry', async (query) => {
    const { status, body } = await withMachines('GET', `${path}?${query}`, { token });

    expect(status).toBe(200);
    const resources = body.data.map(({ resource }: { resource: string }) => resource);
    expect(resources.filter((resource: string) => resource.includes('.'))).toEqual([]);
    expect(body.data.length > 0).toBe(query !== 'result=FAILURE');
  });

  it('entries show a machine only where one is stored, and in CSV never', async () => {
    const query = `${path}?action=CREATE&resourceId=`;
    const one = async (id: number) =>
      (await withMachines('GET', query + id, { token })).body.data[0];
    const headers = { accept: 'text/csv' };
    const csv = await api('GET', query + before.made.id, { token, headers });

    expect(await one(before.made.id)).toMatchObject({
      ...{ resource: 'users', user_id: null, machine_id: before.machine.id },
    });
    expect(await one(before.user.id)).not.toHaveProperty('machine_id');
    expect(csv.text).toMatch(/^id,.*,created_at\r\n/);
  });

  it('export-audit has the posted entries', async () => {
    const file = join(folder, 'export.ndjson');

    const { status } = await operate(['export-audit', file, `--local=${folder}`]);

    expect(status).toBe(0);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const exported = lines.map((line) => JSON.parse(line));
    expect(exported.filter(({ resource }) => resource.includes('.'))).toMatchObject([
      { id: before.posted, resource: 'shop.users', machine_id: before.machine.id },
    ]);
  });

  it('the sealer seals the posted entries, and a verification misses none', async () => {
    const engine = { AWS_ENDPOINT_URL_DYNAMODB: inject('engine') };
    const environment = { ...environmentDefaults, ...tables, ...engine };
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const signer = localSigner(makeKey());
    const trail = { archive: memoryArchive(), publicKey: signer.publicKey, source: auditEntries };
    const sealed: unknown[] = [];
    const now = Date.now() + 3_600_000;

    await seal({ ...trail, signer, interval: 60 }, new Date(now));
    const verified = await verifyAll({ ...trail, now, seen: ({ item }) => sealed.push(item.id) });

    expect(verified).toMatchObject({ findings: [], waiting: 0 });
    expect(sealed).toContain(before.posted);
  });
});
