import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { judgeShownKey } from '../../infra/operator/sealed-trail.ts';
import { isDigestName } from '../../lib/seal/digest.ts';
import { folderArchive } from '../../lib/seal/folder.ts';
import { type Item, idText } from '../../lib/seal/line.ts';
import { sealWindows } from '../../lib/seal/sealer.ts';
import { isBehind, isFault } from '../../lib/seal/verification.ts';
import { pythonProgram } from '../support/python.ts';
import { counted, seed } from '../support/runs.ts';
import { makeTrail, type Trail, verifyOf } from '../support/sealed-trail.ts';
import { formatCases, trailOf } from './format-cases.ts';
import { hostile, put } from './hostile-items.ts';
import { tamperedCases } from './tampered-cases.ts';
import { copy, sound, withAll, withEntries, withFiles, withKey } from './tampering.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

const folder = mkdtempSync(join(tmpdir(), 'verifiers-'));
afterAll(() => rmSync(folder, { recursive: true }));

const publicPem = sound.signer.publicKey.export({ type: 'spki', format: 'pem' });

/** A value as the API of DynamoDB has it. */
const storedValue = (value: unknown): unknown => {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  return value === null ? { NULL: true } : value;
};

/** An item as the API of DynamoDB has it, index keys included, for a verifier by the document alone. */
const storedForm = (item: Item) =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, storedValue(value)]));

const write = (trail: Trail, name: string): string => {
  const archive = join(folder, name);
  mkdirSync(archive);
  for (const [file, content] of trail.archive.files) writeFileSync(join(archive, file), content);
  const items = [...trail.source.items.values()].map(
    (item) => `${JSON.stringify(storedForm(item))}\n`,
  );
  writeFileSync(join(archive, 'items.ndjson'), items.join(''));
  writeFileSync(join(archive, 'public-key.pem'), publicPem);
  return archive;
};

/** Trails to which something was done, from the seed of all properties. */
const tampered = async (): Promise<readonly Trail[]> => {
  const any = fc.oneof(...withEntries, ...withFiles, ...withAll, ...withKey);
  const all = fc.sample(fc.array(any, { maxLength: 2 }), { seed, numRuns: 150 });
  return Promise.all(
    all.map(async (some) => {
      const trail = copy(sound);
      for (const deed of some) await deed(trail);
      return trail;
    }),
  );
};

/** Trails in whose table an entry each is missing, of some days ago, that was there for 30 days. */
const expiring = async (): Promise<readonly Trail[]> => {
  const days = 45;
  const start = sound.now - days * day;
  const made = makeTrail({ interval: 3600, retentionDays: 30 });
  const trail = Object.assign(made, { signer: sound.signer, now: start });
  for (let i = 0; i < days; i += 1) {
    trail.add();
    trail.now += day;
    await sealWindows(trail, new Date(trail.now));
  }
  const ids = [...trail.source.items.keys()];
  return [44, 31, 30, 29, 1].map((age) => {
    const left = copy(trail);
    left.source.items.delete(ids[days - age] ?? 0);
    return left;
  });
};

const preparePython = () =>
  pythonProgram('python', {
    requirements: 'test/properties/verify_archive.txt',
    folder: 'node_modules/.cache/python',
  });

/** Whether an archive with its table is intact, and if not, whether only index keys are wrong. */
type Verdict = 'intact' | 'hidden' | 'broken';

interface Verifying {
  /** Whether the service runs, so that its newest digest must be recent. */
  readonly isRunning?: boolean;
}

const verdictOf = (output: string): Verdict => {
  if (output === 'intact') return output;
  return output.startsWith('index keys') ? 'hidden' : 'broken';
};

/** The verdict of the verifier in Python on each of some folders. */
const verifyInPython = (
  folders: readonly string[],
  { isRunning = false }: Verifying = {},
): readonly Verdict[] => {
  const key = join(folder, 'public-key.pem');
  writeFileSync(key, publicPem);
  const options = ['test/properties/verify_archive.py', ...(isRunning ? ['--running'] : [])];
  const args = [...options, key, String(Math.trunc(sound.now / 1000)), ...folders];
  const output = execFileSync(preparePython(), args, { encoding: 'utf8' });
  return output.trimEnd().split('\n').map(verdictOf);
};

/** The verdict of our own verifier on a folder, with the table of a trail. */
const verifyHere = async (
  trail: Trail,
  path: string,
  { isRunning = false }: Verifying = {},
): Promise<Verdict> => {
  const [archive, { publicKey }] = [folderArchive(path), trail.signer];
  const { findings, newest } = await verifyOf(trail, { archive });
  const faults = findings.filter(isFault).map(({ kind }) => kind);
  const isOld = isRunning && newest && isBehind(newest, { now: trail.now });
  const shown = judgeShownKey({ archive, publicKey, folder: path, isLive: isRunning });
  if (!newest || isOld || shown || faults.some((kind) => kind !== 'hidden')) return 'broken';
  return faults.length > 0 ? 'hidden' : 'intact';
};

it.each([
  ['the document’s rules', formatCases],
  ['tampering', tamperedCases],
])('Both verifiers say of each case of %s whether it is intact', async (kind, cases) => {
  const ours: Record<string, Verdict> = {};
  const folders: string[] = [];
  for (const [i, each] of cases.entries()) {
    const trail = await trailOf(each);
    const path = write(trail, `${kind} ${i}`);
    each.onDisk?.(path, [...trail.archive.files.keys()].filter(isDigestName).sort());
    ours[each.title] = await verifyHere(trail, path);
    folders.push(path);
  }
  const verdicts = verifyInPython(folders);
  const theirs = Object.fromEntries(cases.map(({ title }, i) => [title, verdicts[i]]));

  const expected = Object.fromEntries(
    cases.map(({ title, isIntact, isHidden }) => {
      const verdict = isHidden ? 'hidden' : 'intact';
      return [title, isIntact ? verdict : 'broken'];
    }),
  );
  expect({ ours, theirs }).toEqual({ ours: expected, theirs: expected });
});

it('A verifier in another language, by the document alone, agrees on what is intact', async () => {
  const trails = [...(await tampered()), ...(await expiring())];
  const folders = trails.map((trail, i) => write(trail, String(i)));
  const verify = counted(([trail, path]: readonly [Trail, string]) =>
    verifyHere(trail, path, { isRunning: true }),
  );
  const ours: Verdict[] = [];
  for (const [i, trail] of trails.entries()) ours.push(await verify([trail, folders[i] ?? '']));

  const theirs = verifyInPython(folders, { isRunning: true });

  expect(theirs).toEqual(ours);
  expect(ours.slice(-5)).toEqual(['intact', 'intact', 'intact', 'broken', 'broken']);
  expect(new Set(ours)).toEqual(new Set(['intact', 'hidden', 'broken']));
});

it('Both verifiers write the same line of each of 400 hostile items', async () => {
  const trail = Object.assign(makeTrail(), { signer: sound.signer, now: sound.now - 40 * minute });
  const items = fc.sample(hostile, { seed, numRuns: 400 });
  for (let window = 0; window < 40; window += 1) {
    for (const item of items.slice(window * 10, (window + 1) * 10)) put(trail, item);
    trail.now += minute;
    await sealWindows(trail, new Date(trail.now));
  }
  const { findings } = await verifyOf(trail);
  // The sealer cannot have sealed these in their time.
  const inserted = findings.filter(({ kind }) => kind === 'inserted').map(({ subject }) => subject);
  for (const [key, { id }] of trail.source.items) {
    if (inserted.includes(idText(id))) trail.source.items.delete(key);
  }
  const path = write(trail, 'hostile');

  expect(trail.source.items.size).toBeGreaterThan(200);
  expect([await verifyHere(trail, path), ...verifyInPython([path])]).toEqual(['hidden', 'hidden']);
});
