/** Stands in for the parts of AWS KMS that tokens need, on loopback, with RSA keys that really sign. */
import * as crypto from 'node:crypto';
import { AwsRefusal, startAws } from './aws.ts';

type Input = Readonly<Record<string, string>>;

/** The ASN.1 before a SHA-256 digest in PKCS #1 (RFC 8017, section 9.2). */
const digestInfo = Buffer.from('3031300d060960864801650304020105000420', 'hex');
const arn = 'arn:aws:kms:us-east-1:111122223333:key/';

export const startKms = async () => {
  const keys = new Map<string, crypto.KeyObject>();
  const aliases = new Map<string, { key: string; since: number }>();
  /** The requests, such as `Sign alias/current`. */
  const requests: string[] = [];
  /** The name of the refusal of a request, or `reset`. */
  const state = { fault: (_: string): string | undefined => undefined };

  const makeKey = (): string => {
    const id = crypto.randomUUID();
    keys.set(id, crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
    return arn + id;
  };
  const find = (name = '') => {
    const id = (aliases.get(name)?.key ?? name).replace(arn, '');
    const key = keys.get(id);
    if (!key) throw new AwsRefusal('NotFoundException');
    return { id, key };
  };
  const place = (name: string, key = makeKey(), since = Date.now()) =>
    void aliases.set(name, { key: find(key).id, since });
  const operations: Readonly<Record<string, (input: Input) => object | undefined>> = {
    GetPublicKey: ({ KeyId }) => {
      const { id, key } = find(KeyId);
      const der = crypto.createPublicKey(key as never).export({ type: 'spki', format: 'der' });
      return { KeyId: arn + id, PublicKey: der.toString('base64') };
    },
    Sign: ({ KeyId, Message = '', MessageType, SigningAlgorithm }) => {
      if (`${MessageType} ${SigningAlgorithm}` !== 'DIGEST RSASSA_PKCS1_V1_5_SHA_256') return;
      const { key } = find(KeyId);
      const padded = Buffer.concat([digestInfo, Buffer.from(Message, 'base64')]);
      const signature = crypto.privateEncrypt(key, padded);
      return { Signature: signature.toString('base64') };
    },
    CreateKey: ({ KeySpec, KeyUsage }) =>
      `${KeySpec} ${KeyUsage}` === 'RSA_2048 SIGN_VERIFY'
        ? { KeyMetadata: { KeyId: makeKey().replace(arn, '') } }
        : undefined,
    CreateAlias: ({ AliasName = '', TargetKeyId }) => {
      if (aliases.has(AliasName)) throw new AwsRefusal('AlreadyExistsException');
      place(AliasName, TargetKeyId);
      return {};
    },
    UpdateAlias: ({ AliasName = '', TargetKeyId }) => {
      find(AliasName);
      place(AliasName, TargetKeyId);
      return {};
    },
    DeleteAlias: ({ AliasName = '' }) => (aliases.delete(AliasName) ? {} : undefined),
    ListAliases: () => ({
      Aliases: [...aliases].map(([AliasName, { key: TargetKeyId, since }]) => ({
        AliasName,
        TargetKeyId,
        LastUpdatedDate: since / 1000,
      })),
    }),
    ScheduleKeyDeletion: ({ KeyId }) => (keys.delete(find(KeyId).id) ? {} : undefined),
  };

  const { url, stop } = await startAws({
    operations,
    faultOf: (_, operation, { KeyId, AliasName = '' }) => {
      const request = `${operation} ${KeyId ?? AliasName}`.trim();
      requests.push(request);
      const fault = state.fault(request);
      if (fault === 'reset') return fault;
      return fault ? new AwsRefusal(fault) : undefined;
    },
  });
  const environment = { KMS_URL: `${url}/`, AWS_ENDPOINT_URL_KMS: url };
  return Object.assign(state, { environment, aliases, keys, requests, makeKey, place, stop });
};
