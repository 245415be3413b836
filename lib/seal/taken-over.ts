/** A bucket that an earlier stack made: whether it keeps objects as the settings of this stack require. */
import {
  GetBucketLifecycleConfigurationCommand,
  GetObjectLockConfigurationCommand,
  type LifecycleRule,
  S3Client,
} from '@aws-sdk/client-s3';
import { ConfigError, variableOf } from '../ground/setting.ts';
import { archivePrefix } from './archive.ts';

/** The days for which objects are kept and locked; 0: kept for ever, or not locked. */
interface Keeping {
  readonly archiveDays: number;
  readonly lockDays: number;
}

/** @throws {ConfigError} if the bucket deletes or locks objects differently; the SDK's errors */
export async function requireKeeping(Bucket: string, wanted: Keeping): Promise<void> {
  const client = new S3Client();
  try {
    const lifecycle = await client
      .send(new GetBucketLifecycleConfigurationCommand({ Bucket }))
      .catch(unless('NoSuchLifecycleConfiguration'));
    const lock = await client
      .send(new GetObjectLockConfigurationCommand({ Bucket }))
      .catch(unless('ObjectLockConfigurationNotFoundError'));
    requireSame('auditArchiveDays', wanted.archiveDays, expiryIn(lifecycle?.Rules ?? []));
    const { Mode, Days, Years = 0 } = lock?.ObjectLockConfiguration?.Rule?.DefaultRetention ?? {};
    const lockDays = Days ?? 365 * Years;
    requireSame('auditLockDays', wanted.lockDays, Mode === 'GOVERNANCE' ? 'governance' : lockDays);
  } finally {
    client.destroy();
  }
}

function unless(name: string) {
  return (error: Error): undefined => {
    if (error.name !== name) throw error;
  };
}

function requireSame(setting: string, wanted: number, found: number | string): void {
  if (found === wanted) return;
  throw new ConfigError(
    variableOf(setting),
    `is ${wanted}, and the bucket of the archive has ${found}`,
  );
}

/** Days after which objects of the archive are deleted; 0: never; a text if rules differ. */
function expiryIn(rules: readonly LifecycleRule[]): number | string {
  const ours = rules.filter((rule) => rule.Status === 'Enabled' && mayDelete(rule));
  const found = new Set(ours.map(({ Expiration }) => Expiration?.Days ?? 'others'));
  return found.size > 1 ? [...found].join(' and ') : ([...found][0] ?? 0);
}

/** Whether a rule deletes objects of the archive, or earlier versions of them. */
function mayDelete(rule: LifecycleRule): boolean {
  const { Expiration, NoncurrentVersionExpiration: earlier, Filter, Prefix } = rule;
  const prefix = Filter?.And?.Prefix ?? Filter?.Prefix ?? Prefix ?? '';
  const isOfArchive = prefix.startsWith(archivePrefix) || archivePrefix.startsWith(prefix);
  const deletes = Expiration?.Days ?? Expiration?.Date ?? earlier;
  return isOfArchive && deletes !== undefined;
}
