import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { lambdaEnvironment } from '../../bench/cold/cold-start.ts';
import {
  type SecretsManager,
  type StoredSecret,
  startSecretsManager,
} from '../../bench/cold/secrets-manager.ts';
import { startLoopback } from '../../support/loopback.ts';

describe('The signing keys of a secret in Secrets Manager', () => {
  const [newer, older] = [randomUUID(), randomUUID()];
  let secretsManager: SecretsManager;

  /** Starts over as a new process, which has not read the secret yet. */
  const startProcess = async (...[current, previous]: readonly StoredSecret[]) => {
    if (!current) throw new Error('A secret has a current version');
    secretsManager = await startSecretsManager({
      AWSCURRENT: current,
      ...(previous ? { AWSPREVIOUS: previous } : {}),
    });
    const address = { SECRETS_URL: secretsManager.endpoint };
    const secret = { JWT_SECRET: '', JWT_SECRET_FILE: '', JWT_SECRET_ID: 'signing-secret' };
    const environment = { ...lambdaEnvironment, ...address, ...secret };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    vi.resetModules();
  };

  const readKeys = async (...versions: readonly StoredSecret[]) => {
    await startProcess(...versions);
    const { signingKeys } = await import('../../../lib/keys/signing-secret.ts');
    const keys = await signingKeys();
    return keys.map(({ keyObject }) => keyObject.export().toString());
  };

  /** The requested stages, without repetitions in a row: a request that took too long is repeated. */
  const stages = () =>
    secretsManager.stages.filter((stage, i, all) => i === 0 || stage !== all[i - 1]);

  afterEach(async () => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
    await secretsManager.stop();
  });

  it('are both versions within a day of a rotation', async () => {
    const keys = await readKeys({ value: newer, age: 24 }, { value: older, age: 1000 });

    expect(keys).toEqual([newer, older]);
    expect(stages()).toEqual(['AWSCURRENT', 'AWSPREVIOUS']);
  });

  it('are both versions right after a rotation, and the older version signs', async () => {
    const keys = await readKeys({ value: newer, age: 0 }, { value: older, age: 1000 });

    expect(keys).toEqual([older, newer]);
  });

  it('are only the new version after a day, and need only one request', async () => {
    const keys = await readKeys({ value: newer, age: 25 }, { value: older, age: 1000 });

    expect(keys).toEqual([newer]);
    expect(stages()).toEqual(['AWSCURRENT']);
  });

  it('are only one version while the secret is new', async () => {
    expect(await readKeys({ value: newer, age: 0 })).toEqual([newer]);
  });

  it('are refused under 32 bytes, and the error does not repeat them', async () => {
    await expect(readKeys({ value: 'too-short', age: 0 })).rejects.toThrow(
      'Environment variable JWT_SECRET_ID must give a secret of at least 32 bytes',
    );
  });

  it('are the known keys while the newest version is the same, and need only one request', async () => {
    await startProcess({ value: newer, age: 1 }, { value: older, age: 24 });
    const { readSecret } = await import('../../../lib/keys/secret-source.ts');
    const known = await readSecret();

    const again = await readSecret(known);
    expect(stages()).toEqual(['AWSCURRENT', 'AWSPREVIOUS', 'AWSCURRENT']);
    const rotated = await readSecret({ current: { ...known.current, id: older } });

    expect(known).toMatchObject({ current: { id: newer }, previous: { id: older, value: older } });
    expect(again).toBe(known);
    expect(rotated).toEqual(known);
  });

  it.each([
    ['does not respond', ''],
    ['stops in the middle of its response', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{'],
  ])('are waited for only for a limited time when Secrets Manager %s', async (_, answer) => {
    const server = createServer((socket) => socket.once('data', () => socket.write(answer)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await startProcess({ value: newer, age: 0 });
    vi.stubGlobal('patience', 1);
    const { port } = server.address() as AddressInfo;
    vi.stubEnv('SECRETS_URL', `http://127.0.0.1:${port}`);
    const { readSecret } = await import('../../../lib/keys/secret-source.ts');

    await expect(readSecret()).rejects.toThrow(expect.objectContaining({ name: 'TimeoutError' }));
    server.close();
  });

  it('are read by a second request when Secrets Manager answers 500 to the first', async () => {
    await startProcess({ value: newer, age: 25 });
    const statuses = [500, 200, 200];
    const answer = { VersionId: 'one', SecretString: newer, CreatedDate: 0 };
    const { url, stop } = await startLoopback((_, __, response) => {
      response.statusCode = statuses.shift() ?? 500;
      response.end(JSON.stringify(answer));
    });
    onTestFinished(stop);
    vi.stubEnv('SECRETS_URL', url);
    const { readSecret } = await import('../../../lib/keys/secret-source.ts');

    expect(await readSecret()).toMatchObject({ current: { id: 'one', value: newer } });
  });

  it('are not read when the previous version cannot be read', async () => {
    await expect(readKeys({ value: newer, age: 1 }, { value: '', age: 24 })).rejects.toThrow();
  });
});
