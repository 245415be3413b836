import { decodeProtectedHeader } from 'jose';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { cachedTokenKeys, type TokenKeys, tokenKeys } from '../../../lib/auth/signing-key.ts';
import { issueToken, verifyToken } from '../../../lib/auth/token.ts';
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
/** The keys as they are six minutes later, the one that signs first. */
const kidsThen = async () => {
  vi.setSystemTime(Date.now() + 360_000);
  return (await tokenKeys()).map(({ published }) => published.kid);
};

describe('The keys in KMS', () => {
  it('are the stack’s own key until there are aliases, and those of the aliases from then on', async () => {
    const own = await kidsThen();
    for (const stage of ['next', 'current', 'previous']) kms.place(names + stage);
    const three = await kidsThen();
    // As --sign leaves it: the key that signs is also still the next one.
    kms.place(`${names}current`, kms.aliases.get(`${names}next`)?.key);

    expect([own.length, new Set([...own, ...three]).size]).toEqual([1, 4]);
    expect(await kidsThen()).toEqual([three[1], three[2]]);
  });

  it('sign by the key that the token names, while the alias is moved already', async () => {
    kms.place(`${names}current`);
    const [kid] = await kidsThen();
    kms.place(`${names}current`);

    const token = await issueToken(user);

    expect(decodeProtectedHeader(token).kid).toBe(kid);
    expect(await verifyToken(token)).toMatchObject(user);
  });

  it.each([
    ['next', 2, 'next-signing-key-not-read'],
    // Rather the keys of before than without one that verifies.
    ['previous', 1, 'signing-keys-not-read'],
  ])(
    'are told apart, where the %s one may not be read, from one that is not there',
    async (stage, length, message) => {
      await kidsThen();
      for (const each of ['current', 'next', 'previous']) kms.place(names + each);
      kms.fault = (request) => (request.endsWith(stage) ? 'AccessDeniedException' : undefined);

      expect(await kidsThen()).toHaveLength(length);
      expect(logged.mock.calls.flat().join()).toContain(`"${message}"`);
    },
  );
});

const keyNamed = (kid: string) => ({ published: { kid } }) as TokenKeys[number];

/** Reads keys by a clock of minutes, and counts how often. */
const cached = () => {
  const state = { minutes: 1000, asked: 0, kid: 'a', fails: false };
  const read = async (): Promise<TokenKeys> => {
    state.asked += 1;
    if (state.fails) throw new Error('KMS is away');
    return [keyNamed(state.kid)];
  };
  return { state, keys: cachedTokenKeys(read, () => state.minutes * 60_000) };
};

describe('Keys that a function has read', () => {
  it.each([
    ['for five minutes', 4.9, 'a', 1],
    ['and read again after five minutes', 5, 'a', 2],
    ['and read again when the clock was set back', -600, 'a', 2],
    ['for a minute, though a kid is unknown', 0.9, 'b', 1],
    ['and read again after a minute for an unknown kid', 1, 'b', 2],
  ])('are kept %s, however many ask', async (_, minutes, kid, asked) => {
    const { state, keys } = cached();
    await keys();
    state.minutes += minutes;
    state.kid = 'b';
    const flood = () => Promise.all(Array.from({ length: 1000 }, () => keys(kid)));
    await flood();
    await flood();

    expect(state.asked).toBe(asked);
    expect(await keys()).toEqual([keyNamed(asked === 1 ? 'a' : 'b')]);
  });

  it('stay while they cannot be read, once a minute; without any each request asks', async () => {
    const { state, keys } = cached();
    state.fails = true;
    await expect(keys()).rejects.toThrow('away');
    await expect(keys()).rejects.toThrow('away');
    state.fails = false;
    await keys();
    state.fails = true;
    state.minutes += 6;

    expect([await keys(), await keys()]).toEqual([[keyNamed('a')], [keyNamed('a')]]);
    expect(state.asked).toBe(4);
  });
});
