import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { lambdaEnvironment } from '../../bench/cold/cold-start.ts';
import { type SecretsManager, startSecretsManager } from '../../bench/cold/secrets-manager.ts';

describe('signingKeys, of a secret in Secrets Manager', () => {
  const [newer, older] = [randomUUID(), randomUUID()];
  let secretsManager: SecretsManager;

  /** A process that knows nothing of the secret yet, and reads it. */
  const readKeys = async (...[current, previous]: readonly { value: string; age: number }[]) => {
    if (!current) throw new Error('A secret has a current version');
    secretsManager = await startSecretsManager({
      AWSCURRENT: current,
      ...(previous ? { AWSPREVIOUS: previous } : {}),
    });
    const address = { AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsManager.endpoint };
    const secret = { JWT_SECRET: '', JWT_SECRET_FILE: '', JWT_SECRET_ID: 'signing-secret' };
    const environment = { ...lambdaEnvironment, ...address, ...secret };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    vi.resetModules();
    const { signingKeys } = await import('../../../lib/tokens/signing-secret.ts');
    const keys = await signingKeys();
    return keys.map((key) => new TextDecoder().decode(key));
  };

  afterEach(async () => {
    vi.unstubAllEnvs();
    await secretsManager.stop();
  });

  it('are both versions within a day of a rotation', async () => {
    const keys = await readKeys({ value: newer, age: 24 }, { value: older, age: 1000 });

    expect(keys).toEqual([newer, older]);
    expect(secretsManager.requests).toHaveLength(2);
  });

  it('are the new version afterwards, for one request', async () => {
    const keys = await readKeys({ value: newer, age: 25 }, { value: older, age: 1000 });

    expect(keys).toEqual([newer]);
    expect(secretsManager.requests).toHaveLength(1);
  });

  it('are the only version of a new secret', async () => {
    expect(await readKeys({ value: newer, age: 0 })).toEqual([newer]);
  });
});
