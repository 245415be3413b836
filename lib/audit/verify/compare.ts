/** The entries of windows beside those of the table. */
import { linesOf } from '../archive/archive.ts';
import { beginning } from '../archive/digest.ts';
import {
  type Item,
  idText,
  lineOf,
  type SealedLine,
  sha256,
  wrongIndexKeys,
} from '../archive/line.ts';
import type { EntrySource } from '../archive/table.ts';
import { hasExpired } from '../retention.ts';
import { endOfTime, listAll } from './listing.ts';
import type { Seen, Snapshot } from './snapshot.ts';
import type { Finding, Verification } from './verification.ts';
import { readWindows, step, type Walk, type Window } from './walk.ts';

/** The table, and its part that a snapshot holds. */
export interface Compared {
  readonly source: EntrySource;
  readonly snapshot: Snapshot;
  readonly from: string;
  readonly until: string;
  readonly now: number | undefined;
}

/** Fills a snapshot. @returns how many entries are too old for it */
export async function* takeSnapshot(
  { source, entriesBetween, progress }: Verification,
  { snapshot, from, until }: Compared,
): AsyncGenerator<Finding, number> {
  let count = 0;
  let older = 0;
  for await (const item of entriesBetween?.(from, until) ?? source?.all() ?? []) {
    const time = String(item.created_at);
    if (from !== beginning && time < from) {
      older += 1;
      continue;
    }
    if (until !== endOfTime && time >= until) continue;
    snapshot.add(item);
    count += 1;
    progress?.(undefined, count);
    const wrong = wrongIndexKeys(item);
    if (wrong.length > 0) {
      yield { kind: 'hidden', subject: idText(item.id), before: wrong.join(', ') };
    }
  }
  return older;
}

export const itemOf = async (source: EntrySource, id: unknown): Promise<Item | undefined> =>
  Number.isSafeInteger(id) ? (await source.byIds([Number(id)]))[0] : undefined;

/** An entry of a line as the table has it now; undefined when it is not there. */
const storedLine = async (
  { source, from, until, now = Date.now() }: Compared,
  sealed: SealedLine,
  found: Seen | undefined,
): Promise<string | undefined> => {
  const isWhole = from === beginning && until === endOfTime;
  const time = String(sealed.created_at);
  const isHeld = time >= from && time < until;
  // Of a part, one whose time was changed is not in the snapshot; those that expired are many.
  if (!found && (isWhole || (isHeld && hasExpired(sealed, now)))) return undefined;
  const item = await itemOf(source, sealed.id);
  return item && lineOf(item);
};

export async function* compareLine(
  compared: Compared,
  sealed: SealedLine,
  walk: Walk,
): AsyncGenerator<Finding> {
  const { snapshot, now = Date.now() } = compared;
  const { id, line: before } = sealed;
  const subject = idText(id);
  const found = snapshot.find(id);
  snapshot.meet(id);
  if (found?.hash === sha256(before).toString('hex')) return;
  const after = await storedLine(compared, sealed, found);
  if (after !== undefined) {
    if (after !== before) yield { kind: 'changed', subject, before, after };
  } else if (hasExpired(sealed, now)) walk.expired += 1;
  else yield { kind: 'deleted', subject, before };
}

async function* lateLinesOf({ digest, content }: Window): AsyncGenerator<SealedLine> {
  const isWanted = typeof digest === 'object' && digest.entries.late > 0;
  for await (const line of isWanted && content ? linesOf(content) : []) if (line.late) yield line;
}

/** The windows after those that were asked for. */
async function* windowsAfter(verification: Verification, since: string): AsyncGenerator<Window> {
  yield* readWindows(verification, await listAll(verification.archive, { since }));
}

/** Meets entries that were sealed after the windows that were asked for. */
export const meetLater = async (
  verification: Verification,
  walk: Walk,
  { snapshot, until }: Compared,
): Promise<void> => {
  const [someUnmet] = until === endOfTime ? [] : snapshot.unmet();
  if (!someUnmet) return;
  for await (const window of windowsAfter(verification, until)) {
    for (const _ of step(walk, window));
    for await (const { id, line } of lateLinesOf(window)) {
      if (snapshot.find(id)?.hash === sha256(line).toString('hex')) snapshot.meet(id);
    }
  }
};
