import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { Signer } from './digest.ts';

/** A new Ed25519 key (PKCS 8, PEM). */
export const makeKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** @param pem an Ed25519 key (PKCS 8) */
export const localSigner = (pem: string): Signer => {
  const key = createPrivateKey(pem);
  return {
    publicKey: createPublicKey(key),
    sign: async (message) => sign(null, message, key),
  };
};
