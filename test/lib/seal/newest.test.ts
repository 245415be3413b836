import { describe, expect, it } from 'vitest';
import type { SignedDigest } from '../../../lib/seal/digest.ts';
import { sha256 } from '../../../lib/seal/line.ts';
import { sealWindows } from '../../../lib/seal/sealer.ts';
import { compareRemembered, isBehind, remember } from '../../../lib/seal/verification.ts';
import { makeTrail } from '../../support/sealed-trail.ts';

const start = Date.parse('2026-11-21T09:00:00.000Z');
const iso = (seconds: number) => new Date(start + 1000 * seconds).toISOString();
/** The newest digest, of a window that ends at the start. */
const newest = (interval: number) => ({ until: iso(0), interval }) as SignedDigest;
const isBehindAfter = (seconds: number, interval: number, expected = {}) =>
  isBehind(newest(interval), { now: start + 1000 * seconds, ...expected });

describe('Sealing is behind', () => {
  it.each([
    ['300 s', 300, 960],
    ['an hour', 3600, 10_860],
    // A machine may stand still.
    ['a second', 1, 300],
  ])(
    'with windows of %s, once two could have been sealed since, and five minutes are over',
    (_, interval, allowed) => {
      expect(isBehindAfter(allowed, interval)).toBe(false);
      expect(isBehindAfter(allowed + 1, interval)).toBe(true);
    },
  );

  it('by the longer one of the interval that was and the one that is set', () => {
    expect(isBehindAfter(961, 300, { interval: 3600 })).toBe(false);
    expect(isBehindAfter(10_860, 3600, { interval: 300 })).toBe(false);
    expect(isBehindAfter(10_861, 3600, { interval: 300 })).toBe(true);
  });

  it('only of a time that was asked for', () => {
    const longAfter = (until: string) => isBehindAfter(100_000, 300, { until });
    expect(longAfter(iso(0))).toBe(false);
    expect(longAfter(iso(1))).toBe(true);
  });

  it('not of a time asked for that is too new to be sealed', () => {
    expect(isBehindAfter(960, 300, { until: iso(960) })).toBe(false);
  });
});

describe('A newest digest that is remembered', () => {
  const sealed = async () => {
    const trail = makeTrail();
    trail.now += 120_000;
    await sealWindows(trail, new Date(trail.now));
    const [file = ''] = [...trail.archive.files.keys()].filter((name) => name.endsWith('.json'));
    return { trail, file };
  };

  it('is the same, shorter by what is gone, or different', async () => {
    const { trail, file } = await sealed();
    const content = trail.archive.files.get(file) ?? Buffer.of();
    const remembered = { file, sha256: sha256(content).toString('hex') };
    const compare = (keptSince?: string) => compareRemembered(trail.archive, remembered, keptSince);

    expect(await compare()).toBeUndefined();
    trail.archive.files.set(file, Buffer.from('{}'));
    expect(await compare()).toEqual({ kind: 'different', subject: file });
    trail.archive.files.delete(file);
    expect(await compare()).toEqual({ kind: 'shorter', subject: file });
    expect(await compare('0000-01-01T00:00:00.000Z')).toEqual({ kind: 'shorter', subject: file });
    // What was to leave may be gone.
    expect(await compare('9999-01-01T00:00:00.000Z')).toBeUndefined();
    expect(remember({ from: '0000-01-01T00:00:00.000Z', sha256: 'x' } as SignedDigest)).toEqual({
      file,
      sha256: 'x',
    });
  });
});
