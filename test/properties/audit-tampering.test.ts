import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { folderArchive } from '../../lib/seal/folder.ts';
import { numberOf } from '../../lib/seal/header.ts';
import type { Verification } from '../../lib/seal/verify.ts';
import { folderForThisTest } from '../support/folder.ts';
import { counted, holds } from '../support/runs.ts';
import {
  copyOf,
  makeTrail,
  type Outcome,
  type TestTrail,
  verifyAll,
} from '../support/sealed-trail.ts';
import { type SealCase, sealCases, sound } from './seal-cases.ts';

/** The archive of a trail in a folder. */
const writeArchive = ({ archive }: TestTrail, onDisk: (folder: string) => void): string => {
  const base = folderForThisTest();
  const folder = join(base, 'archive');
  mkdirSync(folder);
  for (const [name, content] of archive.files) writeFileSync(join(folder, name), content);
  onDisk(folder);
  return folder;
};

/** An outcome in the words of the cases. */
const toldBy = ({ findings, waiting }: Outcome): readonly string[] => [
  ...findings.map(({ kind, subject }) => `${kind} ${subject.replace(/ \(.*/, '')}`),
  ...(waiting > 0 ? [`waits ${waiting}`] : []),
];

const verify = async ({ change, onDisk }: SealCase) => {
  const trail = copyOf(sound);
  await change(trail);
  return trail.verify(onDisk ? { archive: folderArchive(writeArchive(trail, onDisk)) } : {});
};

it.each(sealCases)(
  'Verification tells what was done, once, and nothing else: $title',
  async (each) => {
    const outcome = await verify(each);

    expect(toldBy(outcome).toSorted()).toEqual((each.told ?? []).toSorted());
  },
);

const minute = 60_000;

/** What happens before anybody does anything, run by run. */
const history = fc.array(
  fc.record({
    entries: fc.array(fc.integer({ min: 0, max: 9 * minute }), { maxLength: 4 }),
    replayed: fc.array(fc.integer({ min: 0, max: 300 * minute }), { maxLength: 2 }),
    after: fc.integer({ min: 1, max: 8 * minute }),
  }),
  { minLength: 2, maxLength: 15, size: 'max' },
);
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

const live = async (runs: History): Promise<TestTrail> => {
  const trail = Object.assign(makeTrail(), { size: 3 });
  for (let entry = 0; entry < 5; entry += 1) trail.add();
  for (const { entries, replayed, after } of runs) {
    for (const lag of entries) trail.source.lagging.set(trail.add(), trail.now + lag);
    if (replayed.length > 0) trail.replay(replayed.map((age) => trail.now - age));
    await trail.seal(after);
  }
  await trail.seal(11 * minute);
  return trail;
};

const deed = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom('change', 'delete', 'insert', 'take a file', 'flip a bit'),
});
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never;

/** The number of the file that has the first line of each entry. */
const filesOf = async (trail: TestTrail): Promise<ReadonlyMap<string, number>> => {
  const files = new Map<string, number>();
  const { archive, signer } = trail;
  const seen: Verification['seen'] = ({ item }, number) => {
    if (!files.has(String(item.id))) files.set(String(item.id), number);
  };
  await verifyAll({ archive, publicKey: signer.publicKey, seen });
  return files;
};

/** Does it to an entry. @returns what is to be told, if its file can be read */
const toEntry = (
  { source, now }: TestTrail,
  ids: readonly string[],
  { kind, at }: Deed,
): string => {
  const id = Number(ids[at % ids.length]);
  const item = source.items.get(id) ?? {};
  if (kind === 'delete') source.items.delete(id);
  if (kind === 'change' && item.id) source.items.set(id, { ...item, details: `${item.details}x` });
  if (kind !== 'insert') return `${source.items.has(id) ? 'changed' : 'deleted'} ${id}`;
  const made = makeTrail({ now: now - (at % 1000) * minute - 20 * minute });
  const forged = made.add({ action: 'DELETE' });
  source.items.set(forged, made.source.items.get(forged) ?? {});
  return `inserted ${forged}`;
};

/** Does it to a file. @returns its number */
const toFile = ({ archive: { files } }: TestTrail, { kind, at }: Deed): number => {
  const names = [...files.keys()];
  const name = names[at % names.length] ?? '';
  const content = Buffer.from(files.get(name) ?? '');
  const place = at % content.length;
  content.writeUInt8(content.readUInt8(place) ^ (1 << (at % 8)), place);
  if (kind === 'take a file') files.delete(name);
  else files.set(name, content);
  return Number(numberOf(name));
};

/** The numbers of the files of which something is told. */
const filesTold = ({ findings }: Outcome): ReadonlySet<number> =>
  new Set(
    findings.flatMap(({ subject, count }) => {
      const first = Number(/(?<=^files? )\d+/.exec(subject)?.[0]);
      return Array.from({ length: count ?? 0 }, (_, i) => first + i);
    }),
  );

const tamper = counted(async ([runs, deeds]: readonly [History, readonly Deed[]]) => {
  const trail = await live(runs);
  const places = await filesOf(trail);
  const isOfFile = ({ kind }: Deed) => kind === 'take a file' || kind === 'flip a bit';
  const touched = new Map(
    deeds
      .filter((each) => !isOfFile(each))
      .map((each) => {
        const told = toEntry(trail, [...places.keys()], each);
        return [told.replace(/.* /, ''), told];
      }),
  );
  const before = new Map(trail.archive.files);
  for (const each of deeds.filter(isOfFile)) if (trail.archive.files.size > 0) toFile(trail, each);
  const files = [...before].filter(
    ([name, content]) => !trail.archive.files.get(name)?.equals(content),
  );
  const numbers = new Set(files.map(([name]) => Number(numberOf(name))));
  const all = [...before.keys()].map((name) => Number(numberOf(name)));
  const newest = Math.max(0, ...all.filter((number) => !numbers.has(number)));
  return { touched, numbers, places, newest, outcome: await trail.verify() };
});

it('Whatever is done to entries and files of any trail is told, and nothing else is', async () => {
  await holds(
    400,
    fc.asyncProperty(fc.tuple(history, fc.array(deed, { maxLength: 4 })), async (each) => {
      const { touched, numbers, places, newest, outcome } = await tamper(each);
      const told = toldBy(outcome).filter((text) => !/ files? |waits/.test(text));
      const isReadable = (id: string) => !numbers.has(places.get(id) ?? 0);
      const wanted = [...touched].filter(([id]) => isReadable(id)).map(([, text]) => text);
      const missed = [...numbers].filter((number) => !filesTold(outcome).has(number));

      // Entries that may be in a file that cannot be read are counted. Only who remembers them misses
      // files behind the newest one that is left.
      const isClear = (text: string) => numbers.size === 0 || !text.startsWith('inserted');
      expect(told).toEqual(expect.arrayContaining(wanted.filter(isClear)));
      expect(missed.filter((number) => number < newest)).toEqual([]);
      if (numbers.size > 0) return;
      expect(told).toHaveLength(wanted.length);
      expect(filesTold(outcome).size).toBe(0);
    }),
  );
});
