/** What `npm start` has sealed into a data folder. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { inject } from 'vitest';
import { readDigest, type SignedDigest } from '../../../lib/seal/digest.ts';
import type { TestService } from '../../support/service.ts';
import { scanAudit } from '../../support/stored-items.ts';
import { comesTrue } from './installation.ts';

export interface SealedArchive {
  readonly folder: string;
  publicKey(): KeyObject;
  /** Names, in the order of their windows. */
  names(): readonly string[];
  digests(): readonly SignedDigest[];
  /** Of all entries. */
  ids(): readonly number[];
  /** When the first window begins that has an entry; null when none has. */
  windowOf(id: number): string | null;
}

export const archiveIn = (data: string): SealedArchive => {
  const folder = join(data, 'audit-archive');
  const read = (name: string) => readFileSync(join(folder, name));
  const publicKey = () => createPublicKey(read('public-key.pem'));
  const names = () =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith('.digest.json'))
          .sort()
      : [];
  const digests = () => names().map((name) => readDigest(read(name), publicKey()) as SignedDigest);
  const idsIn = ({ entries }: SignedDigest) =>
    gunzipSync(read(entries.file))
      .toString()
      .split('\n')
      .slice(0, -1)
      .map((line): number => JSON.parse(line).id);
  const ids = () => digests().flatMap(idsIn);
  const windowOf = (id: number) =>
    digests().find((digest) => idsIn(digest).includes(id))?.from ?? null;
  return { folder, publicKey, names, digests, ids, windowOf };
};

export const idsInTable = async ({ environment }: TestService): Promise<readonly number[]> =>
  (await scanAudit(inject('engine'), environment.AUDIT_TABLE ?? '')).map(({ id }) => id);

/** Waits until all that the table of a service has is sealed, and says whether that came to be. */
export const becomesSealed = async (service: TestService, archive: SealedArchive) => {
  const wanted = await idsInTable(service);
  return comesTrue(() => {
    const sealed = new Set(archive.ids());
    return wanted.every((id) => sealed.has(id));
  });
};
