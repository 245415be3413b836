/**
 * The three endpoints of /api/admin/audit-seal. One function serves them all, because each would need
 * the same clients of S3 and KMS, and the same permissions.
 */
import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as contract from '../../lib/contract/audit-seal.ts';
import { DomainError } from '../../lib/errors.ts';
import { adminOnly } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { nextPageLink, pageOf, parseQuery } from '../../lib/http/query.ts';
import type { Handler } from '../../lib/http/request.ts';
import {
  folderArchive,
  publicKeyName,
  readBack,
  type SignedArchive,
  summarise,
} from '../../lib/seal/door.ts';
import { config, sealerConfig } from '../../lib/settings.ts';

const openBucket = async (bucket: string): Promise<SignedArchive> => {
  // One machine has no use for the clients of S3 and KMS, and starts sooner without them.
  const { bucketArchive, readPublicKey } = await import('../../lib/seal/aws.ts');
  return {
    archive: bucketArchive(bucket),
    publicKey: await readPublicKey(sealerConfig.auditSealKey),
  };
};

const openFolder = async (folder: string): Promise<SignedArchive> => ({
  archive: folderArchive(folder),
  publicKey: createPublicKey(await readFile(join(folder, publicKeyName))),
});

/** Kept from request to request of this process. */
let trail: SignedArchive | undefined;

/** @throws {DomainError} AUDIT_NOT_SEALED; STORAGE_FAULT when the archive or the key cannot be read */
const read = async <T>(work: (trail: SignedArchive) => Promise<T>): Promise<T> => {
  const { auditArchiveFolder: folder } = config;
  const { auditArchiveBucket: bucket } = sealerConfig;
  if (!folder && !bucket) throw new DomainError('AUDIT_NOT_SEALED');
  try {
    trail ??= await (folder ? openFolder(folder) : openBucket(bucket));
    return await work(trail);
  } catch (cause) {
    throw new DomainError('STORAGE_FAULT', { cause });
  }
};

const summary = endpoint(contract.getAuditSeal, adminOnly, async () => {
  const body = await read((shown) => summarise(shown, config.auditSealInterval, new Date()));
  return { statusCode: 200, body };
});

const scope = 'audit-seal/digests';

const digests = endpoint(contract.listAuditSealDigests, adminOnly, async (request) => {
  const query = parseQuery(contract.listAuditSealDigests, request.queryStringParameters);
  const { limit, after } = await pageOf(query, scope);
  const { files, next } = await read((shown) =>
    readBack(shown, { first: after, limit, now: new Date() }),
  );
  const headers = await nextPageLink(request, scope, next);
  return { statusCode: 200, headers, contentType: 'application/x-ndjson', body: files.join('') };
});

const publicKey = endpoint(contract.getAuditSealPublicKey, adminOnly, async () => {
  const body = await read(async (shown) => shown.publicKey.export({ type: 'spki', format: 'pem' }));
  return { statusCode: 200, contentType: 'application/x-pem-file', body };
});

const handlers: Readonly<Record<string, Handler>> = {
  'GET /api/admin/audit-seal': summary,
  'GET /api/admin/audit-seal/digests': digests,
  'GET /api/admin/audit-seal/public-key': publicKey,
};

export const handler: Handler = async (event, context) => {
  const handle = handlers[event.routeKey];
  if (!handle) throw new Error(`No handler for route ${event.routeKey}`);
  return handle(event, context);
};
