import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { encryptSecret } from '../../../../lib/keys/factor-key.ts';
import {
  checkCode,
  enrolmentUri,
  makeRecoveryCodes,
  makeSecret,
  type Proof,
  readCode,
  recoveryHash,
  recoveryHashes,
  stepOf,
  useCode,
} from '../../../../lib/options/second-factor/factor.ts';
import type { StoredUser } from '../../../../lib/users/item.ts';
import { allocateUserId, insertUser, readUser } from '../../../../lib/users/store.ts';

import { useOwnTables } from '../../../support/own-tables.ts';
import { setFields, storedUser } from '../../../support/stored-user.ts';

await useOwnTables();
process.env.SECOND_FACTOR_LOCAL_KEY = randomBytes(32).toString('base64');

/** `12345678901234567890`, the secret in the examples of the RFCs. */
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
  ])(
    'finds at %i s the code %s, the last digits of the code in RFC 6238, appendix B',
    (time, code) => {
      expect(stepOf(secret, code, at(time))).toBe(Math.floor(time / 30));
    },
  );

  it.each([
    ['at the end of the second step before', 30 * 4 - 0.001, undefined],
    ['at the beginning of the step before', 30 * 4, 5],
    ['at the end of the step after', 30 * 7 - 0.001, 5],
    ['at the beginning of the second step after', 30 * 7, undefined],
  ])('compares the code of step 5 %s, at %s s, and finds the step %s', (_, time, step) => {
    expect(stepOf(secret, '254676', at(time))).toBe(step);
  });
});

describe('readCode', () => {
  const letters = '7Q2M9FHTX0ZB4KCW';

  // biome-ignore format: a table
  it.each([
    ['six digits', '123456', { kind: 'app', digits: '123456' }],
    ['digits with a space, as apps show them', '123 456', { kind: 'app', digits: '123456' }],
    ['a recovery code', '7Q2M-9FHT-X0ZB-4KCW', { kind: 'recovery', letters }],
    ['a recovery code as people type it', ' 7q2m 9fht xozb 4kcw ', { kind: 'recovery', letters }],
    ['letters in place of digits', '1Q2M9FHTX0ZB4KCW', { kind: 'recovery', letters: letters.replace('7', '1') }],
    ['an I in place of a one', 'iQ2M9FHTX0ZB4KCW', { kind: 'recovery', letters: letters.replace('7', '1') }],
    ['full-width digits', '１２３４５６', { kind: 'app', digits: '123456' }],
    ['Arabic digits', '٤٥٦ ٧٨٩', { kind: 'app', digits: '456789' }],
    ['Devanagari digits', '०१२३४५', { kind: 'app', digits: '012345' }],
    ['digits of five mathematical alphabets', '𝟎𝟙𝟤𝟯𝟺𝟻', { kind: 'app', digits: '012345' }],
    ['a tab and a line end', '123\t456\r\n', { kind: 'app', digits: '123456' }],
    ['spaces that do not break, or are as wide as a letter', '12\u00a034\u300056\ufeff', { kind: 'app', digits: '123456' }],
    ['every dash', '1-2\u20103\u20114\u20135\u20146\u2212', { kind: 'app', digits: '123456' }],
    ['a recovery code with the dashes of a word processor', '7Q2M–9FHT—X0ZB‑4KCW', { kind: 'recovery', letters }],
    ['a recovery code with full-width digits', '７Q２M-９FHT-X０ZB-４KCW', { kind: 'recovery', letters }],
    ['five digits', '12345', { kind: 'neither' }],
    ['seven digits', '1234567', { kind: 'neither' }],
    ['a number that is not a decimal digit', '12345²', { kind: 'neither' }],
    ['an invisible character', '123\u200b456', { kind: 'neither' }],
    ['a sign', '+12345', { kind: 'neither' }],
    ['a letter that is not in the alphabet', '7Q2M-9FHT-X0ZB-4KCU', { kind: 'neither' }],
    ['spaces alone', '   ', { kind: 'neither' }],
    ['a text of 65 characters', `123456${' '.repeat(59)}`, { kind: 'neither' }],
  ])('reads %s', (_, value, code) => {
    expect(readCode(value)).toEqual(code);
  });
});

describe('readCode, given any character of Unicode,', () => {
  const having = (property: RegExp) =>
    Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
      property.test(character),
    );

  it('reads every decimal digit as its value', () => {
    const digits = having(/^\p{Nd}$/u);

    // Unicode has decimal digits in groups of ten, each from zero to nine.
    const read = digits.map((digit, i) => [readCode(digit.repeat(6)), String(i % 10).repeat(6)]);

    expect(digits.length).toBeGreaterThan(600);
    expect(read).toEqual(read.map(([, digits]) => [{ kind: 'app', digits }, digits]));
  });

  it('ignores every white space and dash', () => {
    const between = having(/^[\p{White_Space}\p{Dash_Punctuation}\u2212\ufeff]$/u);

    expect(between.length).toBeGreaterThan(50);
    expect(between.filter((one) => readCode(`123${one}456`).kind !== 'app')).toEqual([]);
  });
});

describe('A code', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: at(30 * 1000) }));
  afterEach(() => void vi.useRealTimers());

  const recoveryCode = '7Q2M-9FHT-X0ZB-4KCW';
  /** The code of the app for a step, counted from the present step. */
  const appCode = (ahead: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({
      timestamp: Date.now() + ahead * 30_000,
    });
  const makeUser = async () => {
    const id = await allocateUserId();
    const factor_secret = await encryptSecret(id, secret);
    const recovery_codes = recoveryHashes(id, [recoveryCode, '0000-0000-0000-0000']);
    const user = storedUser({ id, factor_secret, recovery_codes });
    await insertUser(user);
    return user;
  };
  const isUsed = async (user: StoredUser, proof: Proof) => {
    const wrong = new Error('The code is wrong');
    try {
      await useCode(user, proof, wrong);
      return true;
    } catch (error) {
      if (error !== wrong) throw error;
      return false;
    }
  };
  const use = async (id: number, code: string) => {
    const user = await readUser(id);
    const proof = await checkCode(user, code);
    return proof !== undefined && (await isUsed(user, proof));
  };

  // biome-ignore format: a table
  it.each<[string, used: () => string, given: () => string, isGood: boolean]>([
    ['of the app counts once', () => appCode(0), () => appCode(0), false],
    ['of the app does not count after a code of a later step', () => appCode(0), () => appCode(-1), false],
    ['of the app counts after a code of an earlier step', () => appCode(0), () => appCode(1), true],
    ['of the next step counts once', () => appCode(1), () => appCode(1), false],
    ['for recovery counts once', () => recoveryCode, () => recoveryCode, false],
    ['for recovery counts once in any letter case', () => recoveryCode, () => recoveryCode.toLowerCase(), false],
    ['for recovery counts after another recovery code', () => recoveryCode, () => '0000-0000-0000-0000', true],
    ['of the app counts after a recovery code', () => recoveryCode, () => appCode(0), true],
  ])('%s', async (_, used, given, isGood) => {
    const { id } = await makeUser();

    expect([await use(id, used()), await use(id, given())]).toEqual([true, isGood]);
  });

  it.each([
    ['of the app', () => appCode(0)],
    ['for recovery', () => recoveryCode],
  ])('%s counts for only one of two requests that have both found it right', async (_, code) => {
    const user = await makeUser();
    const proofs = [await checkCode(user, code()), await checkCode(user, code())];

    const used = [];
    for (const proof of proofs) used.push(proof && (await isUsed(user, proof)));

    expect(used).toEqual([true, false]);
  });

  it('that was found right does not count once the user has another secret', async () => {
    const user = await makeUser();
    const proof = await checkCode(user, appCode(0));
    await setFields(user.id, { factor_secret: await encryptSecret(user.id, makeSecret()) });

    expect(proof).toBeDefined();
    expect(proof && (await isUsed(user, proof))).toBe(false);
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

  it('makes codes that are recognised by their hash, only for their user', () => {
    const [code = ''] = makeRecoveryCodes();
    const read = readCode(code.toLowerCase());
    const hash = read.kind === 'recovery' ? recoveryHash(17, read.letters) : '';

    expect(recoveryHashes(17, [code])).toEqual(new Set([hash]));
    expect(recoveryHashes(18, [code])).not.toEqual(new Set([hash]));
  });
});

describe('enrolmentUri', () => {
  it('names the service, the account and how the codes are made', () => {
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

  it('takes secrets of 160 bits that all differ', () => {
    const secrets = [makeSecret(), makeSecret()];

    expect(secrets[0]).toMatch(/^[A-Z2-7]{32}$/);
    expect(secrets[0]).not.toBe(secrets[1]);
  });
});
