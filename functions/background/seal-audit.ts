import type { Context } from 'aws-lambda';
import { bucketArchive, kmsSigner } from '../../lib/seal/aws.ts';
import { auditEntries, logFailure, type Sealing, sealAndVerify } from '../../lib/seal/door.ts';
import { config, sealerConfig } from '../../lib/settings.ts';

const openSealing = async (): Promise<Sealing> => ({
  archive: bucketArchive(sealerConfig.auditArchiveBucket),
  source: auditEntries,
  signer: await kmsSigner(sealerConfig.auditSealKey),
  interval: config.auditSealInterval,
  windowSize: config.auditSealWindow,
  archiveDays: config.auditArchiveDays,
  memory: {},
});

/** Kept from run to run of this process. */
let sealing: Sealing | undefined;

/** On a schedule: seals the audit entries of the time that is over (lib/seal/README.md, Windows). */
export const handler = async (
  _event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<void> => {
  try {
    sealing ??= await openSealing();
    const remaining = () => context.getRemainingTimeInMillis();
    await sealAndVerify(sealing, new Date(), { remaining });
  } catch (error) {
    logFailure(error);
    throw new Error('The audit trail was not sealed to its end');
  }
};
