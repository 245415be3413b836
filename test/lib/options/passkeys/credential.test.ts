import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isNonce, makeNonce } from '../../../../lib/keys/nonce.ts';
import {
  forAdding,
  forLogin,
  loginOptions,
  verifyMade,
  verifyUsed,
} from '../../../../lib/options/passkeys/credential.ts';
import { makeHandle } from '../../../../lib/options/passkeys/passkeys.ts';
import type { Bearer } from '../../../../lib/options/sessions/bearer.ts';
import {
  type Algorithm,
  type Cbor,
  type Changes,
  cbor,
  newPasskey,
  type Passkey,
  passkeySettings,
} from '../../../support/passkeys.ts';
import { storedUser } from '../../../support/stored-user.ts';
import recorded from './chromium-156.json' with { type: 'json' };
import vectors from './vectors.json' with { type: 'json' };

vi.mock(import('../../../../lib/keys/nonce.ts'), async (original) => {
  const nonces = await original();
  return { ...nonces, isNonce: vi.fn(nonces.isNonce) };
});

vi.stubEnv('JWT_SECRET', 'x'.repeat(40));
for (const [name, value] of Object.entries(passkeySettings)) vi.stubEnv(name, value);
afterAll(() => vi.unstubAllEnvs());

const callerOf = (id: number, session: string) =>
  ({ ...storedUser({ id }), session: { id: session } }) as Bearer;
const caller = callerOf(7, 'A'.repeat(22));
const challengeFor = async (kind = forAdding(caller), now = new Date()) =>
  Buffer.from(await makeNonce(kind, now)).toString('base64url');

const made = async (changes: Changes = {}, passkey = newPasskey()) =>
  verifyMade(passkey.make({ challenge: await challengeFor() }, changes), forAdding(caller));

const handle = makeHandle();
const user = storedUser({ id: 7, passkey_handle: handle });
const used = async (changes: Changes = {}, passkey = newPasskey()) => {
  const credential = passkey.use(await loginOptions(), { userHandle: handle, ...changes });
  return verifyUsed(credential, user, passkey.publicKey);
};

const { ES256, ES256onP384, EdDSA, RS256, RS256short } = Object.fromEntries(
  (['ES256', 'ES256onP384', 'EdDSA', 'RS256', 'RS256short'] as const).map((algorithm) => [
    algorithm,
    newPasskey({ algorithm }),
  ]),
) as Record<Algorithm, Passkey>;

const fiveMinutes = 5 * 60_000;
const earlier = (milliseconds: number) => new Date(Date.now() - milliseconds);

/** Flaws for which both a registration and a login must be refused. */
const flaws: Readonly<Record<string, Changes>> = {
  'another origin': { origin: 'https://app.example.org' },
  'an origin that only begins like the right one': { origin: 'https://app.example.com.evil.test' },
  'an origin of another subdomain': { origin: 'https://other.app.example.com' },
  'an origin of another port': { origin: 'https://app.example.com:8443' },
  'an origin by http': { origin: 'http://app.example.com' },
  'another RP id': { rpId: 'example.org' },
  'the RP id of a subdomain': { rpId: 'app.example.com' },
  'another challenge': { challenge: Buffer.from(randomUUID()).toString('base64url') },
  'no user presence': { isPresent: false },
  'no user verification': { isVerified: false },
  'a page in a frame of another origin': { client: { crossOrigin: true } },
  'a page in a frame that names the origin around it': {
    client: { crossOrigin: true, topOrigin: 'https://app.example.com' },
  },
  'an origin around the page without a frame': { client: { topOrigin: 'https://evil.test' } },
  'another type': { type: 'payment.get' },
};

describe('A passkey that a browser has made', () => {
  it.each([
    ['ES256', ES256],
    ['EdDSA', EdDSA],
    ['RS256', RS256],
  ])('is accepted with a key of %s', async (_, passkey) => {
    const { credential } = (await made({}, passkey)) ?? expect.unreachable();

    expect(credential).toEqual({
      credential_id: passkey.id,
      public_key: new Uint8Array(passkey.publicKey),
      counter: 0,
      backed_up: false,
    });
  });

  it('is accepted from each origin of the setting, and says whether it is backed up', async () => {
    const changes = { origin: 'https://example.com:8443', counter: 3 };

    const { credential } =
      (await made(changes, newPasskey({ isBackedUp: true }))) ?? expect.unreachable();

    expect(credential).toMatchObject({ counter: 3, backed_up: true });
  });

  it.each<[string, Changes]>([
    ['that a security key has made itself', { statement: 'own' }],
    ['by a certificate', { fmt: 'packed', statement: new Map([['x5c', Buffer.alloc(9000)]]) }],
    ['by Windows, in Firefox', { fmt: 'tpm', statement: new Map([['ver', '2.0']]) }],
    ['in an unknown format', { fmt: 'apple-appattest', statement: new Map([['', '']]) }],
    ['without a format', { fmt: 0 }],
    ['that another key has signed', { statement: 'own', key: ES256.privateKey }],
  ])(
    'is accepted, because attestations are ignored, with an attestation %s',
    async (_, changes) => {
      const passkey = newPasskey();

      const found = await made(changes, passkey);

      expect(found?.credential).toEqual({
        credential_id: passkey.id,
        public_key: new Uint8Array(passkey.publicKey),
        counter: 0,
        backed_up: false,
      });
    },
  );

  it.each([
    [16 * 1024, true],
    [16 * 1024 + 1, false],
  ])('is accepted with an attestation object of %i bytes: %s', async (size, isAccepted) => {
    const challenge = await challengeFor();
    const objectOf = (padding: number) => {
      const statement = new Map([['sig', Buffer.alloc(padding)]]);
      return passkey.make({ challenge }, { fmt: 'packed', statement });
    };
    const passkey = newPasskey();
    const bytesOf = ({ response }: ReturnType<Passkey['make']>) =>
      Buffer.byteLength(response.attestationObject, 'base64url');
    const credential = objectOf(size - bytesOf(objectOf(1000)) + 1000);

    expect(bytesOf(credential)).toBe(size);
    expect((await verifyMade(credential, forAdding(caller))) !== undefined).toBe(isAccepted);
  });

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['lists in lists', Buffer.alloc(16_000, 0x81)],
    ['a number', cbor(1)],
    ['a map without authenticator data', cbor(new Map([['fmt', 'none']]))],
    ['a map whose authenticator data are text', cbor(new Map([['authData', 'x'.repeat(200)]]))],
  ])('is refused for an attestation object that consists of %s', async (_, object) => {
    const credential = newPasskey().make({ challenge: await challengeFor() });
    const response = { ...credential.response, attestationObject: object.toString('base64url') };

    expect(await verifyMade({ ...credential, response }, forAdding(caller))).toBeUndefined();
  });

  it.each([
    [1024, true],
    [1025, false],
  ])('is accepted with a key of %i bytes that has an unknown member: %s', async (...given) => {
    const [size, isAccepted] = given;
    const padded = (length: number) => (key: ReadonlyMap<number, Cbor>) =>
      new Map<number, Cbor>([...key, [-7000, Buffer.alloc(length)]]);
    const { credential: shorter } =
      (await made({ cose: padded(300) }, ES256)) ?? expect.unreachable();
    const padding = 300 + size - shorter.public_key.length;

    const found = await made({ cose: padded(padding) }, ES256);

    expect(found?.credential.public_key.length).toBe(isAccepted ? size : undefined);
  });

  it.each([
    ['3', false, '03'],
    ['65,535', false, 'ffff'],
    ['65,537', true, '010001'],
    ['65,538, which is even', false, '010002'],
    ['2^32 - 1', true, 'ffffffff'],
    ['2^32 + 1', false, '0100000001'],
    ['a number of 2,048 bits', false, '55'.repeat(256)],
  ])('is accepted with an RSA key whose exponent is %s: %s', async (_, isAccepted, hex) => {
    const cose = (key: ReadonlyMap<number, Cbor>) =>
      new Map<number, Cbor>([...key, [-2, Buffer.from(hex, 'hex')]]);

    expect((await made({ cose }, RS256)) !== undefined).toBe(isAccepted);
  });

  it.each([
    [2040, false],
    [2048, true],
    [4096, true],
    [4104, false],
  ])('is accepted with an RSA key whose modulus has %i bits: %s', async (bits, isAccepted) => {
    const cose = (key: ReadonlyMap<number, Cbor>) =>
      new Map<number, Cbor>([...key, [-1, Buffer.alloc(bits / 8, 0xff)]]);

    expect((await made({ cose }, RS256)) !== undefined).toBe(isAccepted);
  });

  it.each(Object.entries(flaws))('is refused for %s', async (_, changes) => {
    expect(await made(changes)).toBeUndefined();
  });

  it.each<[string, Changes]>([
    ['the type of a login', { type: 'webauthn.get' }],
    ['the id of another credential', { id: 'A'.repeat(22) }],
    [
      'authenticator data with bytes after it',
      { altered: (data) => Buffer.concat([data, Buffer.of(0)]) },
    ],
    ['authenticator data that is cut', { altered: (data) => data.subarray(0, -1) }],
    ['authenticator data without a key', { altered: (data) => data.subarray(0, 37) }],
  ])('is refused for %s', async (_, changes) => {
    expect(await made(changes)).toBeUndefined();
  });

  it.each([
    ['another kind of credential', { type: 'password' }],
    ['another raw id', { rawId: 'A'.repeat(22) }],
  ])('is refused for %s', async (_, fields) => {
    const credential = newPasskey().make({ challenge: await challengeFor() });

    expect(await verifyMade({ ...credential, ...fields }, forAdding(caller))).toBeUndefined();
  });

  it.each([
    ['an RSA key of 1,024 bits', RS256short],
    ['a key on another curve than the curve of its algorithm', ES256onP384],
  ])('is refused for %s', async (_, passkey) => {
    expect(await made({}, passkey)).toBeUndefined();
  });

  it.each([
    ['a login', () => challengeFor(forLogin)],
    ['another user', () => challengeFor(forAdding(callerOf(8, caller.session.id)))],
    ['another session', () => challengeFor(forAdding(callerOf(7, 'B'.repeat(22))))],
    [
      'a registration five minutes ago',
      () => challengeFor(forAdding(caller), earlier(fiveMinutes)),
    ],
  ])('is refused for a challenge of %s', async (_, challenge) => {
    const credential = newPasskey().make({ challenge: await challenge() });

    expect(await verifyMade(credential, forAdding(caller))).toBeUndefined();
  });

  it.each(['', '!', 'bnVsbA', 'MQ', Buffer.from('{"challenge":{}}').toString('base64url')])(
    'is refused for the client data %j',
    async (clientDataJSON) => {
      const credential = newPasskey().make({ challenge: await challengeFor() });
      const response = { ...credential.response, clientDataJSON };

      expect(await verifyMade({ ...credential, response }, forAdding(caller))).toBeUndefined();
    },
  );
});

/** The bytes of an integer in a signature, which begins at an offset. */
const integerAt = (der: Buffer, at: number) => der.subarray(at, at + 2 + (der[at + 1] ?? 0));
const sequence = (...parts: readonly Buffer[]) => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(0x30, content.length), content]);
};
const numbersOf = (der: Buffer) => {
  const r = integerAt(der, 2);
  return [r, integerAt(der, 2 + r.length)] as const;
};
const longer = (integer: Buffer) =>
  Buffer.concat([Buffer.of(2, integer.length - 1, 0), integer.subarray(2)]);

const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const numberOf = (integer: Buffer) => BigInt(`0x${integer.subarray(2).toString('hex')}`);
const integerOf = (number: bigint) => {
  const hex = number.toString(16);
  const even = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  const bytes = (even[0] ?? 0) < 0x80 ? even : Buffer.concat([Buffer.of(0), even]);
  return Buffer.concat([Buffer.of(2, bytes.length), bytes]);
};

describe('A passkey that a browser has used', () => {
  it.each([
    ['ES256', ES256],
    ['EdDSA', EdDSA],
    ['RS256', RS256],
  ])('is accepted with a key of %s', async (_, passkey) => {
    const { credential } = (await used({ counter: 9 }, passkey)) ?? expect.unreachable();

    expect(credential).toEqual({ credential_id: passkey.id, counter: 9, backed_up: false });
  });

  it.each(Object.entries(flaws))('is refused for %s', async (_, changes) => {
    expect(await used(changes)).toBeUndefined();
  });

  // biome-ignore format: a table
  it.each<[string, Changes]>([
    ['the type of a registration', { type: 'webauthn.create' }],
    ['the handle of another user', { userHandle: makeHandle() }],
    ['the key of another passkey', { key: ES256.privateKey }],
    ['a counter that was altered', { altered: (data) => Buffer.from(data).fill(1, 33, 37) }],
    ['flags that were altered', { isVerified: false, altered: (data) => Buffer.from(data).fill(5, 32, 33) }],
    ['bytes after the authenticator data', { altered: (data) => Buffer.concat([data, Buffer.of(0)]) }],
    ['no signature', { signature: () => Buffer.alloc(0) }],
    ['half a signature', { signature: (der) => sequence(numbersOf(der)[0]) }],
    ['a number in more bytes than it needs', { signature: (der) => sequence(longer(numbersOf(der)[0]), numbersOf(der)[1]) }],
    ['the other number in more bytes', { signature: (der) => sequence(numbersOf(der)[0], longer(numbersOf(der)[1])) }],
    ['a length in two bytes', { signature: (der) => Buffer.concat([Buffer.of(0x30, 0x81), der.subarray(1)]) }],
    ['a length without the last byte', { signature: (der) => Buffer.from(der).fill(der.length - 3, 1, 2) }],
    ['a tag that is not the tag of a sequence', { signature: (der) => Buffer.from(der).fill(0xb0, 0, 1) }],
    ['bytes after the signature', { signature: (der) => Buffer.concat([der, Buffer.of(0)]) }],
    ['a third number', { signature: (der) => sequence(...numbersOf(der), Buffer.of(2, 1, 1)) }],
    ['numbers that are zero', { signature: () => sequence(Buffer.of(2, 1, 0), Buffer.of(2, 1, 0)) }],
  ])('is refused for %s', async (_, changes) => {
    expect(await used(changes)).toBeUndefined();
  });

  it.each(['higher', 'lower'] as const)(
    'is accepted with the %s of the two valid numbers of its signature',
    async (which) => {
      const halves = (der: Buffer) => {
        const [r, s] = numbersOf(der);
        const [own, other] = [numberOf(s), order - numberOf(s)];
        const isHigher = own > other;
        return sequence(r, integerOf((which === 'higher') === isHigher ? own : other));
      };

      expect(await used({ signature: halves })).toBeDefined();
    },
  );

  it.each([
    ['a registration', () => challengeFor()],
    ['a login five minutes ago', () => challengeFor(forLogin, earlier(fiveMinutes))],
  ])('is refused for a challenge of %s', async (_, challenge) => {
    const passkey = newPasskey();
    const options = { challenge: await challenge() };
    const credential = passkey.use(options, { userHandle: handle });

    expect(await verifyUsed(credential, user, passkey.publicKey)).toBeUndefined();
  });

  it.each<[string, Changes]>([
    ['null', { userHandle: null }],
    ['empty', { userHandle: '' }],
  ])('is accepted with a user handle that is %s', async (_, changes) => {
    expect(await used(changes)).toBeDefined();
  });

  it('is accepted without a user handle, because older security keys do not send it', async () => {
    const passkey = newPasskey();
    const { response, ...credential } = passkey.use(await loginOptions());
    const { userHandle: _, ...others } = response;

    const found = await verifyUsed({ ...credential, response: others }, user, passkey.publicKey);

    expect(found).toBeDefined();
  });

  it('is refused if it has a user handle but the user has none', async () => {
    const passkey = newPasskey();
    const credential = passkey.use(await loginOptions(), { userHandle: handle });

    expect(await verifyUsed(credential, storedUser({ id: 7 }), passkey.publicKey)).toBeUndefined();
  });
});

/** Credentials of other implementations: the test vectors of Web Authentication, Level 3, and one of Windows Hello. */
describe('A passkey of another implementation', () => {
  const settings = ({ rpId = 'example.org', origin = 'https://example.org' }) =>
    vi.stubEnv('PASSKEYS', JSON.stringify({ rpId, origins: [origin] }));
  beforeEach(() => void vi.mocked(isNonce).mockResolvedValue(true));
  afterEach(() => {
    vi.mocked(isNonce).mockRestore();
    vi.stubEnv('PASSKEYS', passkeySettings.PASSKEYS);
  });

  it.each(vectors.made)(
    'at its registration is accepted ($isAccepted) with $title',
    async ({ id, ...vector }) => {
      settings({});
      const credential = { id, rawId: id, type: 'public-key', response: vector };

      const found = await verifyMade(credential, forAdding(caller));

      expect(found?.credential.credential_id).toBe(vector.isAccepted ? id : undefined);
    },
  );

  it.each(vectors.used)('at a login is accepted ($isAccepted) with $title', async (vector) => {
    settings(vector);
    const response = { ...vector, userHandle: handle };
    const credential = { id: 'A', rawId: 'A', type: 'public-key', response };

    const found = await verifyUsed(credential, user, Buffer.from(vector.publicKey, 'base64url'));

    expect(found !== undefined).toBe(vector.isAccepted);
  });
});

it('The options of a login name no passkey, and differ only in their challenge', async () => {
  const [one, other] = [await loginOptions(), await loginOptions()];

  expect(one).toEqual({
    challenge: expect.stringMatching(/^[\w-]+$/),
    timeout: 300_000,
    rpId: 'example.com',
    userVerification: 'required',
  });
  expect({ ...one, challenge: other.challenge }).toEqual(other);
});

describe('A passkey that Chromium has made and used at a page of localhost', () => {
  beforeEach(() => {
    vi.stubEnv('PASSKEYS', '{"rpId":"localhost","origins":["http://localhost:4711"]}');
    vi.useFakeTimers({ now: new Date('2026-11-26T12:01:00Z'), toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.stubEnv('PASSKEYS', passkeySettings.PASSKEYS);
  });

  const verify = async () => {
    const registration = await verifyMade(recorded.made, forAdding(caller));
    const { public_key } = registration?.credential ?? { public_key: new Uint8Array() };
    const holder = storedUser({ id: 7, passkey_handle: recorded.used.response.userHandle });
    return [registration, await verifyUsed(recorded.used, holder, public_key)];
  };

  it('is accepted within its five minutes', async () => {
    const { id: credential_id } = recorded.made;

    expect(await verify()).toMatchObject([
      { credential: { credential_id, counter: 1, backed_up: false } },
      { credential: { credential_id, counter: 2, backed_up: false } },
    ]);
  });

  it.each([
    [
      'at another port',
      () => vi.stubEnv('PASSKEYS', '{"rpId":"localhost","origins":["http://localhost:4712"]}'),
    ],
    ['after five minutes', () => vi.setSystemTime(new Date('2026-11-26T12:05:00Z'))],
    ['at another domain', () => vi.stubEnv('PASSKEYS', passkeySettings.PASSKEYS)],
  ])('is refused %s', async (_, change) => {
    change();

    expect(await verifyMade(recorded.made, forAdding(caller))).toBeUndefined();
  });
});
