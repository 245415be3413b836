import { decodeProtectedHeader } from 'jose';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { tokenKeys } from '../../../lib/keys/signing-key.ts';
import { issueToken, verifyToken } from '../../../lib/keys/token.ts';
import { startKms } from '../../support/kms.ts';

const kms = await startKms();
const names = 'alias/accounts/token-signing-';
const settings = {
  ...kms.environment,
  TOKEN_SIGNING: 'RS256',
  TOKEN_SIGNING_KEY: kms.makeKey(),
  TOKEN_KEYS: names,
  API_URL: 'https://accounts.example.com',
  AWS_REGION: 'us-east-1',
};
for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
const logged = vi.spyOn(console, 'error').mockReturnValue();
vi.useFakeTimers({ toFake: ['Date'] });
afterEach(() => {
  kms.fault = () => undefined;
  kms.aliases.clear();
  logged.mockClear();
});
afterAll(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  logged.mockRestore();
  await kms.stop();
});

const user = { id: 7, email: 'ada@example.org', role: 'user' } as const;
/** The ids of the keys six minutes later; the first key signs. */
const kidsThen = async () => {
  vi.setSystemTime(Date.now() + 360_000);
  return (await tokenKeys()).map(({ published }) => published.kid);
};

/** How often the keys were read since the last call. */
const reads = () =>
  kms.requests.splice(0).filter((request) => request === `GetPublicKey ${names}current`).length;

describe('The keys in KMS', () => {
  it('are asked for by each request as long as they have never been read', async () => {
    kms.fault = () => 'AccessDeniedException';
    await expect(tokenKeys()).rejects.toThrow();
    await expect(tokenKeys()).rejects.toThrow();
    expect(reads()).toBe(2);
  });

  it('are the stack’s own key until there are aliases, and then the keys of the aliases', async () => {
    const own = await kidsThen();
    for (const stage of ['next', 'current', 'previous']) kms.place(names + stage);
    const three = await kidsThen();
    // As `--sign` leaves the keys: the key that signs is also still the next key.
    kms.place(`${names}current`, kms.aliases.get(`${names}next`)?.key);

    expect([own.length, new Set([...own, ...three]).size]).toEqual([1, 4]);
    expect(await kidsThen()).toEqual([three[1], three[2]]);
  });

  it('sign with the key that the token names, although the alias has already moved', async () => {
    kms.place(`${names}current`);
    const [kid] = await kidsThen();
    kms.place(`${names}current`);

    const token = await issueToken(user);

    expect(decodeProtectedHeader(token).kid).toBe(kid);
    expect(await verifyToken(token)).toMatchObject(user);
  });

  it.each([
    ['next', 2, 'next-signing-key-not-read'],
    // The earlier keys are kept, because without the previous key its tokens could not be verified.
    ['previous', 1, 'signing-keys-not-read'],
  ])(
    'do not count the %s key as missing if IAM forbids to read it',
    async (stage, length, message) => {
      await kidsThen();
      for (const each of ['current', 'next', 'previous']) kms.place(names + each);
      kms.fault = (request) => (request.endsWith(stage) ? 'AccessDeniedException' : undefined);

      expect(await kidsThen()).toHaveLength(length);
      expect(logged.mock.calls.flat().join()).toContain(`"${message}"`);
    },
  );
});

describe('Keys that a function has read', () => {
  it.each([
    ['for five minutes', 4.9, false, 0],
    ['for five minutes, and then read again', 5, false, 1],
    ['and read again if the clock was set back', -600, false, 1],
    ['for a minute, even for an unknown kid', 0.9, true, 0],
    ['for a minute, and then read again for an unknown kid', 1, true, 1],
  ])('are kept %s, however many callers ask', async (_, minutes, isUnknown, expected) => {
    kms.place(`${names}current`);
    const [kid = ''] = await kidsThen();
    kms.place(`${names}current`);
    reads();
    vi.setSystemTime(Date.now() + minutes * 60_000);
    const asked = isUnknown ? 'nobody' : kid;
    const flood = () => Promise.all(Array.from({ length: 1000 }, () => tokenKeys(asked)));
    await flood();
    await flood();
    const [key] = await tokenKeys(asked);

    expect([reads(), key.published.kid === kid]).toEqual([expected, expected === 0]);
  });

  it('stay in use while new reads fail, and are read at most once a minute, even for an unknown kid', async () => {
    const kids = await kidsThen();
    kms.fault = () => 'AccessDeniedException';
    reads();

    expect(await kidsThen()).toEqual(kids);
    expect((await tokenKeys('nobody')).map(({ published }) => published.kid)).toEqual(kids);
    expect(reads()).toBe(1);
  });
});
