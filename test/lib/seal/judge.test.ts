import { describe, expect, it } from 'vitest';
import { hashOf, lineOf } from '../../../lib/seal/line.ts';
import { sealWindows } from '../../../lib/seal/sealer.ts';
import { isFault } from '../../../lib/seal/verification.ts';
import { forge, makeTrail, sealedTrail, type Trail, verifyOf } from '../../support/sealed-trail.ts';

const minute = 60_000;
const iso = (time: number) => new Date(time).toISOString();

/** Eight windows, the newest of which ends a minute ago, and an entry of then that is not sealed. */
const sealed = async () => (await sealedTrail(8)).trail;
const entryIs = (kind: string, { source }: Trail, id = 0) => ({
  kind,
  subject: String(id),
  after: lineOf(source.items.get(id) ?? {}),
});

describe('An entry of the table that no window has', () => {
  it.each([
    ['the first that will be read once more', -6 * minute],
    ['now and the grace', minute],
  ])('is too new where its time is %s', async (_, later) => {
    const trail = await sealed();

    forge(trail, iso(trail.now + later));

    expect(await verifyOf(trail)).toMatchObject({ findings: [], unsealed: 2 });
  });

  it.each([
    ['before all that will be read once more', -6 * minute - 1],
    ['after now and the grace', minute + 1],
  ])('is inserted where its time is %s', async (_, later) => {
    const trail = await sealed();

    const id = forge(trail, iso(trail.now + later));

    const findings = [entryIs('inserted', trail, id)];
    expect(await verifyOf(trail)).toMatchObject({ findings, unsealed: 1 });
  });

  it('is too new in all of a window that the next run will read again as a whole', async () => {
    const trail = await sealed();
    const from = trail.now - minute;
    trail.now += 30 * minute;
    await sealWindows(trail, new Date(trail.now));

    forge(trail, iso(from));
    const id = forge(trail, iso(from - 1));

    const findings = [entryIs('inserted', trail, id)];
    expect(await verifyOf(trail)).toMatchObject({ findings, unsealed: 1 });
  });

  it('is not too new in the first window but for its last part, which alone is read again', async () => {
    const trail = makeTrail();
    trail.now += 30 * minute;
    await sealWindows(trail, new Date(trail.now));

    forge(trail, iso(trail.now - 6 * minute));
    const id = forge(trail, iso(trail.now - 6 * minute - 1));

    const findings = [entryIs('inserted', trail, id)];
    expect(await verifyOf(trail)).toMatchObject({ findings, unsealed: 1 });
  });

  it('is inserted where its id is no whole number, and looked for by that', async () => {
    const trail = await sealed();
    const id = forge(trail, iso(trail.now - 20 * minute));
    trail.source.items.set(id, { ...trail.source.items.get(id), id: { N: '1e40' } });

    const { findings } = await verifyOf(trail);

    expect(findings).toEqual([
      expect.objectContaining({ kind: 'hidden' }),
      { kind: 'inserted', subject: '{"N":"1e40"}', after: expect.stringContaining('1e40') },
    ]);
  });

  it('is too new where nothing is sealed yet', async () => {
    const trail = makeTrail();
    trail.add();

    expect(await verifyOf(trail)).toEqual({
      findings: [],
      windows: 0,
      entries: 0,
      expired: 0,
      unsealed: 1,
      unproven: 0,
      newest: undefined,
      left: '',
      unsealedSince: iso(trail.now),
    });
  });
});

describe('An entry of the past that a replay lists which is not sealed yet', () => {
  /** An entry, and that of a replay which lists it, so many milliseconds from now. */
  const listed = async (later: number) => {
    const trail = await sealed();
    const id = trail.add({}, trail.now - 20 * minute);
    const entry = { id, sha256: hashOf(trail.source.items.get(id) ?? {}) };
    const replay = trail.add(
      { action: 'CREATE', resource: 'audit-logs', details: { entries: [entry] } },
      trail.now + later,
    );
    return { trail, id, replay };
  };

  it('is sealed by the next run where the index shows the entry of the replay late', async () => {
    const { trail } = await listed(-3 * minute);
    expect(await verifyOf(trail)).toMatchObject({ findings: [], unsealed: 3 });

    trail.now += minute;
    await sealWindows(trail, new Date(trail.now));

    const { findings, unsealed } = await verifyOf(trail);
    expect([findings.filter(isFault), unsealed]).toEqual([[], 0]);
  });

  it('is inserted where the replay is of a time to come', async () => {
    const { trail, id, replay } = await listed(2 * minute);

    const findings = [entryIs('inserted', trail, replay), entryIs('inserted', trail, id)];
    expect(await verifyOf(trail)).toMatchObject({ findings, unsealed: 1 });
  });
});
