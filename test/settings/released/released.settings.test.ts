/** This version reads, changes and verifies the data that released versions have stored. */
import { createPublicKey } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { folderArchive, localSigner } from '../../../lib/seal/folder-archive.ts';
import { seal } from '../../../lib/seal/sealer.ts';
import { logIn } from '../../support/client.ts';
import { folderForThisFile } from '../../support/folder.ts';
import { verifyAll } from '../../support/sealed-trail.ts';
import { load, readFixture, verifyAsOperator, versions } from './fixture.ts';
import { overview } from './overview.ts';
import { type Kept, makePlace, setClock, startOn } from './service.ts';
import { kept } from './stored-kinds.ts';

describe.each(versions)('This version, with the data that %s has stored,', async (version) => {
  const fixture = readFixture(version);
  const { known } = fixture;
  const folder = folderForThisFile();
  const place = await makePlace(join(folder, 'data'));
  await load(fixture, place);

  it('verifies the sealed trail, and continues to seal', async () => {
    const copy = join(folder, 'sealed');
    cpSync(fixture.data, copy, { recursive: true });
    const archive = folderArchive(join(copy, 'audit-archive'));
    const publicKey = createPublicKey(readFileSync(join(copy, 'audit-archive', 'public-key.pem')));
    const signer = localSigner(readFileSync(join(copy, 'audit-seal-key.pem'), 'utf8'));
    Object.assign(process.env, place.tables);
    vi.resetModules();
    const { auditEntries: source } = await import('../../../lib/seal/table.ts');
    const trail = { archive, publicKey, source };

    const before = await verifyAll({ ...trail, now: known.sealed });
    const next = known.sealed + 600_000;
    const { newest } = await seal({ ...trail, signer, interval: 300 }, new Date(next));
    const after = await verifyAll({ ...trail, now: next });

    expect(before).toMatchObject({ findings: [], waiting: 0, entries: fixture.items.audit.length });
    expect(after).toMatchObject({ findings: [], waiting: 0, files: before.files + 1 });
    expect(newest).toMatchObject({ number: before.last + 1, previous: before.newest?.hash });
  });

  it('knows what an operator verified, and reports that the newest sealed file is missing', async () => {
    const copy = join(folder, 'verified');
    cpSync(fixture.data, copy, { recursive: true });
    const archive = join(copy, 'audit-archive');
    const [newest = ''] = readdirSync(archive);
    rmSync(join(archive, newest));

    const { status, stdout } = await verifyAsOperator(copy);

    expect([status, stdout]).toEqual([1, expect.stringContaining(newest)]);
  });

  it('accepts the tokens and the password of a user of the default settings', async () => {
    setClock(known.time);
    const { api, stop } = await startOn(place, 'off');
    const { token, email, password } = known.byDefault;

    expect((await api('GET', '/api/profile', { token })).status).toBe(200);
    await logIn(api, { password, email: email.replace('ß', 'SS') });
    await stop();
  });

  it('imports the exported users elsewhere, where they log in', async () => {
    setClock(known.time);
    const elsewhere = await makePlace(join(folder, 'elsewhere'));
    const { operate, api, stop } = await startOn(elsewhere, 'off');
    const file = join(elsewhere.folder, 'users.ndjson');
    writeFileSync(file, known.overview.exported);

    const { stdout } = await operate(['import-users', file]);

    // The new service already has the admin.
    const count = known.overview.users.length - 1;
    expect(stdout).toBe(`Imported: ${count}. Imported before: 0. Lines rejected: 1.\n`);
    for (const name of ['a password, an address and a name', 'a password that bcrypt cannot read'])
      await logIn(api, known[name]);
    await stop();
  });

  describe('where every option is on', () => {
    let service: Kept;
    beforeAll(async () => {
      setClock(known.time);
      service = await startOn(place);
    });
    afterAll(() => service.stop());

    it('responds as that version did', () => overview.find(service, known.overview));

    it('shows the newest sealed file', async () => {
      const { adminToken: token } = service;
      const { body } = await service.api('GET', '/api/admin/audit-seal', { token });
      expect(body.newest?.number).toBeGreaterThanOrEqual(1);
    });

    it('shows the stored attributes of users, and otherwise an empty object', async () => {
      const { adminToken: token } = service;
      for (const { id, attributes = {} } of known.overview.details) {
        const { body } = await service.api('GET', `/api/users/${id}`, { token });
        expect(body.attributes).toEqual(attributes);
      }
      const { body } = await service.api('GET', '/api/users?attributes=true', { token });
      expect(body.length).toBeGreaterThan(10);
      for (const user of body) expect(user).toHaveProperty('attributes');
    });

    const stored = Object.entries(kept).filter(([name]) => name in known);
    it.each(stored)('finds %s', async (name, { find }) => {
      await find(service, known[name]);
    });
  });
});
