/** A whole check of the archive, part by part, beside the ordinary checks (lib/seal/README.md, Checks). */
import { Overtaken } from '../dynamodb/client.ts';
import { namedError } from '../ground/errors.ts';
import { numbersIn } from './archive.ts';
import type { Check, SignedHeader } from './header.ts';
import { openInspection, timeOfFile } from './inspection.ts';
import { firstPart } from './parts.ts';
import { defaultLines } from './pass.ts';
import type { Sealing } from './sealer.ts';
import { findingsOf, mayHaveUnnamed, unnamedBeside, unnamedIn } from './standing.ts';
import type { WholeCheck } from './whole-check.ts';

/** Milliseconds for which a run goes on with a whole check. */
const wholeTime = 240_000;

/** The most files of a part, because each takes two requests even if it has no lines. */
const mostFiles = 20_000;

/** How many parts in a row may be begun and not finished. Each has half as many lines as the one before. */
const mostAttempts = 10;

interface Run {
  /** The newest file, whose outcome of the last check gets the findings. */
  readonly newest: SignedHeader;
  /** Milliseconds that the run has left. */
  readonly remaining: () => number;
  /** Writes one more file, with an outcome. */
  readonly keep: (outcome: Check) => Promise<unknown>;
}

/**
 * Goes on with the whole check that an admin has requested, if there is one and time for it: checks the next part of
 * its files, and adds the findings to the outcome of the last check.
 * @throws the errors of stores and signer; Error `OutOfTime`, after which the next run checks a smaller part
 */
export async function goOnWithWhole(sealing: Sealing, now: Date, run: Run): Promise<void> {
  const { whole: store } = sealing;
  const open = await store?.read();
  const left = timeLeft(run);
  const { check: before } = run.newest;
  // The first outcome comes from an ordinary check.
  if (!store || !before || !open || open.ended_at !== null || left() < timeOfFile) return;
  try {
    await checkNextPart(sealing, now, { ...run, store, before, open, left });
  } catch (error) {
    // Another run has gone on with it, or an admin has requested another one.
    if (!(error instanceof Overtaken)) throw error;
  }
}

/** Of the time that a run has left, enough stays for one more file. */
function timeLeft({ remaining }: Run): () => number {
  const end = performance.now() + wholeTime;
  return () => Math.min(remaining() - timeOfFile, end - performance.now());
}

interface Going extends Run {
  readonly store: NonNullable<Sealing['whole']>;
  readonly before: Check;
  readonly open: WholeCheck;
  /** Milliseconds until the run no longer reads for the whole check. */
  readonly left: () => number;
}

async function checkNextPart(sealing: Sealing, now: Date, going: Going): Promise<void> {
  const { archive, signer } = sealing;
  const { store, open, newest } = going;
  const last = open.last ?? newest.number;
  const files = await numbersIn({ archive, publicKey: signer.publicKey }, open.first, last);
  const plan = { ...open, last, of: open.checked + files.length };
  const ended_at = now.toISOString();
  if (files.length === 0 || open.attempts >= mostAttempts) {
    await store.write({ ...plan, ended_at });
    return;
  }
  // The attempt is counted before it begins, because the process may be ended meanwhile.
  const begun = await store.write({ ...plan, attempts: open.attempts + 1 });
  const reached = await checkPart(sealing, now, going, files);
  const checked = open.checked + files.filter((number) => number <= reached).length;
  const isWhole = checked === plan.of;
  const progress = { first: reached + 1, checked, attempts: 0 };
  await store.write({ ...begun, ...progress, ended_at: isWhole ? ended_at : null });
}

/** Checks the first of some files, and keeps the findings. @returns the number of the last file that was checked */
async function checkPart(
  sealing: Sealing,
  now: Date,
  { open, left, keep, before }: Going,
  files: readonly number[],
): Promise<number> {
  const limited = { ...sealing, ...whileLeft(left, sealing) };
  const trail = { archive: limited.archive, publicKey: sealing.signer.publicKey };
  const isOver = () => left() < timeOfFile;
  const inspection = openInspection(limited, now, { before, isOver });
  const most = (count: number) => Math.ceil(count / 2 ** open.attempts);
  const lines = most(sealing.checked ?? defaultLines);
  const part = await firstPart(trail, files, lines, most(mostFiles));
  const [first = 1] = part;
  const { last } = await inspection.verify({ first, last: part.at(-1) });
  inspection.log();
  const { covered } = inspection;
  const own = inspection.findings();
  const pass = { begun: { at: open.asked_at } };
  const unnamed = unnamedBesideWhole(before, own, { since: open.asked_at, last });
  const found = await findingsOf({ before, covered, now, pass }, { ...own, unnamed });
  const outcome = { ...before, ...found };
  if (JSON.stringify(outcome) !== JSON.stringify(before)) await keep(outcome);
  // Files may have left the archive meanwhile.
  return Math.max(first, last);
}

/** An archive and a table that can be read while there is time. Their methods throw Error `OutOfTime`. */
function whileLeft(
  left: () => number,
  { archive, source }: Sealing,
): Pick<Sealing, 'archive' | 'source'> {
  const requireTime = () => {
    if (left() < 0) throw namedError('OutOfTime');
  };
  return {
    archive: {
      ...archive,
      read: (...range) => {
        requireTime();
        return archive.read(...range);
      },
    },
    source: {
      ...source,
      async *between(...range) {
        for await (const item of source.between(...range)) {
          requireTime();
          yield item;
        }
      },
      byIds: (ids) => {
        requireTime();
        return source.byIds(ids);
      },
    },
  };
}

/**
 * How many findings are not named, and are not among the findings of a part.
 * @param since when the whole check was requested @param last the number of the last file of the part
 */
function unnamedBesideWhole(
  before: Check,
  own: Parameters<typeof unnamedBeside>[1],
  { since, last }: { since: string; last: number },
): number {
  // The whole check comes to the findings of earlier checks again.
  if (!mayHaveUnnamed(before, since)) return 0;
  // Where an ordinary check has looked meanwhile, it may have had the same findings.
  const isAlone = before.at < since || last < before.first;
  return isAlone ? unnamedIn(before) : unnamedBeside(before, own);
}
