import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareRemembered, type Finding, isFault, remember } from '../../lib/seal/verification.ts';
import { counted, holds } from '../support/runs.ts';
import { verifyOf } from '../support/sealed-trail.ts';
import {
  copy,
  digestOf,
  type Expected,
  last,
  sound,
  type Tamper,
  windowOf,
  withAll,
  withEntries,
  withFiles,
  withKey,
} from './tampering.ts';

/** Does things to a copy of the trail. */
const tamper = counted(async (deeds: readonly Tamper[]) => {
  const trail = copy(sound);
  const expected: Expected[] = [];
  for (const deed of deeds) expected.push(await deed(trail));
  const newest = digestOf(sound.archive.files, last);
  const remembered = await compareRemembered(trail.archive, remember(newest));
  const { findings } = await verifyOf(trail);
  return { trail, expected, findings: [...findings, ...(remembered ? [remembered] : [])] };
});

const idsNamed = (faults: readonly Finding[]) =>
  faults.filter(({ subject }) => /^\d+$/.test(subject));

const expectFound = (faults: readonly Finding[], found: NonNullable<Expected['found']>): void => {
  for (const [subject, kinds] of Object.entries(found)) {
    const named = faults.filter((fault) => fault.subject === subject).map(({ kind }) => kind);
    expect(named).toContainEqual(expect.toSatisfy((kind) => kinds.includes(kind)));
  }
};

const isSame = <K>(key: K, one: ReadonlyMap<K, unknown>, other: ReadonlyMap<K, unknown>) =>
  isDeepStrictEqual(one.get(key), other.get(key));

it('A trail that nobody touched is intact, and names what came late', async () => {
  const { findings } = await tamper([]);

  expect(findings.map(({ kind }) => kind)).toEqual(['late', 'late', 'late']);
});

it('Whatever is done to one entry or one file is found, and named by its id or its name', async () => {
  await holds(
    600,
    fc.asyncProperty(fc.oneof(...withEntries, ...withFiles, ...withAll), async (deed) => {
      const { expected, findings } = await tamper([deed]);
      const [{ found = {}, files = [], id } = {}] = expected;
      const faults = findings.filter(isFault);

      expect(faults.length > 0).toBe(files.length > 0 || id !== undefined);
      expectFound(faults, found);
      // Nothing is said of entries that nobody touched, but that their window cannot be read.
      const named = idsNamed(faults).filter(({ subject }) => subject !== String(id));
      expect(named.filter(({ kind }) => kind !== 'unclear')).toEqual([]);
      if (files.length === 0) expect(named).toEqual([]);
    }),
  );
});

it('What only the holder of the key can write is found where it contradicts itself', async () => {
  await holds(
    200,
    fc.asyncProperty(fc.oneof(...withKey), async (deed) => {
      const { expected, findings } = await tamper([deed]);
      const [{ found = {}, files = [] } = {}] = expected;

      expect(findings.some(isFault)).toBe(files.length > 0);
      expectFound(findings, found);
    }),
  );
});

it('Whatever is done at once to several entries and files is found', async () => {
  const deeds = fc.tuple(
    fc.array(fc.oneof(...withEntries), { minLength: 1, maxLength: 5 }),
    fc.array(fc.oneof(...withFiles), { maxLength: 3 }),
  );

  await holds(
    250,
    fc.asyncProperty(deeds, async ([ofEntries, ofFiles]) => {
      const { trail, expected, findings } = await tamper([...ofEntries, ...ofFiles]);
      const faults = findings.filter(isFault);
      // One deed may undo another.
      const isOther = (file: string) => !isSame(file, trail.archive.files, sound.archive.files);
      const files = new Set(expected.flatMap((each) => each.files ?? []).filter(isOther));
      const isReadable = (id: number) => !windowOf(id).some((file) => files.has(file));
      const touched = new Set(
        expected
          .flatMap(({ id }) => id ?? [])
          .filter((id) => !isSame(id, trail.source.items, sound.source.items)),
      );
      const named = new Set(idsNamed(faults).map(({ subject }) => Number(subject)));
      const others = idsNamed(faults).filter(({ subject }) => !touched.has(Number(subject)));

      expect([...touched].filter((id) => isReadable(id) && !named.has(id))).toEqual([]);
      expect(others.filter(({ kind }) => kind !== 'unclear')).toEqual([]);
      if (files.size > 0) expect(faults.length).toBeGreaterThan(idsNamed(faults).length);
    }),
  );
});
