import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keptSince } from '../../lib/audit/retention.ts';
import { beginning, isDigestName, timeInName } from '../../lib/seal/digest.ts';
import { sealWindows } from '../../lib/seal/sealer.ts';
import { type Finding, isFault } from '../../lib/seal/verification.ts';
import { counted, holds } from '../support/runs.ts';
import { makeTrail, type Trail, verifyOf } from '../support/sealed-trail.ts';

const hour = 3_600_000;
const day = 24 * hour;

const retentionDays = 30;
const archiveDays = 60;

interface Kept extends Trail {
  /** When each file was written. */
  readonly written: Map<string, number>;
}

const newTrail = (): Kept =>
  Object.assign(makeTrail({ interval: 3600, retentionDays, archiveDays }), { written: new Map() });

const seal = async (trail: Kept): Promise<void> => {
  await sealWindows(trail, new Date(trail.now));
  for (const name of trail.archive.files.keys()) {
    if (!trail.written.has(name)) trail.written.set(name, trail.now);
  }
};

/** Which of those that may go are gone: deletion by rule comes late, and in no order. */
type Choice = (index: number) => boolean;

/** What DynamoDB does of itself. */
const sweep = ({ source, now }: Kept, isChosen: Choice): void => {
  for (const [index, [id, item]] of [...source.items].entries()) {
    if (Number(item.expires_at) * 1000 <= now && isChosen(index)) source.items.delete(id);
  }
};

/** What the rule of the bucket does. */
const leave = ({ archive, written, now }: Kept, isChosen: Choice): void => {
  for (const [index, name] of [...archive.files.keys()].entries()) {
    const age = now - (written.get(name) ?? now);
    if (age >= archiveDays * day && isChosen(index)) archive.files.delete(name);
  }
};

const bits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const choiceOf =
  (chosen: bigint): Choice =>
  (index) =>
    (chosen >> BigInt(index % 64)) % 2n === 1n;

const step = fc.oneof(
  fc.record({ kind: fc.constant('entries' as const), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: hour, max: 20 * day }) }),
  fc.record({ kind: fc.constant('sweep' as const), chosen: bits }),
  fc.record({ kind: fc.constant('leave' as const), chosen: bits }),
);
type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Step = ValueOf<typeof step>;

const take = async (trail: Kept, done: Step): Promise<void> => {
  if (done.kind === 'entries') for (let i = 0; i < done.count; i += 1) trail.add({ user_id: i });
  if (done.kind === 'time') trail.now += done.ms;
  if (done.kind === 'sweep') sweep(trail, choiceOf(done.chosen));
  if (done.kind === 'leave') leave(trail, choiceOf(done.chosen));
  // Never longer than the rule of the bucket waits: of an archive that is gone nothing can be told.
  await seal(trail);
};

/** Some steps, and a day with an entry at their end. */
const live = async (history: readonly Step[]): Promise<Kept> => {
  const trail = newTrail();
  await seal(trail);
  for (const done of history) await take(trail, done);
  trail.add();
  trail.now += day;
  await seal(trail);
  return trail;
};

const verify = (trail: Kept) => verifyOf(trail);

const kindsOf = (findings: readonly Finding[], subject: string) =>
  findings.filter((finding) => finding.subject === subject).map(({ kind }) => kind);

const history = fc.array(step, { maxLength: 30, size: 'max' });

/** Digests of windows that must be in the archive. */
const requiredDigests = ({ archive, now }: Kept): readonly string[] => {
  const names = [...archive.files.keys()].filter(isDigestName).sort();
  const bound = keptSince(archiveDays, now) ?? beginning;
  const first = names.findLast((name) => timeInName(name) <= bound) ?? '';
  return names.filter((name) => name >= first);
};

/** When a window began, as far as the digests before it that are still there tell. */
const beginOf = ({ archive }: Kept, name: string): string => {
  const before = [...archive.files.keys()].filter((each) => isDigestName(each) && each < name);
  const last = archive.files.get(before.sort().at(-1) ?? '');
  return last ? JSON.parse(last.toString()).until : beginning;
};

describe('A trail whose entries and windows leave by rule', () => {
  it('is intact, whichever of those have left that may', async () => {
    const run = counted(async (steps: readonly Step[]) => verify(await live(steps)));

    await holds(
      300,
      fc.asyncProperty(history, async (steps) => {
        const { findings, unsealed } = await run(steps);

        expect(findings.filter(isFault)).toEqual([]);
        expect(unsealed).toBe(0);
      }),
    );
  });

  it('shows each entry that left before its time, also where its time was changed', async () => {
    const cases = fc.record({ steps: history, at: fc.nat(), isChanged: fc.boolean() });
    const run = counted(async ({ steps, at, isChanged }: ValueOf<typeof cases>) => {
      const trail = await live(steps);
      const bound = timeInName(requiredDigests(trail)[0] ?? '');
      const items = [...trail.source.items.values()].filter(
        ({ created_at, expires_at }) =>
          String(created_at) >= bound && Number(expires_at) * 1000 > trail.now,
      );
      const item = items[at % items.length];
      const id = Number(item?.id);
      if (isChanged) trail.source.items.set(id, { ...item, expires_at: 1 });
      const whileThere = await verify(trail);
      trail.source.items.delete(id);
      return { id: String(id), isChanged, whileThere, whenGone: await verify(trail) };
    });

    await holds(
      150,
      fc.asyncProperty(cases, async (each) => {
        const { id, isChanged, whileThere, whenGone } = await run(each);

        expect(kindsOf(whileThere.findings, id)).toEqual(isChanged ? ['changed'] : []);
        expect(kindsOf(whenGone.findings, id)).toEqual(['deleted']);
        expect(whenGone.findings.filter(isFault)).toHaveLength(1);
      }),
    );
  });

  it('shows each window that left before its time, but the newest', async () => {
    const cases = fc.record({ steps: history, at: fc.nat() });
    const run = counted(async ({ steps, at }: ValueOf<typeof cases>) => {
      const trail = await live(steps);
      const names = requiredDigests(trail).slice(0, -1);
      const name = names[at % names.length] ?? '';
      trail.archive.files.delete(name);
      return { begin: beginOf(trail, name), ...(await verify(trail)) };
    });

    await holds(
      150,
      fc.asyncProperty(cases, async (each) => {
        const { begin, findings } = await run(each);

        const missing = findings.filter(({ kind }) => kind === 'missing');
        expect(missing.map(({ subject }) => subject)).toEqual([begin]);
      }),
    );
  });
});
