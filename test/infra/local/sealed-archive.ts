/** What `npm start` has sealed into a data folder. */
import { createPublicKey } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { inject } from 'vitest';
import type { Header } from '../../../lib/seal/header.ts';
import type { TestService } from '../../support/service.ts';
import { scanAudit } from '../../support/stored-items.ts';
import { until } from '../../support/until.ts';

interface SealedFile {
  readonly name: string;
  readonly header: Header;
  readonly ids: readonly number[];
}

export type SealedArchive = ReturnType<typeof archiveIn>;

export const archiveIn = (data: string) => {
  const folder = join(data, 'audit-archive');
  const read = (name: string): SealedFile => {
    const text = gunzipSync(readFileSync(join(folder, name))).toString();
    const [header, ...lines] = text.trimEnd().split('\n');
    return {
      name,
      header: JSON.parse(header ?? ''),
      ids: lines.map((line): number => JSON.parse(line).id),
    };
  };
  /** Oldest first. */
  const files = (): readonly SealedFile[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith('.ndjson.gz'))
          .sort()
          .reverse()
          .map(read)
      : [];
  return {
    folder,
    publicKey: () => createPublicKey(readFileSync(join(folder, 'public-key.pem'))),
    files,
    /** Of all lines. */
    ids: () => files().flatMap(({ ids }) => ids),
    /** The number of the first file that has an entry; null when none has. */
    fileOf: (id: number) => files().find(({ ids }) => ids.includes(id))?.header.number ?? null,
  };
};

export const idsInTable = async ({ environment }: TestService): Promise<readonly number[]> =>
  (await scanAudit(inject('engine'), environment.AUDIT_TABLE ?? '')).map(({ id }) => id);

/** Waits until all that the table of a service has is sealed, and says whether that came to be. */
export const becomesSealed = async (service: TestService, archive: SealedArchive) => {
  const wanted = await idsInTable(service);
  return until(() => {
    const sealed = new Set(archive.ids());
    return wanted.every((id) => sealed.has(id));
  });
};
