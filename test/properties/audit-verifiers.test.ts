import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { isDigestName } from '../../lib/seal/digest.ts';
import { folderArchive } from '../../lib/seal/folder.ts';
import { type Item, lineOf } from '../../lib/seal/line.ts';
import { sealWindows } from '../../lib/seal/sealer.ts';
import { isFault } from '../../lib/seal/verification.ts';
import { pythonProgram } from '../support/python.ts';
import { counted, seed } from '../support/runs.ts';
import { makeTrail, type Trail, verifyOf } from '../support/sealed-trail.ts';
import { formatCases, trailOf } from './format-cases.ts';
import { copy, sound, withAll, withEntries, withFiles } from './tampering.ts';

const day = 86_400_000;

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
  const lines = [...trail.source.items.values()].map((item) => `${lineOf(item)}\n`);
  writeFileSync(join(archive, 'table.ndjson'), lines.join(''));
  const items = [...trail.source.items.values()].map(
    (item) => `${JSON.stringify(storedForm(item))}\n`,
  );
  writeFileSync(join(archive, 'items.ndjson'), items.join(''));
  writeFileSync(join(archive, 'public-key.pem'), publicPem);
  return archive;
};

/** Trails to which something was done, from the seed of all properties. */
const tampered = async (): Promise<readonly Trail[]> => {
  const deeds = fc.array(fc.oneof(...withEntries, ...withFiles, ...withAll), { maxLength: 2 });
  const all = fc.sample(deeds, { seed, numRuns: 150 });
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

/** Whether the other verifier calls each of some folders intact. */
const verifyInPython = (folders: readonly string[]): readonly boolean[] => {
  const key = join(folder, 'public-key.pem');
  writeFileSync(key, publicPem);
  const program = 'test/properties/verify_archive.py';
  const args = [program, key, String(Math.trunc(sound.now / 1000)), ...folders];
  const output = execFileSync(preparePython(), args, { encoding: 'utf8' });
  const verdicts = output.trimEnd().split('\n');
  return verdicts.map((verdict) => verdict === 'intact');
};

it('Both verifiers say of each case of the document’s rules whether it is intact', async () => {
  const ours: Record<string, boolean> = {};
  const folders: string[] = [];
  for (const [i, each] of formatCases.entries()) {
    const trail = await trailOf(each);
    const path = write(trail, `case-${i}`);
    each.onDisk?.(path, [...trail.archive.files.keys()].filter(isDigestName).sort());
    const { findings } = await verifyOf(trail, { archive: folderArchive(path) });
    // Index keys are not in lines, which are all that the other one has of the table.
    ours[each.title] = !findings.some((one) => isFault(one) && one.kind !== 'hidden');
    folders.push(path);
  }
  const verdicts = verifyInPython(folders);
  const theirs = Object.fromEntries(formatCases.map(({ title }, i) => [title, verdicts[i]]));

  const expected = Object.fromEntries(formatCases.map((each) => [each.title, each.isIntact]));
  expect({ ours, theirs }).toEqual({ ours: expected, theirs: expected });
});

it('A verifier in another language, by the document alone, agrees on what is intact', async () => {
  const trails = [...(await tampered()), ...(await expiring())];
  const verify = counted(async (trail: Trail) => {
    const { findings, windows } = await verifyOf(trail);
    // Keys of indexes are not in lines, which are all that the other one has of the table.
    const faults = findings.filter((each) => isFault(each) && each.kind !== 'hidden');
    return windows > 0 && faults.length === 0;
  });
  const ours: boolean[] = [];
  for (const trail of trails) ours.push(await verify(trail));

  const folders = trails.map((trail, i) => write(trail, String(i)));
  const theirs = verifyInPython(folders);

  expect(theirs).toEqual(ours);
  expect(ours.slice(-5)).toEqual([true, true, true, false, false]);
  expect(new Set(ours)).toEqual(new Set([true, false]));
});
