import { bucketArchive } from '../../lib/audit/archive/bucket.ts';
import { kmsSigner } from '../../lib/audit/archive/kms-key.ts';
import { auditEntries } from '../../lib/audit/archive/table.ts';
import { logFailure, sealAndVerify } from '../../lib/audit/seal/round.ts';
import type { Sealing } from '../../lib/audit/seal/sealing.ts';
import { config, sealerConfig } from '../../lib/settings.ts';

const openSealing = async (): Promise<Sealing> => ({
  archive: bucketArchive(sealerConfig.auditArchiveBucket),
  source: auditEntries,
  signer: await kmsSigner(sealerConfig.auditSealKey),
  interval: config.auditSealInterval,
  archiveDays: config.auditArchiveDays,
  memory: {},
});

/** Kept from run to run of this process. */
let sealing: Sealing | undefined;

/**
 * Runs on a schedule and seals the audit entries of past windows (lib/audit/README.md, Windows).
 */
export const handler = async (): Promise<void> => {
  try {
    sealing ??= await openSealing();
    await sealAndVerify(sealing, new Date());
  } catch (error) {
    logFailure(error);
    throw new Error('The audit trail was not sealed to its end');
  }
};
