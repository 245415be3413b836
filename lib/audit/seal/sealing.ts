import type { Archive } from '../archive/archive.ts';
import type { Digest, Signer } from '../archive/digest.ts';
import type { EntrySource } from '../archive/table.ts';

/** What a sealer works with. */
export interface Sealing {
  readonly archive: Archive;
  readonly source: EntrySource;
  readonly signer: Signer;
  /** Seconds: the length of a window. */
  readonly interval: number;
  /** Days after which windows leave the archive; 0 or absent: never. */
  readonly archiveDays?: number;
  /** What this process has seen of the archive: no window may be gone. Absent: that is not asked. */
  readonly memory?: { newest?: Digest };
}
