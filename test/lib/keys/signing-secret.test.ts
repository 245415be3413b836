import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SecretVersion, SecretVersions } from '../../../lib/keys/secret-source.ts';
import { readSecret } from '../../../lib/keys/secret-source.ts';
import { keptKeys, keysInForce, type SigningKeys } from '../../../lib/keys/signing-secret.ts';

const second = 1000;
const hour = 3600 * second;

const version = (id: string, createdAt: number): SecretVersion => ({
  id,
  value: `${id}-${'x'.repeat(32)}`,
  createdAt: new Date(createdAt),
});

const names = (keys: SigningKeys) =>
  keys.map(({ keyObject }) => keyObject.export().toString().replace(/-x+$/, ''));

describe('keysInForce', () => {
  const rotated: SecretVersions = {
    current: version('new', 1_000 * hour),
    previous: version('old', 0),
  };

  it('lets the only version of a secret sign at once', () => {
    expect(names(keysInForce({ current: version('only', 5 * hour) }, 0))).toEqual(['only']);
  });

  it('imports a version once, however often its key is asked for', () => {
    const [first] = keysInForce(rotated, 1_100 * hour);
    const [second] = keysInForce(rotated, 1_100 * hour);

    expect(second.cryptoKey).toBe(first.cryptoKey);
  });

  it('imports keys in a form that cannot be exported', () => {
    expect(keysInForce(rotated, 0).map(({ cryptoKey }) => cryptoKey.extractable)).toEqual([
      false,
      false,
    ]);
  });

  it.each([
    ['right after the rotation', 0, ['old', 'new']],
    ['until every instance has read the new version', 119 * second, ['old', 'new']],
    ['from then on', 120 * second, ['new', 'old']],
    ['while a token of the old version may be valid', 24 * hour + 179 * second, ['new', 'old']],
    ['once the last token of the old version has expired', 24 * hour + 180 * second, ['new']],
  ])(
    'returns the signing key first, and then the other keys that verify: %s',
    (_, age, expected) => {
      expect(names(keysInForce(rotated, age))).toEqual(expected);
    },
  );
});

describe('The keys of a secret', () => {
  it('are read once a minute', async () => {
    let [now, reads] = [0, 0];
    const keys = keptKeys(
      async () => {
        reads += 1;
        return { current: version(`v${reads}`, 0) };
      },
      () => now,
    );

    const first = await keys();
    now = 59 * second;
    const kept = await keys();
    now = 60 * second;

    expect([first, kept, await keys()].map(names)).toEqual([['v1'], ['v1'], ['v2']]);
  });

  it('are read again if only a part of a rotation may have been visible', async () => {
    let now = 0;
    const rotated = { current: version('new', -second), previous: version('old', -hour) };
    const read = vi.fn(async (known?: SecretVersions) => known ?? rotated);
    read.mockResolvedValueOnce({ current: rotated.current });
    const keys = keptKeys(read, () => now);
    await keys();

    now = hour;

    expect(names(await keys())).toEqual(['new', 'old']);
  });

  it.each([
    ['119 seconds after a rotation without the known versions', 119, undefined],
    ['120 seconds after a rotation with the known versions', 120, { current: version('v1', hour) }],
  ])('are read again %s', async (_, age, known) => {
    let now = hour + age * second;
    const read = vi.fn(async (_known?: SecretVersions) => ({ current: version('v1', hour) }));
    const keys = keptKeys(read, () => now);
    await keys();

    now += 60 * second;
    await keys();

    expect(read.mock.calls).toEqual([[undefined], [known]]);
  });

  it('let two instances of the service accept each other’s tokens at every moment of a rotation', async () => {
    let now = 0;
    let secret: SecretVersions = { current: version('old', -hour) };
    const instance = () =>
      keptKeys(
        async () => secret,
        () => now,
      );
    const [early, late] = [instance(), instance()];
    await early();
    now = 30 * second;
    await late();

    for (; now < 300 * second; now += 7 * second) {
      if (now > 60 * second && !secret.previous) {
        secret = { current: version('new', now), previous: secret.current };
      }
      const [a, b] = [names(await early()), names(await late())];
      expect(a).toContain(b[0]);
      expect(b).toContain(a[0]);
    }
    expect(names(await early())[0]).toBe('new');
  });
});

describe('readSecret', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'secret-'));
    for (const name of ['JWT_SECRET', 'JWT_SECRET_FILE', 'JWT_SECRET_ID']) vi.stubEnv(name, '');
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });

  it('refuses a secret under 32 bytes without repeating it', async () => {
    vi.stubEnv('JWT_SECRET', 'thirty-one-bytes-are-not-enough');

    const error = await readSecret().catch((reason) => reason);

    expect(error.message).toBe(
      'Environment variable JWT_SECRET must give a secret of at least 32 bytes',
    );
  });

  it('names the variable when no secret is configured', async () => {
    await expect(readSecret()).rejects.toThrow('Environment variable JWT_SECRET_ID is not set');
  });

  it('reads the two newest versions of a file', async () => {
    const file = join(folder, 'secret.json');
    const versions = [version('c', 3), version('b', 2), version('a', 1)];
    await writeFile(file, JSON.stringify(versions));
    vi.stubEnv('JWT_SECRET_FILE', file);

    expect(await readSecret()).toEqual({ current: versions[0], previous: versions[1] });
  });

  const readFileOf = async (versions: unknown) => {
    const file = join(folder, 'secret.json');
    await writeFile(file, typeof versions === 'string' ? versions : JSON.stringify(versions));
    vi.stubEnv('JWT_SECRET_FILE', file);
    return readSecret();
  };

  it('reads a file of one version', async () => {
    expect(await readFileOf([version('a', 1)])).toEqual({ current: version('a', 1) });
  });

  it.each([[[]], [{}], [null], [''], ['[{"id":']])(
    'refuses a file with the content %j, and names the file',
    async (it) => {
      await expect(readFileOf(it)).rejects.toThrow(
        `Environment variable JWT_SECRET_FILE names a file without a secret, ${folder}`,
      );
    },
  );

  it('refuses a file with a short secret, without repeating it', async () => {
    await expect(readFileOf([{ ...version('a', 1), value: 'short' }])).rejects.toThrow(
      'Environment variable JWT_SECRET_FILE must give a secret of at least 32 bytes',
    );
  });

  it('accepts a secret of 32 bytes, and treats it as older than any token', async () => {
    const value = '0123456789abcdef0123456789abcdef';
    vi.stubEnv('JWT_SECRET', value);

    expect(await readSecret()).toEqual({
      current: { id: 'JWT_SECRET', value, createdAt: new Date(0) },
    });
  });
});
