import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileName } from '../../lib/seal/header.ts';
import { counted, holds } from '../support/runs.ts';
import { headersOf, makeTrail, type TestTrail } from '../support/sealed-trail.ts';

const hour = 3_600_000;
const day = 24 * hour;

const retentionDays = 30;
const archiveDays = 60;

interface Kept extends TestTrail {
  /** When each file was written. */
  readonly written: Map<string, number>;
}

const newTrail = (): Kept =>
  Object.assign(makeTrail({ interval: 3600, retentionDays, archiveDays }), { written: new Map() });

const sealKept = async (trail: Kept): Promise<void> => {
  await trail.seal();
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
  await sealKept(trail);
};

/** Some steps, and a day with an entry at their end. */
const live = async (history: readonly Step[]): Promise<Kept> => {
  const trail = newTrail();
  await sealKept(trail);
  for (const done of history) await take(trail, done);
  trail.add();
  trail.now += day;
  await sealKept(trail);
  return trail;
};

const history = fc.array(step, { maxLength: 30, size: 'max' });

/** Files that must be in the archive: those that end after what may have left. */
const required = (trail: Kept) => {
  const left = new Date(trail.now - archiveDays * day).toISOString();
  return headersOf(trail).filter(({ until }) => until > left);
};

describe('A trail whose entries and files are deleted by a rule', () => {
  it('is intact, whichever of the deletable entries and files have been deleted', async () => {
    const run = counted(async (steps: readonly Step[]) => (await live(steps)).verify());

    await holds(
      300,
      fc.asyncProperty(history, async (steps) => {
        const { findings, waiting } = await run(steps);

        expect(findings).toEqual([]);
        expect(waiting).toBe(0);
      }),
    );
  });

  it('reports each entry that was deleted too early, even if its time to live was changed', async () => {
    const cases = fc.record({ steps: history, at: fc.nat(), isChanged: fc.boolean() });
    const run = counted(async ({ steps, at, isChanged }: ValueOf<typeof cases>) => {
      const trail = await live(steps);
      const from = required(trail)[0]?.from ?? '';
      const items = [...trail.source.items.values()].filter(
        ({ created_at, expires_at }) =>
          String(created_at) >= from && Number(expires_at) * 1000 > trail.now,
      );
      const item = items[at % items.length];
      const id = Number(item?.id);
      if (isChanged) trail.source.items.set(id, { ...item, expires_at: 1 });
      const whileThere = await trail.verify();
      trail.source.items.delete(id);
      const whenGone = await trail.verify();
      return { id, isChanged, whileThere, whenGone };
    });

    await holds(
      150,
      fc.asyncProperty(cases, async (each) => {
        const { id, isChanged, whileThere, whenGone } = await run(each);

        const told = (kind: string) => expect.objectContaining({ kind, subject: String(id) });
        expect(whileThere.findings).toEqual(isChanged ? [told('changed')] : []);
        expect(whenGone.findings).toEqual([told('deleted')]);
      }),
    );
  });

  it('reports each file that was deleted too early, except the newest file', async () => {
    const cases = fc.record({ steps: history, at: fc.nat() });
    const run = counted(async ({ steps, at }: ValueOf<typeof cases>) => {
      const trail = await live(steps);
      const files = required(trail).slice(0, -1);
      const gone = files[at % files.length];
      if (gone) trail.archive.files.delete(fileName(gone.number));
      const { findings } = await trail.verify();
      return { gone: gone?.number, findings };
    });

    await holds(
      150,
      fc.asyncProperty(cases, async (each) => {
        const { gone, findings } = await run(each);

        if (gone === undefined) return;
        expect(findings).toHaveLength(1);
        expect(findings[0]?.kind).toBe('missing');
        const [first, last = first] = (findings[0]?.subject.match(/(?<!\()\b\d+\b/g) ?? []).map(
          Number,
        );
        expect(gone >= Number(first) && gone <= Number(last)).toBe(true);
      }),
    );
  });
});
