/** A second verifier, which knows only lib/seal/README.md, finds what ours finds. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { folderArchive } from '../../lib/seal/folder-archive.ts';
import { fileName, fingerprintOf, numberOf } from '../../lib/seal/header.ts';
import type { Item } from '../../lib/seal/line.ts';
import { folderForThisFile } from '../support/folder.ts';
import { seed } from '../support/runs.ts';
import { copyOf, makeTrail, type Outcome, type TestTrail } from '../support/sealed-trail.ts';
import { share } from '../support/share.ts';
import { hostile, put } from './hostile-items.ts';
import { sealCases, sound } from './seal-cases.ts';

const minute = 60_000;
const day = 86_400_000;
const base = folderForThisFile();

/** The output of the other verifier. A finding is the number of a rule of lib/seal/README.md, and a file or an id. */
interface Told {
  readonly findings: readonly (readonly [number, number | string])[];
  /** The numbers of the files with a good header. */
  readonly good: readonly number[];
  readonly waiting: number;
  readonly unproven: number;
}

interface Case {
  readonly title: string;
  readonly ours: Outcome;
  /** The numbers in the names of all files. */
  readonly numbers: readonly number[];
  readonly args: readonly string[];
}

/** An item in DynamoDB's own JSON. */
const storedItem = (item: Item) =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      if (value === null) return [name, { NULL: true }];
      if (typeof value === 'number') return [name, { N: String(value) }];
      return [name, typeof value === 'string' ? { S: value } : value];
    }),
  );

/** Writes a trail to a folder, and verifies it there with ours. */
const caseOf = async (
  title: string,
  trail: TestTrail,
  onDisk: (folder: string) => void = () => undefined,
): Promise<Case> => {
  const place = mkdtempSync(join(base, 'case-'));
  const [folder, table] = [join(place, 'archive'), join(place, 'table.ndjson')];
  // Each key has one file, by whose path the other verifier remembers which signatures it has checked: a check is slow.
  const key = join(base, `${fingerprintOf(trail.signer.publicKey)}.pem`);
  mkdirSync(folder);
  for (const [name, content] of trail.archive.files) writeFileSync(join(folder, name), content);
  onDisk(folder);
  writeFileSync(key, trail.signer.publicKey.export({ type: 'spki', format: 'pem' }));
  const items = [...trail.source.items.values()];
  writeFileSync(table, items.map((item) => `${JSON.stringify(storedItem(item))}\n`).join(''));
  return {
    title,
    ours: await trail.verify({ archive: folderArchive(folder) }),
    numbers: [...trail.archive.files.keys()].map(numberOf).filter((number) => number !== undefined),
    args: [folder, key, new Date(trail.now).toISOString(), table],
  };
};

const range = (first: number, last: number) =>
  Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => first + i);

/** Our findings, one for each file. The other verifier does not tell unsigned files from foreign ones. */
const tellOurs = ({ ours: { findings, waiting, unproven } }: Case) => {
  const words = findings.flatMap(({ kind, subject, count }) => {
    if (count === undefined) return [`${kind} ${subject}`];
    const first = Number(/\d+/.exec(subject)?.[0]);
    const told = kind === 'unsigned' ? 'foreign' : kind;
    return range(first, first + count - 1).map((number) => `${told} ${number}`);
  });
  return { findings: words.toSorted(), waiting, unproven };
};

const words = ['', 'foreign', 'missing', 'altered', 'changed', 'changed', 'deleted', 'inserted'];

/**
 * The findings of the other verifier in our words. Like ours, they then name each missing file, and have only one
 * finding for each entry.
 */
const tellOther = ({ numbers }: Case, { findings, good, waiting, unproven }: Told) => {
  const told = findings.flatMap(([rule, subject]) => {
    if (rule !== 2) return [`${words[rule]} ${subject}`];
    const number = Number(subject);
    const before = good.filter((each) => each < number).at(-1) ?? 0;
    const between = numbers.filter((each) => each > before && each < number).length;
    // Files that are reported without a good header may be the missing ones.
    if (between > 0 && number - before - 1 <= between) return [];
    const last = Math.max(number - 1, 1);
    return range(Math.min(before + 1, last), last).map((each) => `missing ${each}`);
  });
  const once = [...new Set(told)].filter(
    (text) => !told.includes(text.replace(/^deleted /, 'changed ')) || !text.startsWith('deleted'),
  );
  return { findings: once.toSorted(), waiting, unproven };
};

/** One process verifies all. */
const verifyOther = (cases: readonly Case[]): readonly Told[] => {
  const input = cases.map(({ args }) => `${JSON.stringify(args)}\n`).join('');
  const script = 'test/properties/verify_archive.py';
  const printed = execFileSync('python3', [script], { input, maxBuffer: 2 ** 28 }).toString();
  return printed
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
};

/** The format leaves open which entries count in a file that the key has signed but whose lines are not valid. */
const isOpen = ({ title, ours }: Case) =>
  title.startsWith('signed by the real key') &&
  ours.findings.some(({ kind }) => kind === 'altered');

const compare = (cases: readonly Case[]): void => {
  const others = verifyOther(cases);
  const told = (tell: (each: Case, at: number) => object) =>
    cases.map((each, at) => ({
      title: each.title,
      ...tell(each, at),
      ...(isOpen(each) ? { unproven: 'open' } : {}),
    }));
  const isIntact = ({ findings }: { readonly findings: readonly unknown[] }) =>
    findings.length === 0;

  expect(others).toHaveLength(cases.length);
  expect(others.map(isIntact)).toEqual(cases.map(({ ours }) => isIntact(ours)));
  expect(told((each, at) => tellOther(each, others[at] as Told))).toEqual(told(tellOurs));
};

it('Both verifiers find the same in each case of tampering that a folder and a table can show', async () => {
  const cases: Case[] = [];
  for (const { title, change, onDisk } of sealCases) {
    const trail = copyOf(sound);
    await change(trail);
    // A folder has no versions.
    if (trail.archive.altered.size === 0) cases.push(await caseOf(title, trail, onDisk));
  }

  console.log(`${cases.length} of ${sealCases.length} cases`);
  compare(cases);
});

const deed = fc.record({
  kind: fc.constantFrom('take a file', 'empty a file', 'flip a bit', 'change', 'delete', 'forge'),
  at: fc.nat(),
});
const life = fc.record({
  interval: fc.constantFrom(60, 300, 3600),
  retentionDays: fc.constantFrom(0, 30),
  archiveDays: fc.constantFrom(0, 1, 40),
  runs: fc.array(
    fc.record({
      entries: fc.integer({ min: 0, max: 3 }),
      lag: fc.integer({ min: 0, max: 9 * minute }),
      replayed: fc.array(fc.integer({ min: 0, max: 300 * minute }), { maxLength: 2 }),
      hostile: fc.array(hostile, { maxLength: 2 }),
      after: fc.oneof(
        fc.integer({ min: minute, max: 90 * minute }),
        fc.integer({ min: day, max: 20 * day }),
      ),
      clock: fc.oneof(
        { weight: 4, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: -90 * minute, max: 90 * minute }) },
      ),
    }),
    { minLength: 3, maxLength: 14, size: 'max' },
  ),
  deeds: fc.array(deed, { maxLength: 5 }),
  last: fc.integer({ min: 0, max: 2 * 60 * minute }),
});
type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;

const tamper = (trail: TestTrail, { kind, at }: ValueOf<typeof deed>): void => {
  const { files } = trail.archive;
  const { items } = trail.source;
  const name = [...files.keys()][at % files.size] ?? fileName(1);
  const id = [...items.keys()][at % items.size] ?? 0;
  const file = Buffer.from(files.get(name) ?? 'x');
  if (kind === 'take a file') files.delete(name);
  if (kind === 'empty a file') files.set(name, Buffer.of());
  if (kind === 'flip a bit' && file.length > 0) {
    const place = at % file.length;
    file.writeUInt8(file.readUInt8(place) ^ (1 << (at % 8)), place);
    files.set(name, file);
  }
  if (kind === 'change') items.set(id, { ...items.get(id), result: 'x' });
  if (kind === 'delete') items.delete(id);
  if (kind === 'forge') trail.add({ action: 'DELETE' }, trail.now - (at % (5 * day)));
};

const live = async ({ runs, deeds, last, ...settings }: ValueOf<typeof life>) => {
  const trail = Object.assign(makeTrail(settings), { size: 3 });
  const now = () => trail.now;
  for (const { entries, lag, replayed, hostile: some, after, clock } of runs) {
    for (let entry = 0; entry < entries; entry += 1) {
      trail.source.lagging.set(trail.add({ user_id: entry }), now() + lag);
    }
    if (replayed.length > 0) trail.replay(replayed.map((age) => now() - age));
    for (const each of some) put(trail, each);
    trail.now += clock;
    await trail.seal(after);
    trail.now -= clock;
  }
  for (const each of deeds) tamper(trail, each);
  trail.now += last;
  return trail;
};

it('Both verifiers find the same in random trails with hostile items, some of them tampered with', async () => {
  const cases: Case[] = [];
  for (const [at, each] of fc.sample(life, { seed, numRuns: Math.ceil(30 * share) }).entries()) {
    cases.push(await caseOf(`trail ${at + 1}`, await live(each)));
  }

  const count = (kind: string) =>
    cases.flatMap(({ ours }) => ours.findings).filter((found) => found.kind === kind).length;
  console.log(
    ['foreign', 'missing', 'altered', 'changed', 'deleted', 'inserted']
      .map((kind) => `${kind} ${count(kind)}`)
      .join(', '),
  );
  compare(cases);
});
