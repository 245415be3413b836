/** Tokens that other servers verify by `accounts-client/verify` (functions/README.md, Tokens that others verify). */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { verifyToken } from '../../functions/client/verify.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { folderForThisFile } from '../support/folder.ts';
import { startLoopback } from '../support/loopback.ts';
import { encode, outlived, signToken, signTokenWithKey } from '../support/tokens.ts';

const folder = folderForThisFile();
const audience = 'https://orders.example.com';
const service = await serviceForThisFile({
  TOKEN_SIGNING: 'RS256',
  TOKEN_AUDIENCE: audience,
  DATA_DIR: folder,
});
const plain = await serviceForThisFile();
const { url } = service;
const { id, email, token } = await register(service.api);

const key = createPrivateKey(readFileSync(join(folder, 'token-key-first')));
const [header, claims] = [decodeProtectedHeader(token), decodeJwt(token)];
const pem = String(createPublicKey(key).export({ type: 'spki', format: 'pem' }));
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const { exp: _, ...unending } = claims;
const [signedHead, , signature] = token.split('.');

beforeEach(() => {
  // The machine may stand still for as long as it takes.
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
});
afterEach(() => void vi.restoreAllMocks());

it('A token of the service says who the user is', async () => {
  expect(await verifyToken(token, { url, audience })).toEqual({
    data: { id, email, role: 'user' },
    error: null,
  });
});

it.each([
  ['for another audience', signTokenWithKey({ ...claims, aud: url }, key, header)],
  ['of another issuer', signTokenWithKey({ ...claims, iss: 'https://x.example' }, key, header)],
  ['without an expiry', signTokenWithKey(unending, key, header)],
  ['of another type', signTokenWithKey(claims, key, { ...header, typ: 'JWT' })],
  ['with a key that is not published', signTokenWithKey(claims, key, { ...header, kid: 'x' })],
  ['that a stranger signed', signTokenWithKey(claims, stranger, header)],
  ['signed with the public key as a secret', signToken(claims, pem, { ...header, alg: 'HS256' })],
  ['that names another algorithm', signTokenWithKey(claims, key, { ...header, alg: 'RS512' })],
  ['without a signature', `${encode({ ...header, alg: 'none' })}.${encode(claims)}.`],
  ['edited to say admin', `${signedHead}.${encode({ ...claims, role: 'admin' })}.${signature}`],
  ['with no user', signTokenWithKey({ ...claims, id: undefined }, key, header)],
  ['that is not a JWT', 'x'],
])('A token %s has the error TOKEN_INVALID', async (__, wrong) => {
  const { data, error } = await verifyToken(wrong, { url, audience });
  expect([data, error?.code, error?.status]).toEqual([null, 'TOKEN_INVALID', 401]);
});

it('A token that has expired has the error TOKEN_EXPIRED', async () => {
  const old = outlived(token, (past, same) => signTokenWithKey(past, key, same));
  const { error } = await verifyToken(old, { url, audience });
  expect(error?.code).toBe('TOKEN_EXPIRED');
});

it('The audience defaults to the issuer, and the issuer to the address of the service', async () => {
  const same = signTokenWithKey({ ...claims, aud: url }, key, header);
  expect((await verifyToken(same, { url })).data).toMatchObject({ id });
  expect((await verifyToken(token, { url })).error?.code).toBe('TOKEN_INVALID');
});

it('A token is not judged if the keys cannot be read', async () => {
  const { url: silent, stop } = await startLoopback(({ socket }) => socket.destroy());
  const answers = [
    await verifyToken(token, { url: silent, issuer: url, audience }),
    await verifyToken(token, { url: plain.url, issuer: url, audience }),
  ];
  await stop();

  for (const { error } of answers) {
    expect([error?.code, error?.isTemporary]).toEqual(['NO_RESPONSE', true]);
  }
});
