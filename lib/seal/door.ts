/** All that functions and infra may import of the seal, besides aws.ts. */
export {
  type Archive,
  BrokenTrail,
  findDigest,
  listWindows,
  type SignedArchive,
  windowAt,
} from './archive.ts';
export {
  beginning,
  compact,
  fingerprintOf,
  graceOf,
  type SignedDigest,
  type Signer,
  timeInName,
} from './digest.ts';
export { folderArchive, localSigner, makeKey, publicKeyName, removeUnfinished } from './folder.ts';
export { hashOf, type Item, type ReplayedEntry, sha256 } from './line.ts';
export { readTrail } from './read.ts';
export { logFailure, sealAndVerify } from './round.ts';
export type { Sealing } from './sealer.ts';
export { readBack, summarise } from './show.ts';
export { openScratch } from './spool.ts';
export { auditEntries } from './table.ts';
export {
  compareRemembered,
  type Finding,
  findingKinds,
  isBehind,
  isFault,
  type Remembered,
  remember,
  type Verification,
  type Verified,
} from './verification.ts';
export { verifyTrail } from './verify.ts';
