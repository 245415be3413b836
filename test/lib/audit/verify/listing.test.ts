import { describe, expect, it } from 'vitest';
import type { Archive, ArchivedFile } from '../../../../lib/audit/archive/archive.ts';
import { digestName } from '../../../../lib/audit/archive/digest.ts';
import { listAll, listRange, startOf } from '../../../../lib/audit/verify/listing.ts';

const beginning = '0000-01-01T00:00:00.000Z';
const at = (minute: number) => `2026-10-22T12:0${minute}:00.000Z`;
const digestAt = (minute: number) => digestName(at(minute));
const entriesAt = (minute: number) => `20261022T120${minute}00000Z.ff.ndjson.gz`;
const noTimes = [...['00000000T000000000Z', '20260231T000000000Z', '20261322T000000000Z', 'x']].map(
  (name) => `${name}.digest.json`,
);

const archiveOf = (files: readonly ArchivedFile[]): Archive => ({
  async *list(from) {
    for (const file of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (file.name >= from) yield file;
    }
  },
  open: () => expect.unreachable(),
  create: () => expect.unreachable(),
});
const named = (...names: string[]): ArchivedFile[] => names.map((name) => ({ name }));
const listed = (...names: string[]) => new Map(names.map((name) => [name, { name }]));

describe('The list of all files of an archive', () => {
  it('tells digests, files whose names are no times, other files, and altered ones apart', async () => {
    const altered = { name: digestAt(3), altered: true };
    const others = [entriesAt(1), entriesAt(3), 'public-key.pem'];
    const digests = named(digestName(beginning), digestAt(1), digestAt(2));
    const archive = archiveOf([...named(...noTimes, ...others), ...digests, altered]);

    const listing = await listAll(archive, {});

    expect(listing).toEqual({
      digests: [...digests, altered],
      files: listed(...others),
      altered: [altered.name],
      misnamed: noTimes,
    });
  });

  it('has those of a range from its beginning, inclusive, to its end, exclusive', async () => {
    const minutes = [1, 2, 3, 4];
    const archive = archiveOf(named(...minutes.flatMap((i) => [digestAt(i), entriesAt(i)])));

    const listing = await listAll(archive, { since: at(2), until: at(4) });

    expect(listing).toEqual({
      ...{ digests: named(digestAt(2), digestAt(3)), altered: [], misnamed: [] },
      files: listed(entriesAt(2), entriesAt(3)),
      next: at(4),
    });
  });
});

describe('The list of files that must be in an archive', () => {
  const digests = [1, 2, 3].map((minute) => ({ name: digestAt(minute), altered: true }));
  const archive = archiveOf([...digests, ...named('public-key.pem')]);

  it.each([
    ['all of them where none may have left', undefined, [1, 2, 3]],
    ['all of them where no window is of the time', '2026-10-22T12:00:59.999Z', [1, 2, 3]],
    ['those from the window on that begins then', at(2), [2, 3]],
    ['those from the window on in which the time is', '2026-10-22T12:02:59.999Z', [2, 3]],
    ['that of the newest window', '2027-01-01T00:00:00.000Z', [3]],
  ])('has %s', async (_, keptSince, minutes) => {
    const listing = await listRange(archive, { keptSince });

    expect(listing).toEqual({
      digests: digests.filter(({ name }) => minutes.map(digestAt).includes(name)),
      altered: minutes.map(digestAt),
      ...{ misnamed: [], files: listed('public-key.pem') },
    });
  });

  it('has none of a range that may have left as a whole', async () => {
    const listing = await listRange(archive, { until: at(3), keptSince: at(3) });

    expect(listing).toMatchObject({ digests: [], altered: [], next: at(3) });
  });
});

describe('The time at which the first window of a list must begin', () => {
  const list = (next?: string, ...minutes: number[]) => ({
    ...{ misnamed: [], files: new Map(), altered: [], digests: named(...minutes.map(digestAt)) },
    ...(next ? { next } : {}),
  });
  const fromBeginning = { ...list(), digests: named(digestName(beginning), digestAt(1)) };

  it.each([
    ['any, of a part', { since: at(1) }, list(undefined, 1), undefined],
    ['the beginning, where no window may have left', {}, list(undefined, 1), beginning],
    ['the beginning, of all', { since: beginning }, list(undefined, 1), beginning],
    ['the beginning, where that is there', { keptSince: at(2) }, fromBeginning, beginning],
    ['any, where that is old enough', { keptSince: at(1) }, list(undefined, 1), undefined],
    ['that from which on windows are kept', { keptSince: at(1) }, list(at(3), 2), at(1)],
    ['any, where all windows may have left', { keptSince: at(3) }, list(at(3)), undefined],
    ['the same where no window is there', { keptSince: at(3) }, list(), at(3)],
  ])('is %s', (_, range, listing, start) => {
    expect(startOf(range, listing)).toBe(start);
  });
});
