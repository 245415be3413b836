import type { Context } from 'aws-lambda';
import { config } from '../../lib/ground/settings.ts';
import { bucketArchive, kmsSigner } from '../../lib/seal/aws.ts';
import { logFailure, runSealer } from '../../lib/seal/check.ts';
import * as asked from '../../lib/seal/check-request.ts';
import * as shownHeader from '../../lib/seal/newest-header.ts';
import type { Sealing } from '../../lib/seal/sealer.ts';
import { auditEntries } from '../../lib/seal/table.ts';
import { requireKeeping } from '../../lib/seal/taken-over.ts';
import * as whole from '../../lib/seal/whole-check.ts';

/** The connections and limits of the sealer. They are kept between its runs in this process. */
let sealing: Sealing | undefined;

/** Seals the audit entries that are not in a file yet. A schedule calls it (lib/seal/README.md, Runs). */
export async function handler(
  _event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<void> {
  try {
    await requireBucket();
    sealing ??= await openSealing();
    const remaining = () => context.getRemainingTimeInMillis();
    await runSealer(sealing, new Date(), { remaining });
  } catch (error) {
    logFailure(error);
    throw new Error('The audit trail was not sealed to its end');
  }
}

/** Requires that the lifecycle and lock of an earlier stack's bucket are as the settings say. */
async function requireBucket(): Promise<void> {
  const { auditArchiveTakenOver, auditArchiveBucket, auditArchiveDays, auditLockDays } = config;
  if (auditArchiveTakenOver === 'no') return;
  const wanted = { archiveDays: auditArchiveDays, lockDays: auditLockDays };
  await requireKeeping(auditArchiveBucket, wanted);
}

async function openSealing(): Promise<Sealing> {
  return {
    archive: bucketArchive(config.auditArchiveBucket),
    source: auditEntries,
    signer: await kmsSigner(config.auditSealKey),
    interval: config.auditSealInterval,
    archiveDays: config.auditArchiveDays,
    shown: shownHeader,
    asked,
    whole,
  };
}
