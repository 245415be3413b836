import { createHash, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { localSigner, makeKey } from '../../../lib/seal/folder-archive.ts';
import {
  type Check,
  fileName,
  fingerprintOf,
  graceOf,
  type Header,
  lookFrom,
  maxNamed,
  numberOf,
  readHeader,
  signHeader,
} from '../../../lib/seal/header.ts';

const signer = localSigner(makeKey());
const { publicKey } = signer;
const header: Header = {
  format: 3,
  number: 7,
  previous: 'a'.repeat(64),
  at: '2026-11-22T12:01:00.000Z',
  interval: 60,
  from: '',
  until: '2026-11-22T12:00:00.000Z',
  count: 0,
  oldest: null,
  newest: null,
  length: 20,
  sha256: 'b'.repeat(64),
  archive_days: 0,
  check: {
    at: '2026-11-22T11:00:00.000Z',
    first: 1,
    last: 2,
    until: '2026-11-22T10:59:00.000Z',
    entries: 7,
    later: 0,
    part: { at: '2026-11-22T11:00:00.000Z', first: 1, last: 0 },
    findings: 0,
    named: [],
    found: null,
  },
  key: fingerprintOf(publicKey),
};
const signed = await signHeader(header, signer);
const [, signature = ''] = /"signature":"(.*)"/.exec(signed.line) ?? [];

describe('The header of a file', () => {
  it('is one line whose last member is the signature of the SHA-256 of all other members', () => {
    expect(signed.line).toBe(`${JSON.stringify({ ...header, signature })}\n`);
    const digest = createHash('sha256').update(JSON.stringify(header)).digest();
    expect(verify(null, digest, publicKey, Buffer.from(signature, 'hex'))).toBe(true);
  });

  it('is returned with its line and the hash of this line', () => {
    const hash = createHash('sha256').update(signed.line).digest('hex');

    expect(readHeader(Buffer.from(signed.line), publicKey)).toEqual({
      ...header,
      line: signed.line,
      hash,
    });
  });

  it('counts as unsigned if another key has signed it, and the other key is named', () => {
    const other = localSigner(makeKey()).publicKey;

    expect(readHeader(Buffer.from(signed.line), other)).toEqual({
      fault: 'unsigned',
      key: header.key,
    });
  });

  it.each([
    ['an interval of 10⁹', { interval: 1e9 }],
    ['an earlier format', { format: 2 }],
    ['a time of another form', { at: '2026-11-22T12:00:00Z' }],
    ['a time of a longer form', { at: '+010000-01-01T00:00:00.000Z' }],
    ['a number that no file has', { number: 0 }],
    ['an additional member', { more: 1 }],
    [
      'a kind of finding that is no word',
      { check: { ...header.check, named: [{ kind: 'missing!', subject: 'x', at: header.at }] } },
    ],
    ['more than 16,384 bytes', { from: 'x'.repeat(16_384) }],
  ])('is not made with %s, because it could not be read again', async (_, changes) => {
    await expect(signHeader({ ...header, ...changes } as Header, signer)).rejects.toThrow(
      'could not be read again: it is foreign',
    );
  });

  it('is not made if the signature is not by the key', async () => {
    const other = localSigner(makeKey());

    await expect(signHeader(header, { ...other, publicKey })).rejects.toThrow('it is unsigned');
  });

  it('may name any key of an index, even one with line ends', async () => {
    const key = '2026-11-22T12:00:00.000Z\u2028\u2029\r\n';

    const made = await signHeader({ ...header, from: key, until: key }, signer);

    expect(made).toMatchObject({ from: key, until: key });
  });

  it('has room for the longest keys of an index and ten findings, whatever they contain', async () => {
    const key = '\ud800'.repeat(1024);
    const at = '2026-11-22T11:00:00.000Z';
    const named = Array(maxNamed).fill({ kind: 'inserted', subject: '"'.repeat(64), at });
    const check = { ...(header.check as Check), named };

    const made = await signHeader({ ...header, from: key, until: key, check }, signer);

    expect(made).toMatchObject({ from: key, until: key });
  });
});

it.each([
  [1, '9999999998.ndjson.gz'],
  [12, '9999999987.ndjson.gz'],
  [9_999_999_999, '0000000000.ndjson.gz'],
])('File %i is named %s, so that newer names come first', (number, name) => {
  expect(fileName(number)).toBe(name);
  expect(numberOf(name)).toBe(number);
});

it.each(['public-key.pem', '1.ndjson.gz', 'x9999999998.ndjson.gz', '9999999998.ndjson.gz.bak'])(
  'No file of the archive has the name %s',
  (name) => {
    expect(numberOf(name)).toBeUndefined();
  },
);

it.each([
  ['2026-11-22T12:00:00.000Z', 60, '2026-11-22T11:50:00.000Z'],
  ['2026-11-22T12:00:00.000Z#0000000000000007', 300, '2026-11-22T11:30:00.000Z'],
  ['0000-01-01T00:00:00.000Z', 60, ''],
  ['no time', 60, ''],
  ['', 60, ''],
])(
  'A run that continues from %j, with an interval of %i seconds, looks for entries from %j',
  (from, interval, look) => {
    expect(lookFrom(from, interval)).toBe(look);
  },
);

it.each([
  [1, 1000],
  [60, 60_000],
  [3600, 60_000],
])(
  'A run with an interval of %i seconds leaves the entries of the last %i ms to the next run',
  (interval, ms) => {
    expect(graceOf(interval)).toBe(ms);
  },
);
