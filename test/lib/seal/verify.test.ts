import { describe, expect, it } from 'vitest';
import type { Archive } from '../../../lib/seal/archive.ts';
import { digestName } from '../../../lib/seal/digest.ts';
import { hashOf, lineOf } from '../../../lib/seal/line.ts';
import { sealWindows } from '../../../lib/seal/sealer.ts';
import { sealedTrail, verifyOf } from '../../support/sealed-trail.ts';

const minute = 60_000;
const iso = (time: number) => new Date(time).toISOString();

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
});
