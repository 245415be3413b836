import { existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { register } from '../../support/client.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { comesTrue } from './installation.ts';
import { archiveIn, becomesSealed, idsInTable } from './sealed-archive.ts';

const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'sealed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

/** A service whose windows are of a second. */
const startSealed = async (folder: string, environment = {}): Promise<TestService> => {
  const service = await startTestService({
    DATA_DIR: folder,
    JWT_SECRET: '',
    AUDIT_SEAL_INTERVAL: '1',
    ...environment,
  });
  onTestFinished(service.stop);
  return service;
};

describe('npm start', () => {
  it('seals each entry once, in windows without a gap, also over a time when it stood still', async () => {
    const folder = makeFolder();
    const archive = archiveIn(folder);
    const first = await startSealed(folder);
    await register(first.api);
    expect(await becomesSealed(first, archive)).toBe(true);
    await register(first.api);
    await first.stop();
    const before = archive.names().length;

    const second = await startSealed(folder, first.environment);
    expect(await becomesSealed(second, archive)).toBe(true);
    await second.stop();

    const chain = archive.digests();
    expect(chain.length).toBeGreaterThan(before);
    expect(chain[0]).toMatchObject({ from: '0000-01-01T00:00:00.000Z', previous: null });
    expect(chain.slice(1).map(({ from, previous }) => [from, previous?.sha256])).toEqual(
      chain.slice(0, -1).map(({ until, sha256 }) => [until, sha256]),
    );
    expect([...archive.ids()].sort()).toEqual([...(await idsInTable(second))].sort());
  });

  it('shows the public key again where its archive was taken away', async () => {
    const folder = makeFolder();
    const archive = archiveIn(folder);
    await startSealed(folder);
    expect(await comesTrue(() => archive.names().length > 1)).toBe(true);

    renameSync(archive.folder, join(folder, 'taken-away'));

    expect(await comesTrue(() => existsSync(join(archive.folder, 'public-key.pem')))).toBe(true);
  });

  it('makes a key that only its owner may read, and shows its public half', async () => {
    const folder = makeFolder();
    await startSealed(folder);

    expect(archiveIn(folder).publicKey().asymmetricKeyType).toBe('ed25519');
    expect(statSync(join(folder, 'audit-seal-key.pem')).mode & 0o777).toBe(0o600);
  });
});
