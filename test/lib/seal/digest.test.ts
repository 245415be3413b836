import { createHash, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  beginning,
  closedUntil,
  contradictionsIn,
  type Digest,
  digestName,
  entriesName,
  fingerprintOf,
  graceOf,
  isDigestName,
  readDigest,
  recheckOf,
  signDigest,
  timeBefore,
  timeInName,
} from '../../../lib/seal/digest.ts';
import { localSigner, makeKey } from '../../../lib/seal/folder.ts';

const signer = localSigner(makeKey());
const hash = 'a'.repeat(64);
const digest: Digest = {
  format: 2,
  from: beginning,
  until: '2026-11-22T12:00:00.000Z',
  at: '2026-11-22T12:01:00.000Z',
  interval: 60,
  archive_days: 0,
  entries: {
    file: entriesName(beginning, hash),
    sha256: hash,
    count: 0,
    late: 0,
    oldest: null,
    newest: null,
  },
  verified: null,
  previous: null,
  key: fingerprintOf(signer.publicKey),
};
const file = await signDigest(digest, signer);
const text = file.toString();
const [, signature = ''] = /"signature":"(.*)"/.exec(text) ?? [];

describe('The file of a digest', () => {
  it('is the digest in one line and, as its last field, the signature of the SHA-256 of the rest', () => {
    expect(text).toBe(`${JSON.stringify({ ...digest, signature })}\n`);
    const signed = createHash('sha256').update(JSON.stringify(digest)).digest();
    const { publicKey } = signer;
    expect(verify(null, signed, publicKey, Buffer.from(signature, 'hex'))).toBe(true);
  });

  it('is read with its signature and its own hash', () => {
    const sha256 = createHash('sha256').update(file).digest('hex');

    expect(readDigest(file, signer.publicKey)).toEqual({ ...digest, signature, sha256 });
  });

  it.each([
    ['something before it', `x${text}`],
    ['a line before it', `\n${text}`],
    ['a line after it', `${text}\n`],
    ['no end of its line', text.trimEnd()],
    ['a signature in capitals', text.replace(signature, signature.toUpperCase())],
    ['half a signature', text.replace(signature, signature.slice(64))],
    ['something after the signature', text.replace('"}\n', '","more":1}\n')],
    ['nothing in it', ''],
  ])('is not to be read with %s', (_, content) => {
    expect(readDigest(Buffer.from(content), signer.publicKey)).toBe('unreadable');
  });

  it('is wrongly signed where anything else is in it, or another key signed it', () => {
    const other = Buffer.from(text.replace('"interval":60', '"interval":61'));

    expect(readDigest(other, signer.publicKey)).toBe('wrongly signed');
    expect(readDigest(file, localSigner(makeKey()).publicKey)).toBe('wrongly signed');
  });

  it.each([
    ['an interval of 10⁹', { interval: 1e9 }],
    ['a format of before', { format: 1 }],
    ['a time of another form', { until: '2026-11-22T12:00:00Z' }],
    ['a member more', { more: 1 }],
  ])('is not made with %s, as it could not be read', async (_, changes) => {
    const other = { ...digest, ...changes } as Digest;

    await expect(signDigest(other, signer)).rejects.toThrow('would be unreadable');
  });

  it('is not made where the signature is not by the key', async () => {
    const { publicKey } = localSigner(makeKey());

    await expect(signDigest(digest, { ...signer, publicKey })).rejects.toThrow(
      'The new digest would be wrongly signed by its key',
    );
  });
});

describe('A digest, whoever signed it,', () => {
  const now = Date.parse(digest.at);
  const [early, late] = ['2026-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z'];
  const { key, until, at, entries } = digest;
  const previous = { file: digestName(early), sha256: hash, signature };
  const checked = { from: beginning, until: early, at, faults: 0 };
  const entriesWith = (changes: Partial<Digest['entries']>) => ({
    entries: { ...entries, ...changes },
  });

  it('contradicts itself in nothing that a sealer writes', () => {
    const second = { from: until, until: at, at: '2026-11-22T12:02:00.000Z', previous };
    const file = entriesName(until, hash);
    const bounds = { oldest: early, newest: early };
    const sound = { ...second, ...entriesWith({ ...bounds, file, count: 1, late: 1 }) };

    expect(contradictionsIn(digest, key, now - 60_000)).toEqual([]);
    expect(contradictionsIn({ ...digest, ...sound, verified: checked }, key, now)).toEqual([]);
  });

  it.each<readonly [string, Partial<Digest>]>([
    ['until is not after from', { until: beginning }],
    ['until is not a grace before at', { until: '2026-11-22T12:00:00.001Z' }],
    ['at is in the future', { at: '2026-11-22T12:02:00.001Z' }],
    ['file is not named for it', entriesWith({ file: entriesName(early, hash) })],
    ['entries do not add up', entriesWith({ late: 1 })],
    ['entries do not add up', entriesWith({ count: 1, newest: early })],
    ['oldest is after newest', entriesWith({ count: 1, oldest: late, newest: early })],
    ['verified is not before', { verified: { ...checked, until: beginning } }],
    ['verified is not before', { verified: { ...checked, at: late } }],
    ['previous is not that of its window', { previous }],
    ['key is another one', { key: hash }],
  ])('contradicts itself where %s: %j', (contradiction, changes) => {
    expect(contradictionsIn({ ...digest, ...changes }, key, now)).toEqual([contradiction]);
  });
});

describe('The name of a file', () => {
  const time = '2026-11-22T12:03:04.567Z';

  it('tells when the window begins', () => {
    expect(digestName(time)).toBe('20261122T120304567Z.digest.json');
    expect(entriesName(time, hash)).toBe(`20261122T120304567Z.${hash}.ndjson.gz`);
    expect(timeInName(digestName(time))).toBe(time);
    expect(timeInName(entriesName(time, hash))).toBe(time);
  });

  it('is that of a digest by its form as a whole', () => {
    const name = digestName(time);
    const others = [entriesName(time, hash), `x${name}`, `${name}.x`, name.replace('Z.', 'Zx')];

    expect([name, ...others].map(isDigestName)).toEqual([true, false, false, false, false]);
  });
});

it('The fingerprint of a key is the SHA-256 of its public half', () => {
  const der = signer.publicKey.export({ type: 'spki', format: 'der' });

  expect(fingerprintOf(signer.publicKey)).toBe(createHash('sha256').update(der).digest('hex'));
});

describe('Windows of so many seconds', () => {
  it.each([
    [1, 1, 60],
    [59, 59, 354],
    [300, 60, 1800],
  ])('of %i are closed after a grace of %i and read once more for %i', (interval, grace, again) => {
    expect([graceOf(interval), recheckOf(interval)]).toEqual([grace * 1000, again * 1000]);
  });

  it('end at a multiple of the interval, a grace before they are closed', () => {
    const until = (time: string) => closedUntil(300, new Date(`2026-11-22T${time}Z`));

    expect(until('12:05:59.999')).toBe('2026-11-22T12:00:00.000Z');
    expect(until('12:06:00.000')).toBe('2026-11-22T12:05:00.000Z');
  });
});

it('No time is before the beginning', () => {
  expect(timeBefore('2026-11-22T12:00:00.000Z', 1)).toBe('2026-11-22T11:59:59.999Z');
  expect(timeBefore('0000-01-01T00:00:00.000Z', 1)).toBe('0000-01-01T00:00:00.000Z');
});
