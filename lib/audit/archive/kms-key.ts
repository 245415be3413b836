import { createPublicKey, type KeyObject } from 'node:crypto';
import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import type { Signer } from './digest.ts';

/**
 * The public half of a key in AWS KMS.
 * @param keyId its id or ARN
 * @throws the SDK's errors
 */
export const readPublicKey = async (keyId: string): Promise<KeyObject> => {
  const client = new KMSClient();
  try {
    const { PublicKey = new Uint8Array() } = await client.send(
      new GetPublicKeyCommand({ KeyId: keyId }),
    );
    return createPublicKey({ key: Buffer.from(PublicKey), type: 'spki', format: 'der' });
  } finally {
    client.destroy();
  }
};

/**
 * Signs by an Ed25519 key that never leaves AWS KMS.
 * @throws the SDK's errors
 */
export const kmsSigner = async (keyId: string): Promise<Signer> => {
  const publicKey = await readPublicKey(keyId);
  const client = new KMSClient();
  return {
    publicKey,
    sign: async (message) => {
      const { Signature = new Uint8Array() } = await client.send(
        new SignCommand({
          KeyId: keyId,
          Message: message,
          MessageType: 'RAW',
          SigningAlgorithm: 'ED25519_SHA_512',
        }),
      );
      return Signature;
    },
  };
};
