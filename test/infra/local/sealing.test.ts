import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { register } from '../../support/client.ts';
import { folderForThisTest } from '../../support/folder.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { processesWith } from './installation.ts';
import { archiveIn, becomesSealed, idsInTable } from './sealed-archive.ts';

/** A service that seals every second. */
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
  it('seals each entry once, in a chain of files that continues after a stop', async () => {
    const folder = folderForThisTest();
    const archive = archiveIn(folder);
    const first = await startSealed(folder);
    await register(first.api);
    expect(await becomesSealed(first, archive)).toBe(true);
    await register(first.api);
    await first.stop();
    const before = archive.files().length;

    const second = await startSealed(folder, first.environment);
    expect(await becomesSealed(second, archive)).toBe(true);
    await second.stop();

    const headers = archive.files().map(({ header }) => header);
    expect(headers.length).toBeGreaterThan(before);
    expect(headers[0]).toMatchObject({ number: 1, previous: null });
    expect(headers.slice(1).map(({ number, from }) => [number, from])).toEqual(
      headers.slice(0, -1).map(({ number, until }) => [number + 1, until]),
    );
    expect([...archive.ids()].sort()).toEqual([...(await idsInTable(second))].sort());
  });

  it('seals in a separate process for each run, and no process is left after its end', async () => {
    const folder = folderForThisTest();
    const service = await startSealed(folder);
    const sealers = () => processesWith(`infra/local/seal.ts\0${folder}`);

    await until(() => sealers().length > 0);
    await until(() => archiveIn(folder).files().length > 2);
    await service.stop();

    expect(sealers()).toEqual([]);
  });

  it('makes a key that only its owner can read, and restores the public key of a lost archive', async () => {
    const folder = folderForThisTest();
    const archive = archiveIn(folder);
    await startSealed(folder);
    await until(() => archive.files().length > 1);
    expect(archive.publicKey().asymmetricKeyType).toBe('ed25519');
    expect(statSync(join(folder, 'audit-seal-key.pem')).mode & 0o777).toBe(0o600);

    renameSync(archive.folder, join(folder, 'taken-away'));

    await until(() => existsSync(join(archive.folder, 'public-key.pem')));
  });

  it('prints its findings in a sentence below the line of its log', async () => {
    const folder = folderForThisTest();
    const archive = archiveIn(folder);
    const service = await startSealed(folder);
    const sentence =
      /audit-trail-broken.+\nThe audit trail, or the archive .+: file \d+ .+\(missing\)/;

    await until(() => {
      const [, newest] = archive.files().slice(-2);
      // A run that is under way has read the newest file already, and goes on from it.
      if (newest) rmSync(join(archive.folder, newest.name));
      return sentence.test(service.output());
    });
  });
});
