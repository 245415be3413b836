import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  breakAtEnd,
  type Chain,
  nothingVerified,
  readKey,
  type SeenDigest,
  verifyNext,
} from '../../../../functions/console/web/trail/chain.ts';
import { localSigner, makeKey } from '../../../../lib/seal/folder.ts';
import { sealedTrail } from '../../../support/sealed-trail.ts';

const { trail } = await sealedTrail(4);
/** Newest first, as the API lists them. */
const lines = [...trail.archive.files]
  .filter(([name]) => name.endsWith('.digest.json'))
  .sort(([a], [b]) => (a < b ? 1 : -1))
  .map(([, file]) => file.toString().trimEnd());
const pem = trail.signer.publicKey.export({ type: 'spki', format: 'pem' }).toString();

const nameOf = (line: string) => `${JSON.parse(line).from.replaceAll(/[-:.]/g, '')}.digest.json`;
const seenOf = (line: string): SeenDigest => ({
  file: nameOf(line),
  sha256: createHash('sha256').update(`${line}\n`).digest('hex'),
});

interface Given {
  readonly lines?: readonly string[];
  readonly pem?: string;
  readonly now?: number;
  readonly seen?: SeenDigest;
}

const verify = async (given: Given) => {
  const verifier = { ...(await readKey(given.pem ?? pem)), now: given.now ?? trail.now };
  const seen = given.seen ? { seen: given.seen } : {};
  let chain: Chain = nothingVerified;
  for (const line of given.lines ?? lines) {
    const next = await verifyNext(chain, line, { ...verifier, ...seen });
    if ('fault' in next) return next;
    chain = next;
  }
  return breakAtEnd(chain, given.seen) ?? chain;
};

/** The lines, of which the second newest is another one. */
const withSecond = (change: (line: string) => string) =>
  lines.map((line, index) => (index === 1 ? change(line) : line));

/** A digest with other values, signed by the key. */
const signed = async (line: string, changes: object, signer = trail.signer) => {
  const { signature: _, ...digest } = JSON.parse(line);
  const unsigned = JSON.stringify({ ...digest, ...changes });
  const signature = await signer.sign(createHash('sha256').update(unsigned).digest());
  return `${unsigned.slice(0, -1)},"signature":"${Buffer.from(signature).toString('hex')}"}`;
};

const [newest = '', second = '', third = '', first = ''] = lines;
const otherKey = localSigner(makeKey());
const later = new Date(trail.now + 3_600_000).toISOString();

const cases: readonly (readonly [string, Given, readonly [string, string]])[] = [
  [
    'a digit that was changed',
    { lines: withSecond((line) => line.replace('"count":1', '"count":2')) },
    [second, 'is not signed by the key'],
  ],
  ['a text that is no digest', { lines: withSecond(() => '{}') }, [second, 'is unreadable']],
  ['a member besides', { lines: [await signed(newest, { more: 1 })] }, ['', 'is unreadable']],
  [
    'a time that the calendar has not',
    { lines: [await signed(newest, { at: '2026-02-30T00:00:00.000Z' })] },
    ['', 'is unreadable'],
  ],
  [
    'a year of six digits',
    { lines: [await signed(newest, { at: '+012026-11-22T12:00:00.000Z' })] },
    ['', 'is unreadable'],
  ],
  [
    'another name than that of a digest',
    { lines: [await signed(newest, { previous: { ...JSON.parse(newest).previous, file: 'x' } })] },
    ['', 'is unreadable'],
  ],
  [
    'another key',
    {
      lines: withSecond(() => ''),
      pem: otherKey.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    },
    [newest, 'is not signed by the key'],
  ],
  ['a digest that is left out', { lines: [newest, third, first] }, [second, 'is missing']],
  [
    'a chain without its first digest',
    { lines: [newest, second, third] },
    [first, 'is missing, or not signed by the key'],
  ],
  ['no digest', { lines: [] }, ['', 'is missing']],
  [
    'a digest of the future',
    { lines: [await signed(newest, { at: later })] },
    [newest, 'is of the future'],
  ],
  [
    'a window that was closed too early',
    { lines: [await signed(newest, { at: JSON.parse(newest).until })] },
    [newest, 'was closed too early'],
  ],
  [
    'a digest that was signed anew',
    { lines: [newest, await signed(second, { archive_days: 9 }), third, first] },
    [second, 'is not the one that the digest after it names'],
  ],
  [
    'a chain that goes on from what this browser saw otherwise',
    { seen: { ...seenOf(second), sha256: 'another' } },
    [second, 'is not the one that this browser saw'],
  ],
  [
    'a chain that is older than what this browser saw',
    { lines: [second, third, first], seen: seenOf(newest) },
    [newest, 'was here before, and is not any more'],
  ],
];

describe('The verifier of the chain', () => {
  it('finds nothing wrong with what a sealer has sealed, nor with what this browser saw of it', async () => {
    const chain = await verify({ seen: seenOf(third) });

    expect(chain).toMatchObject({ digests: 4, entries: 3, newest: seenOf(newest) });
  });

  it.each(cases)('names the first break: %s', async (_, given, [line, fault]) => {
    expect(await verify(given)).toEqual({ file: line ? nameOf(line) : 'The newest digest', fault });
  });

  it('finds nothing wrong with a chain whose beginning has left the archive as it was set', async () => {
    const { trail: short } = await sealedTrail(2, { archiveDays: 1 });
    const line = [...short.archive.files].filter(([name]) => name.endsWith('.json')).at(-1)?.[1];
    const given = {
      lines: [line?.toString().trimEnd() ?? ''],
      pem: short.signer.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    };

    expect(await verify({ ...given, now: short.now })).toHaveProperty('fault');
    expect(await verify({ ...given, now: short.now + 86_400_000 })).toHaveProperty('digests', 1);
  });
});
