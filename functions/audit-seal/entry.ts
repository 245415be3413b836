import { recordRead } from '../../lib/audit/record-queries.ts';
import { DomainError } from '../../lib/ground/errors.ts';
import { config, keepsSeal } from '../../lib/ground/settings.ts';
import { callerOf, protectedEndpoint } from '../../lib/http/access.ts';
import { bucketReader } from '../../lib/seal/bucket-reader.ts';
import { compareEntry } from '../../lib/seal/compare-entry.ts';
import { folderReader } from '../../lib/seal/folder-archive.ts';
import * as shownHeader from '../../lib/seal/newest-header.ts';
import { readPublicKey } from '../../lib/seal/public-key.ts';
import { parseId } from '../../lib/users/user.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.entry, async (request) => {
  if (!keepsSeal(config)) throw new DomainError('AUDIT_NOT_SEALED');
  const id = parseId(request.pathParameters?.entry, 'AUDIT_ENTRY_NOT_FOUND');
  const publicKey = await readPublicKey().catch((cause) => {
    throw new DomainError('STORAGE_FAULT', { cause });
  });
  const { auditArchiveFolder: folder, auditArchiveUrl: url } = config;
  const archive = folder ? folderReader(folder) : bucketReader(url);
  const known = await shownHeader.read(publicKey);
  const compared = await compareEntry(id, { archive, publicKey }, { known, now: Date.now() });
  const reader = { ...request.source, user_id: callerOf(request).id };
  await recordRead(reader, { filter: { id } });
  return { statusCode: 200, body: compared };
});
