import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderArchive } from '../../lib/seal/folder-archive.ts';
import { folderForThisTest } from '../support/folder.ts';
import { copyOf, type Outcome, type TestTrail } from '../support/sealed-trail.ts';
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
  'Verification reports exactly what was done, and reports it once: $title',
  async (each) => {
    const outcome = await verify(each);

    expect(toldBy(outcome).toSorted()).toEqual((each.told ?? []).toSorted());
  },
);
