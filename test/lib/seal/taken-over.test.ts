import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { handler } from '../../../functions/background/seal-audit.ts';
import { requireKeeping } from '../../../lib/seal/taken-over.ts';
import { startAwsArchive } from '../../support/aws-archive.ts';
import { useOwnTables } from '../../support/own-tables.ts';

await useOwnTables();
const aws = await startAwsArchive();
Object.assign(process.env, aws.environment);
afterAll(() => aws.stop());
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const rule = (content: string, { prefix = 'audit-archive/', status = 'Enabled' } = {}) =>
  `<Rule><Filter><Prefix>${prefix}</Prefix></Filter><Status>${status}</Status>${content}</Rule>`;
const expiry = (days: number) => `<Expiration><Days>${days}</Days></Expiration>`;
const marks =
  '<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>';
const earlier =
  '<NoncurrentVersionExpiration><NoncurrentDays>31</NoncurrentDays></NoncurrentVersionExpiration>';
const retention = (content: string) =>
  `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention>${content}</DefaultRetention></Rule></ObjectLockConfiguration>`;
const compliance = (period: string) => retention(`<Mode>COMPLIANCE</Mode>${period}`);

const configure = (rules: readonly string[] | undefined, lock: string | undefined) => {
  aws.configurations.lifecycle =
    rules && `<LifecycleConfiguration>${rules.join('')}</LifecycleConfiguration>`;
  aws.configurations['object-lock'] = lock;
};

describe('A bucket of an earlier stack', () => {
  it.each([
    ['no rules and no lock', undefined, undefined, 0, 0],
    [
      'the rules and the lock of a stack',
      [rule(expiry(400) + earlier), rule(marks)],
      compliance('<Days>365</Days>'),
      400,
      365,
    ],
    ['a lock of years', undefined, compliance('<Years>2</Years>'), 0, 730],
    ['a lock without a default', undefined, '<ObjectLockConfiguration/>', 0, 0],
    [
      'rules that are off, or of other objects',
      [rule(expiry(1), { status: 'Disabled' }), rule(expiry(1), { prefix: 'logs/' })],
      undefined,
      0,
      0,
    ],
  ])('is used if its settings are the same: %s', async (_, rules, lock, archiveDays, lockDays) => {
    configure(rules, lock);

    await expect(requireKeeping('trail', { archiveDays, lockDays })).resolves.toBeUndefined();
  });

  it.each([
    [
      'deletes objects that are kept for ever',
      [rule(expiry(400))],
      undefined,
      0,
      0,
      'AUDIT_ARCHIVE_DAYS is 0, and the bucket of the archive has 400',
    ],
    [
      'deletes objects that are kept for ever by a rule for all objects',
      [rule(expiry(1), { prefix: '' })],
      undefined,
      0,
      0,
      'AUDIT_ARCHIVE_DAYS is 0, and the bucket of the archive has 1',
    ],
    [
      'deletes a part of the objects that are kept for ever',
      [rule(expiry(1), { prefix: 'audit-archive/00' })],
      undefined,
      0,
      0,
      'AUDIT_ARCHIVE_DAYS is 0, and the bucket of the archive has 1',
    ],
    [
      'deletes earlier versions',
      [rule(earlier)],
      undefined,
      0,
      0,
      'AUDIT_ARCHIVE_DAYS is 0, and the bucket of the archive has others',
    ],
    [
      'has two rules',
      [rule(expiry(400)), rule(expiry(30))],
      undefined,
      400,
      0,
      'AUDIT_ARCHIVE_DAYS is 400, and the bucket of the archive has 400 and 30',
    ],
    [
      'keeps objects for ever that should be deleted',
      undefined,
      undefined,
      400,
      0,
      'AUDIT_ARCHIVE_DAYS is 400, and the bucket of the archive has 0',
    ],
    [
      'does not lock objects',
      undefined,
      undefined,
      0,
      365,
      'AUDIT_LOCK_DAYS is 365, and the bucket of the archive has 0',
    ],
    [
      'locks objects for longer',
      undefined,
      compliance('<Days>365</Days>'),
      0,
      0,
      'AUDIT_LOCK_DAYS is 0, and the bucket of the archive has 365',
    ],
    [
      'lets some callers undo the lock',
      undefined,
      retention('<Mode>GOVERNANCE</Mode><Days>365</Days>'),
      0,
      365,
      'AUDIT_LOCK_DAYS is 365, and the bucket of the archive has governance',
    ],
  ])('is refused if it %s', async (_, rules, lock, archiveDays, lockDays, message) => {
    configure(rules, lock);

    await expect(requireKeeping('trail', { archiveDays, lockDays })).rejects.toThrow(message);
  });

  it('gets no file while its settings differ, and the log says which settings', async () => {
    configure(undefined, undefined);
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    const bucket = { AUDIT_ARCHIVE_BUCKET: 'trail', AUDIT_SEAL_KEY: 'key' };
    const settings = { ...bucket, AUDIT_ARCHIVE_TAKEN_OVER: 'yes', AUDIT_LOCK_DAYS: '365' };
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
    const run = () => handler({}, { getRemainingTimeInMillis: () => 900_000 });

    await expect(run()).rejects.toThrow('The audit trail was not sealed to its end');
    const [line = ''] = logged.mock.calls[0] ?? [];
    expect(JSON.parse(line)).toMatchObject({
      event: 'audit-seal-failed',
      message: expect.stringContaining(
        'AUDIT_LOCK_DAYS is 365, and the bucket of the archive has 0',
      ),
    });
    expect(aws.objects.size).toBe(0);

    configure(undefined, compliance('<Days>365</Days>'));
    await run();
    expect(aws.objects.size).toBe(1);
  });
});
