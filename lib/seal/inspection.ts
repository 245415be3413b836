/** Verifies parts of the archive in a run of the sealer, and collects and logs their findings. */
import { auditTrailBroken, logError } from '../ground/log.ts';
import type { SealedLine } from './archive.ts';
import type { Check } from './header.ts';
import type { Verify } from './pass.ts';
import type { Sealing } from './sealer.ts';
import { isTold, type Named, openCovered } from './standing.ts';
import { verifyTrail } from './verify.ts';

/** Milliseconds that are enough to write or to check the largest file. */
export const timeOfFile = 120_000;

/** @returns functions that verify a part, return the findings so far, and log them unless the last check has named all */
export function openInspection(
  { archive, signer, source }: Sealing,
  now: Date,
  { before, isOver }: { before: Check | null; isOver: () => boolean },
) {
  const named: Named[] = [];
  let found = 0;
  const note = (finding: Named) => {
    found += 1;
    if (named.length < maxLogged) named.push(finding);
  };
  const trail = { archive, publicKey: signer.publicKey };
  const covered = openCovered(before, { ...trail, source });
  const common = {
    ...{ ...trail, source, now: now.getTime(), isOver },
    seen: ({ item }: SealedLine) => covered.noteLine(item),
    compared: covered.noteItem,
  };
  const verify: Verify = async (part) => {
    const verified = await verifyTrail({ ...common, ...part }, note);
    covered.noteFiles({ first: part.first, last: verified.last });
    return verified;
  };
  const log = () => {
    if (!isTold(before, found, named)) logBroken(found, named);
  };
  return { verify, covered, findings: () => ({ found, named }), log };
}

/** The most findings that a log line names. */
const maxLogged = 20;

/** @param named the first of the faults */
export function logBroken(faults: number, named: readonly Named[]): void {
  logError(auditTrailBroken, {
    faults,
    findings: named.slice(0, maxLogged).map(({ kind, subject }) => ({ kind, subject })),
  });
}
