import { describe, expect, it } from 'vitest';
import {
  enrolmentUri,
  makeRecoveryCodes,
  makeSecret,
  readCode,
  recoveryHash,
  recoveryHashes,
  stepOf,
} from '../../../lib/second-factor/factor.ts';

/** `12345678901234567890`, the secret of the RFCs' examples. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

const at = (seconds: number) => new Date(seconds * 1000);

describe('stepOf', () => {
  it.each([
    ['755224', 0],
    ['287082', 1],
    ['359152', 2],
    ['969429', 3],
    ['338314', 4],
    ['254676', 5],
    ['287922', 6],
    ['162583', 7],
    ['399871', 8],
    ['520489', 9],
  ])('finds the code %s of RFC 4226, appendix D, at the count %i', (code, count) => {
    expect(stepOf(secret, code, at(count * 30))).toBe(count);
  });

  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('finds at %i s the code %s, the end of that in RFC 6238, appendix B', (time, code) => {
    expect(stepOf(secret, code, at(time))).toBe(Math.floor(time / 30));
  });

  it.each([
    ['at the end of the second step before', 30 * 4 - 0.001, undefined],
    ['at the beginning of the step before', 30 * 4, 5],
    ['at the end of the step after', 30 * 7 - 0.001, 5],
    ['at the beginning of the second step after', 30 * 7, undefined],
  ])('looks for the code of step 5 %s: %s s, step %s', (_, time, step) => {
    expect(stepOf(secret, '254676', at(time))).toBe(step);
  });
});

describe('readCode', () => {
  const letters = '7Q2M9FHTX0ZB4KCW';

  it.each([
    ['six digits', '123456', { kind: 'app', digits: '123456' }],
    ['digits with a space, as apps show them', '123 456', { kind: 'app', digits: '123456' }],
    ['a recovery code', '7Q2M-9FHT-X0ZB-4KCW', { kind: 'recovery', letters }],
    ['one as it is typed', ' 7q2m 9fht xozb 4kcw ', { kind: 'recovery', letters }],
    [
      'one with letters for digits',
      '1Q2M9FHTX0ZB4KCW',
      { kind: 'recovery', letters: letters.replace('7', '1') },
    ],
    [
      'the same with an I',
      'iQ2M9FHTX0ZB4KCW',
      { kind: 'recovery', letters: letters.replace('7', '1') },
    ],
    ['five digits', '12345', { kind: 'neither' }],
    ['seven digits', '1234567', { kind: 'neither' }],
    ['full-width digits', '１２３４５６', { kind: 'neither' }],
    ['other white space', '123\t456', { kind: 'neither' }],
    ['a line end', '123456\n', { kind: 'neither' }],
    ['a sign', '+12345', { kind: 'neither' }],
    ['a letter that is not in the alphabet', '7Q2M-9FHT-X0ZB-4KCU', { kind: 'neither' }],
    ['spaces alone', '   ', { kind: 'neither' }],
    ['a text of 65 characters', `123456${' '.repeat(59)}`, { kind: 'neither' }],
  ])('reads %s', (_, value, code) => {
    expect(readCode(value)).toEqual(code);
  });
});

describe('makeRecoveryCodes', () => {
  it('makes ten different codes of 80 bits, in four groups', () => {
    const codes = makeRecoveryCodes();

    expect(new Set(codes).size).toBe(10);
    for (const code of codes) {
      expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
    }
  });

  it('makes codes that are known by their hash, for their user alone', () => {
    const [code = ''] = makeRecoveryCodes();
    const read = readCode(code.toLowerCase());
    const hash = read.kind === 'recovery' ? recoveryHash(17, read.letters) : '';

    expect(recoveryHashes(17, [code])).toEqual(new Set([hash]));
    expect(recoveryHashes(18, [code])).not.toEqual(new Set([hash]));
  });
});

describe('enrolmentUri', () => {
  it('names the service, the account and what the codes are made of', () => {
    const uri = new URL(enrolmentUri(secret, { issuer: 'a.example', label: 'Ada+1@example.org' }));

    expect([uri.protocol, uri.host, uri.pathname]).toEqual([
      'otpauth:',
      'totp',
      '/a.example:Ada%2B1%40example.org',
    ]);
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      issuer: 'a.example',
      secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
  });

  it('takes secrets of 160 bits, of which no two are alike', () => {
    const secrets = [makeSecret(), makeSecret()];

    expect(secrets[0]).toMatch(/^[A-Z2-7]{32}$/);
    expect(secrets[0]).not.toBe(secrets[1]);
  });
});
