import { describe, expect, it } from 'vitest';
import type { SignedArchive } from '../../../lib/seal/archive.ts';
import { digestName } from '../../../lib/seal/digest.ts';
import { localSigner, makeKey } from '../../../lib/seal/folder.ts';
import { readBack, summarise } from '../../../lib/seal/show.ts';
import { makeTrail, sealedTrail } from '../../support/sealed-trail.ts';

const day = 86_400_000;

const summaryOf = async (windows: number, after: number) => {
  const { trail, window } = await sealedTrail(windows);
  const { archive, signer } = trail;
  const now = new Date(trail.now + after);
  const summary = await summarise({ archive, publicKey: signer.publicKey }, 300, now);
  return { summary, newest: window(windows - 1) };
};

describe('A summary of the seal', () => {
  it('has the key, and nothing else of a trail without a digest', async () => {
    const { archive, signer } = makeTrail();

    const summary = await summarise({ archive, publicKey: signer.publicKey }, 300, new Date());

    const nothing = { newest: null, behind: null, verified: null };
    expect(summary).toEqual({
      key: expect.stringMatching(/^[0-9a-f]{64}$/),
      interval: 300,
      ...nothing,
    });
  });

  it.each([
    ['now', 0],
    ['five days ago', 5 * day],
    ['a year ago', 365 * day],
  ])('finds the newest window that was sealed %s', async (_, after) => {
    const { summary, newest } = await summaryOf(3, after);

    const { from, until } = newest;
    expect(summary.newest).toEqual({ file: digestName(from), from, until, count: 1 });
  });

  // The end of the newest window is a minute, the grace, before the last run.
  it.each([
    [240_000, null],
    [241_000, 301],
    [day, 86_460],
  ])(
    'after %i ms without a run says that sealing is behind by %j seconds',
    async (after, behind) => {
      const { summary } = await summaryOf(3, after);

      expect(summary.behind).toBe(behind);
    },
  );

  it('passes by what the key has not signed', async () => {
    const { trail, window } = await sealedTrail(3);
    const { archive, signer, now } = trail;
    const other = await sealedTrail(1, { signer: localSigner(makeKey()) });
    const [, forged = Buffer.from('')] = [...other.trail.archive.files.values()];
    archive.files.set('20261123T000000000Z.digest.json', forged);
    archive.files.set('20990101T000000000Z.digest.json', Buffer.from('{}\n'));

    const { newest } = await summarise(
      { archive, publicKey: signer.publicKey },
      300,
      new Date(now),
    );

    expect(newest?.from).toBe(window(2).from);
  });
});

describe('Digests back along the chain', () => {
  const namesOf = async (trail: SignedArchive, first: string, limit = 100) => {
    const { files, next } = await readBack(trail, { first, limit, now: new Date() });
    return [...files.map((file) => digestName(JSON.parse(file).from)), next];
  };

  it('go past times in which nothing was sealed, and end with the first', async () => {
    const { trail, window, seal } = await sealedTrail(2);
    const { archive, signer } = trail;
    trail.now += 30 * day;
    await seal();
    await seal();

    const names = [3, 2, 1, 0].map((number) => digestName(window(number).from));
    const shown = { archive, publicKey: signer.publicKey };
    expect(await namesOf(shown, names[0] ?? '')).toEqual([...names, undefined]);
    expect(await namesOf(shown, names[1] ?? '', 2)).toEqual([...names.slice(1, 3), names[3]]);
  });

  it.each([
    ['missing', undefined],
    ['not as it was sealed', Buffer.from('{"from":"\n"}\n')],
  ])('end before one that is %s', async (_, content) => {
    const { trail, window } = await sealedTrail(4);
    const { archive, signer } = trail;
    const [three, two, one] = [3, 2, 1].map((number) => digestName(window(number).from));
    archive.files.delete(one ?? '');
    if (content) archive.files.set(one ?? '', content);

    const shown = { archive, publicKey: signer.publicKey };
    expect(await namesOf(shown, three ?? '')).toEqual([three, two, undefined]);
  });
});
