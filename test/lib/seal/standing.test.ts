import { describe, expect, it } from 'vitest';
import type { Check, NamedFinding } from '../../../lib/seal/header.ts';
import { openCovered } from '../../../lib/seal/standing.ts';
import { makeTrail } from '../../support/sealed-trail.ts';

describe('A finding about several files', () => {
  it('is covered by a check once the check has read all of them', async () => {
    const { archive, source, signer } = makeTrail();
    const finding: NamedFinding = {
      kind: 'missing',
      subject: 'files 3 to 12',
      at: '2026-11-22T12:00:00.000Z',
    };
    const before = { named: [finding] } as unknown as Check;
    const covered = openCovered(before, { archive, publicKey: signer.publicKey, source });

    covered.noteFiles({ first: 1, last: 11 });
    expect(await covered.has(finding)).toBe(false);

    covered.noteFiles({ first: 3, last: 12 });
    expect(await covered.has(finding)).toBe(true);
  });
});
