import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Archive } from '../../../lib/seal/archive.ts';
import { digestName, entriesName, fingerprintOf, signDigest } from '../../../lib/seal/digest.ts';
import { hashOf, lineOf, sha256 } from '../../../lib/seal/line.ts';
import { sealWindows } from '../../../lib/seal/sealer.ts';
import { makeTrail, sealedTrail, type Trail, verifyOf } from '../../support/sealed-trail.ts';

const minute = 60_000;
const iso = (time: number) => new Date(time).toISOString();

/** An archive of one window, signed as a sealer would, of any content. */
const signed = async (trail: Trail, file: Buffer, count: number): Promise<string> => {
  const [from, until] = ['0000-01-01T00:00:00.000Z', iso(trail.now)];
  const hash = sha256(file).toString('hex');
  const entries = { file: entriesName(from, hash), sha256: hash, count, late: 0 };
  const digest = {
    ...({ format: 2, from, until, at: iso(trail.now + minute) } as const),
    ...{ interval: trail.interval, archive_days: 0 },
    entries: { ...entries, oldest: null, newest: null },
    ...{ verified: null, previous: null, key: fingerprintOf(trail.signer.publicKey) },
  };
  trail.archive.files.set(entries.file, file);
  trail.archive.files.set(digestName(from), await signDigest(digest, trail.signer));
  return entries.file;
};

/** An archive of which one file cannot be opened, or not read to its end. */
const failing = (archive: Archive, file: string, code: string, when: 'open' | 'read'): Archive => ({
  ...archive,
  open: async (name) => {
    if (name !== file) return archive.open(name);
    const error = Object.assign(new Error('injected'), { code });
    if (when === 'open') throw error;
    return (async function* () {
      yield Buffer.from('{');
      throw error;
    })();
  },
});

describe('The verification of a sealed trail', () => {
  it('names once what came late, also what was in a window before', async () => {
    const { trail, seal, ids } = await sealedTrail(4);
    const [id = 0] = ids;
    trail.now += 20 * minute;
    const entries = [{ id, sha256: hashOf(trail.source.items.get(id) ?? {}) }];
    for (let replay = 0; replay < 2; replay += 1) {
      trail.add({ action: 'CREATE', resource: 'audit-logs', details: { entries } });
      // Far enough apart for the second to be sealed without a look at the first.
      for (let windows = 0; windows < 9; windows += 1) await seal();
    }

    const { findings } = await verifyOf(trail);

    expect(findings).toEqual([{ kind: 'late', subject: String(id) }]);
  });

  it('calls changed in a part what it calls changed in all, when its time was changed', async () => {
    const { trail, ids, window } = await sealedTrail(12);
    const [, , , id = 0] = ids;
    const item = trail.source.items.get(id);
    trail.source.items.set(id, { ...item, created_at: iso(trail.now - 365 * 24 * 60 * minute) });
    const part = { since: window(2).from, until: window(6).from };

    const whole = await verifyOf(trail);
    const scanned = await verifyOf(trail, part);
    const listed = await verifyOf(trail, { ...part, scan: false });

    for (const { findings } of [whole, scanned, listed]) {
      expect(findings.filter(({ kind }) => kind !== 'hidden')).toEqual([
        {
          kind: 'changed',
          subject: String(id),
          before: lineOf(item ?? {}),
          after: expect.any(String),
        },
      ]);
    }
  });

  it('names an entry that was sealed, but not as late, in a window of another time', async () => {
    const trail = makeTrail();
    const [before, at] = [trail.add({}, trail.now - 1), trail.add()];
    const lines = [before, at].map((id) => `${lineOf(trail.source.items.get(id) ?? {})}\n`);
    await signed(trail, gzipSync(lines.join('')), 2);

    const { findings } = await verifyOf(trail);

    const time = iso(trail.now);
    expect(findings.filter(({ kind }) => kind !== 'wrong')).toEqual([
      {
        ...{ kind: 'misplaced', subject: String(at) },
        before: `${time} is not from 0000-01-01T00:00:00.000Z until ${time}`,
      },
    ]);
  });

  it.each([
    ['no gzip', Buffer.from('x'), 1],
    ['no lines of JSON', gzipSync('x\n'), 1],
  ])('names a file of entries that was sealed as %s, and goes on', async (_, content, count) => {
    const trail = makeTrail();
    const file = await signed(trail, content, count);
    const id = trail.add({}, trail.now - 1);

    const { findings } = await verifyOf(trail);

    expect(findings).toEqual([
      { kind: 'unreadable', subject: file },
      expect.objectContaining({ kind: 'unclear', subject: String(id) }),
    ]);
  });

  it.each([
    ['is a folder', 'EISDIR', 'read'],
    ['may not be read', 'EACCES', 'open'],
  ] as const)('names a file that %s, and goes on', async (_, code, when) => {
    const { trail } = await sealedTrail(4);
    for (const file of trail.archive.files.keys()) {
      const archive = failing(trail.archive, file, code, when);

      const { findings, windows } = await verifyOf({
        ...trail,
        archive: { ...trail.archive, ...archive },
      });

      expect(findings).toContainEqual({ kind: 'unreadable', subject: file });
      expect(windows).toBe(4);
    }
  });

  it('does not go on when the store does not answer', async () => {
    const { trail } = await sealedTrail(4);
    const [file = ''] = trail.archive.files.keys();
    const archive = failing(trail.archive, file, 'ECONNREFUSED', 'open');

    await expect(verifyOf({ ...trail, archive: { ...trail.archive, ...archive } })).rejects.toThrow(
      'injected',
    );
  });

  it('names files that are longer than what they should hold can be', async () => {
    const { trail, window } = await sealedTrail(4);
    const windows: (string | undefined)[] = [];
    for (let window = 0; window < 2; window += 1) {
      trail.now += 20 * minute;
      windows.push((await sealWindows(trail, new Date(trail.now)))?.entries.file);
    }
    const [, empty = ''] = windows;
    const long = Buffer.alloc(100_000);
    const digest = digestName(window(1).from);
    let read = 0;
    const open: Archive['open'] = async (name) => {
      if (name !== digest && name !== empty) return trail.archive.open(name);
      return (async function* () {
        for (; read < 1000; read += 1) yield long;
      })();
    };

    const { findings } = await verifyOf({ ...trail, archive: { ...trail.archive, open } });

    expect(findings).toContainEqual({ kind: 'unreadable', subject: digest });
    expect(findings).toContainEqual({ kind: 'unreadable', subject: empty });
    expect(read).toBeLessThan(10);
  });

  it('names digests whose names are no times', async () => {
    const { trail } = await sealedTrail(4);
    const odd = ['00000000T000000000Z', '20261322T000000000Z', '20260231T000000000Z', 'x', '~'];
    for (const name of odd) trail.archive.files.set(`${name}.digest.json`, Buffer.from('{}'));

    const { findings } = await verifyOf(trail);

    expect(new Set(findings.map(({ kind, subject }) => `${kind} ${subject}`))).toEqual(
      new Set(odd.map((name) => `unreadable ${name}.digest.json`)),
    );
  });
});
