import { createHash, randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { faultName } from '../../../lib/ground/errors.ts';
import { decryptSecret, encryptSecret } from '../../../lib/keys/factor-key.ts';
import { startLoopback } from '../../support/loopback.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const faultOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => faultName(error),
  );

interface Call {
  readonly target: string | undefined;
  readonly authorization: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * A server in place of KMS, whose ciphertext contains context and plaintext. @param failures before the first success
 */
const startKms = async ({ failures = 0 } = {}): Promise<Call[]> => {
  const calls: Call[] = [];
  const { url, stop } = await startLoopback((request, body, response) => {
    const input = JSON.parse(body);
    const target = request.headers['x-amz-target']?.toString();
    calls.push({ target, authorization: request.headers.authorization, input });
    if (calls.length <= failures) return response.destroy();
    const context = createHash('sha256').update(JSON.stringify(input.EncryptionContext)).digest();
    if (target?.endsWith('Encrypt')) {
      const sealed = Buffer.concat([context, Buffer.from(input.Plaintext, 'base64')]);
      return response.end(JSON.stringify({ CiphertextBlob: sealed.toString('base64') }));
    }
    const sealed = Buffer.from(input.CiphertextBlob, 'base64');
    if (!sealed.subarray(0, 32).equals(context)) return response.writeHead(400).end('{}');
    return response.end(JSON.stringify({ Plaintext: sealed.subarray(32).toString('base64') }));
  });
  onTestFinished(stop);
  vi.stubEnv('KMS_URL', `${url}/`);
  vi.stubEnv('SECOND_FACTOR_KEY', 'arn:aws:kms:eu-west-1:111122223333:key/one');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  return calls;
};

describe('The key in KMS', () => {
  it('encrypts and decrypts the secret of one user by signed requests', async () => {
    const calls = await startKms();

    const stored = await encryptSecret(17, 'A SECRET');

    expect(await decryptSecret(17, stored)).toBe('A SECRET');
    expect(calls.map(({ target }) => target)).toEqual([
      'TrentService.Encrypt',
      'TrentService.Decrypt',
    ]);
    for (const { authorization, input } of calls) {
      expect(authorization).toMatch(
        /^AWS4-HMAC-SHA256 Credential=[^/]*\/\d{8}\/eu-west-1\/kms\/aws4_request, /,
      );
      expect(input).toMatchObject({
        KeyId: 'arn:aws:kms:eu-west-1:111122223333:key/one',
        EncryptionContext: { user: '17' },
      });
    }
  });

  it('does not decrypt the secret of one user for another', async () => {
    await startKms();
    const stored = await encryptSecret(17, 'A SECRET');

    expect(await faultOf(decryptSecret(18, stored))).toBe('Http400');
  });

  it.each([
    [1, 'none'],
    [2, 'ECONNRESET'],
  ])('is asked at most twice: after %i lost responses the fault is %s', async (failures, fault) => {
    await startKms({ failures });

    expect(await faultOf(encryptSecret(17, 'A SECRET'))).toBe(fault);
  });
});

describe('The key on one machine', () => {
  it('makes another ciphertext each time, and decrypts only for the same user', async () => {
    vi.stubEnv('SECOND_FACTOR_LOCAL_KEY', randomBytes(32).toString('base64'));

    const [stored, other] = [
      await encryptSecret(17, 'A SECRET'),
      await encryptSecret(17, 'A SECRET'),
    ];

    expect(stored).not.toBe(other);
    expect(await decryptSecret(17, stored)).toBe('A SECRET');
    expect(await faultOf(decryptSecret(18, stored))).toBe('Error');
    expect(await faultOf(decryptSecret(17, stored.replace(/^..../, 'AAAA')))).toBe('Error');
  });
});
