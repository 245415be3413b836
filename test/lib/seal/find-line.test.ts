import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { memberOf } from '../../../lib/seal/archive.ts';
import { BoundedTrail, OutOfReach, type SearchedTrail } from '../../../lib/seal/bounded-trail.ts';
import { findLine } from '../../../lib/seal/find-line.ts';
import { fileName, type Header, numberOf, signHeader } from '../../../lib/seal/header.ts';
import { keyOf, sha256 } from '../../../lib/seal/line.ts';
import { headersOf, makeTrail, newestHeader, type TestTrail } from '../../support/sealed-trail.ts';

const hour = 3_600_000;

/** The archive of a trail, of whose list a request has some names, and the names of all that was read. */
const searched = ({ archive, signer }: TestTrail, namesInList = 1000) => {
  const requests = { lists: 0, headers: [] as number[], contents: [] as number[] };
  const trail: SearchedTrail = {
    publicKey: signer.publicKey,
    archive: {
      listFrom: async (from) => {
        requests.lists += 1;
        const all = [...archive.files.keys()].sort().filter((name) => name >= from);
        return { names: all.slice(0, namesInList), isLast: all.length <= namesInList };
      },
      read: (name, start, end) => {
        requests[start === 0 ? 'headers' : 'contents'].push(numberOf(name) ?? 0);
        return archive.read(name, start, end);
      },
    },
  };
  return { trail, requests };
};

interface Searching {
  readonly namesInList?: number;
  /** Whether the newest header is known. */
  readonly isKnown?: boolean;
}

/** Looks for the line of an entry. @returns also what was read */
const find = async (
  trail: TestTrail,
  id: number,
  { namesInList, isKnown = true }: Searching = {},
) => {
  const { trail: archive, requests } = searched(trail, namesInList);
  const bounded = new BoundedTrail(archive, isKnown ? newestHeader(trail) : undefined);
  const wanted = { id, key: keyOf(trail.source.items.get(id) ?? {}), now: trail.now };
  const found = await findLine(bounded, wanted).catch((error: unknown) => {
    if (error instanceof OutOfReach) return error;
    throw error;
  });
  return { found, requests };
};

/** Writes a file anew, signed by the key, with other lines. */
const writeLines = async (
  trail: TestTrail,
  number: number,
  lines: Buffer,
  changes: Partial<Header> = {},
) => {
  const old = headersOf(trail).find((each) => each.number === number);
  if (!old) throw new Error(`There is no file ${number}`);
  const { line: _, hash: __, ...header } = old;
  const content = { length: lines.length, sha256: sha256(lines).toString('hex') };
  const { line } = await signHeader({ ...header, ...content, ...changes }, trail.signer);
  trail.archive.files.set(fileName(number), Buffer.concat([memberOf(line), lines]));
};

describe('The line of an entry', () => {
  it('is found by one list and few headers among files that came regularly', async () => {
    const trail = makeTrail({ interval: 300 });
    const ids: number[] = [];
    for (let file = 1; file <= 120; file += 1) {
      ids.push(trail.add());
      await trail.seal(300_000);
    }

    for (const [at, id] of ids.entries()) {
      const { found, requests } = await find(trail, id);

      expect(found).toMatchObject({ sealed: { item: { id }, file: at + 1 } });
      expect(requests.lists).toBe(1);
      expect(requests.headers.length).toBeLessThanOrEqual(3);
      expect(requests.contents).toEqual([at + 1]);
    }
  });

  it('is found by at most 20 headers and 10 lists although sealing paused for any time', async () => {
    const trail = makeTrail({ interval: 300 });
    const ids: number[] = [];
    for (let file = 1; file <= 60; file += 1) {
      ids.push(trail.add());
      await trail.seal(file % 11 === 0 ? 9 * hour * file : 300_000);
    }

    for (const isKnown of [true, false]) {
      for (const [at, id] of ids.entries()) {
        const { found, requests } = await find(trail, id, { isKnown });

        expect(found, `entry of file ${at + 1}`).toMatchObject({ sealed: { file: at + 1 } });
        expect(requests.headers.length).toBeLessThanOrEqual(20);
        expect(requests.lists).toBeLessThanOrEqual(10);
      }
    }
  });

  it('is found in a later file, also after the clock of a sealer was ahead', async () => {
    const trail = makeTrail({ interval: 60 });
    await trail.seal();
    const late = trail.add();
    trail.source.lagging.set(late, trail.now + 400_000);
    for (let file = 2; file <= 12; file += 1) await trail.seal(60_000);
    trail.now += 45 * 24 * hour;
    await trail.seal();
    trail.now -= 45 * 24 * hour;
    const after = trail.add();
    for (let file = 14; file <= 16; file += 1) await trail.seal(60_000);

    expect((await find(trail, late)).found).toMatchObject({ sealed: { file: 8 } });
    expect((await find(trail, after)).found).toMatchObject({ sealed: { file: 15 } });
  });

  it('is found although junk has the next names and the known header is old or of another trail', async () => {
    const trail = makeTrail({ interval: 300 });
    await trail.seal();
    const old = newestHeader(trail);
    const ids: number[] = [];
    for (let file = 2; file <= 5; file += 1) {
      ids.push(trail.add());
      await trail.seal(300_000);
      if (file === 3) trail.archive.files.set(fileName(4), Buffer.from('x'));
    }
    const numbers = headersOf(trail).map(({ number }) => number);

    const { trail: archive } = searched(trail);
    const files = [];
    for (const id of ids) {
      const wanted = { id, key: keyOf(trail.source.items.get(id) ?? {}), now: trail.now };
      files.push((await findLine(new BoundedTrail(archive, old), wanted)).sealed?.file);
    }
    expect(numbers).toEqual([1, 2, 3, 5, 6]);
    expect(files).toEqual([2, 3, 5, 6]);
  });
});

describe('No line is found', () => {
  /** A trail of ten files, and an entry of the third that no run has sealed. */
  const withoutLine = async () => {
    const trail = makeTrail({ interval: 60 });
    for (let file = 1; file <= 20; file += 1) await trail.seal(60_000);
    const at = headersOf(trail)[2]?.from ?? '';
    return { trail, id: trail.add({}, Date.parse(at)) };
  };

  it('and no later run can find it, once all files were read that have looked at its time', async () => {
    const { trail, id } = await withoutLine();

    const { found, requests } = await find(trail, id);

    expect(found).toEqual({ isOver: true });
    expect(requests.headers.length).toBeLessThanOrEqual(20);
  });

  it('and a later run can find it, while the next run looks at its time', async () => {
    const trail = makeTrail({ interval: 60 });
    for (let file = 1; file <= 4; file += 1) await trail.seal(60_000);
    const ids = [-120_000, 0].map((ago) => trail.add({}, trail.now + ago));

    for (const id of ids) expect((await find(trail, id)).found).toEqual({ isOver: false });
  });

  it('in an archive without files', async () => {
    const trail = makeTrail();
    expect((await find(trail, trail.add())).found).toEqual({ isOver: false });
  });

  it('and nothing is known, if one of the next files is missing', async () => {
    const { trail, id } = await withoutLine();
    trail.archive.files.delete(fileName(6));

    expect((await find(trail, id)).found).toMatchObject({ state: 'not_found', file: undefined });
  });

  it('and nothing is known, if one of the next files is not signed', async () => {
    const { trail, id } = await withoutLine();
    trail.archive.files.set(fileName(6), Buffer.from('x'));

    expect((await find(trail, id)).found).toMatchObject({
      state: 'not_found',
      file: 6,
      finding: 'foreign',
    });
  });

  it('and nothing is known, if more than 20 files have looked at its time again', async () => {
    const trail = makeTrail({ interval: 5 });
    for (let file = 1; file <= 60; file += 1) await trail.seal(5000);
    const id = trail.add({}, Date.parse(headersOf(trail)[9]?.from ?? ''));

    const { found, requests } = await find(trail, id);

    expect(found).toMatchObject({ state: 'not_found' });
    expect(requests.headers).toHaveLength(20);
  });

  it('and nothing is known, if a list has only junk', async () => {
    const { trail, id } = await withoutLine();
    for (let junk = 0; junk < 60; junk += 1) trail.archive.files.set(`${junk}.junk`, Buffer.of());

    expect((await find(trail, id, { namesInList: 5 })).found).toMatchObject({ state: 'not_found' });
  });

  it('in a file that unpacks to more than 128 MB, which is not unpacked to its end', async () => {
    const { trail, id } = await withoutLine();
    const member = gzipSync(Buffer.alloc(2 ** 20, '{"id":1}\n'));
    await writeLines(trail, 3, Buffer.concat(Array(129).fill(member)));

    expect((await find(trail, id)).found).toMatchObject({ state: 'too_large', file: 3 });
  });

  it.each([
    ['no gzip', Buffer.from('x')],
    ['no UTF-8', gzipSync(Buffer.from([0xff, 0x0a]))],
    ['no whole line', gzipSync('{"id":1}')],
    ['followed by zeros', Buffer.concat([gzipSync('{"id":1}\n'), Buffer.alloc(9)])],
  ])('in a file that is signed although it is %s', async (_, lines) => {
    const { trail, id } = await withoutLine();
    await writeLines(trail, 3, lines);

    expect((await find(trail, id)).found).toMatchObject({
      state: 'not_found',
      file: 3,
      finding: 'altered',
    });
  });
});
