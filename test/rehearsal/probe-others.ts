/** The calls of a function besides its calls of tables: for keys, secrets, mails, events, and the archive. */
import type { Use } from '../../infra/permissions.ts';
import type { FunctionDefinition } from '../../infra/uses.ts';
import { senderIn } from '../../lib/ground/rules.ts';
import { fileName } from '../../lib/seal/header.ts';
import type { ProbeCall } from './probe.ts';

/** The environment of a deployed function and the outputs of its stack, which name everything that it uses. */
export type Variables = Readonly<Record<string, string>>;

/** The calls that a function makes for its uses, besides calls of tables. */
export const otherCalls = (
  { uses }: Pick<FunctionDefinition, 'uses'>,
  variables: Variables,
  encrypted: string,
): readonly ProbeCall[] => [
  ...(variables.EDGE_SECRET_ID ? [secretOf(variables.EDGE_SECRET_ID)] : []),
  ...[...uses].flatMap((use) => callsOfUses[use]?.(variables, encrypted) ?? []),
];

/** SES accepts mails to this address, and delivers them to nobody (Amazon SES Developer Guide, mailbox simulator). */
export const simulator = 'success+accounts-proof@simulator.amazonses.com';

type Calls = (variables: Variables, encrypted: string) => readonly ProbeCall[];

const callsOfUses: Readonly<Partial<Record<Use, Calls>>> = {
  'signing-secret': ({ JWT_SECRET_ID = '' }) => [secretOf(JWT_SECRET_ID)],
  'keys.read': ({ TOKEN_SIGNING_KEY: key }) => (key ? [kms('GetPublicKey', key)] : []),
  'keys.sign': ({ TOKEN_SIGNING_KEY: key }) =>
    key ? [sign(key, 'RSASSA_PKCS1_V1_5_SHA_256')] : [],
  'factor.encrypt': ({ SECOND_FACTOR_KEY: key }) =>
    key ? [kms('Encrypt', key, { Plaintext: 'b2s=', EncryptionContext: contextOfFactor })] : [],
  'factor.decrypt': ({ SECOND_FACTOR_KEY: key }, CiphertextBlob) =>
    key ? [kms('Decrypt', key, { CiphertextBlob, EncryptionContext: contextOfFactor })] : [],
  mail: ({ MAIL_FUNCTION_URL: url }) => {
    const path = url?.replace(/^https?:\/\/[^/]+/, '');
    return path ? [{ service: 'lambda', operation: 'Invoke', input: {}, path }] : [];
  },
  'mail.send': ({ MAIL_FROM = '', UnsentMailsQueueUrl = '' }) => [
    sendTo(UnsentMailsQueueUrl),
    {
      ...{ service: 'ses', operation: 'SendEmail', path: '/v2/email/outbound-emails' },
      input: {
        FromEmailAddress: senderIn(MAIL_FROM).address,
        Destination: { ToAddresses: [simulator] },
        Content: { Simple: { Subject: { Data: 'A proof' }, Body: { Text: { Data: 'ok' } } } },
      },
    },
  ],
  seal: ({ AUDIT_SEAL_KEY: key }) => (key ? [kms('GetPublicKey', key)] : []),
  'seal.compare': ({ AUDIT_ARCHIVE_URL: url }) =>
    url ? readArchive(url.split('/').at(-1) ?? '') : [],
  'audit.seal': ({ AUDIT_SEAL_KEY = '', AUDIT_ARCHIVE_BUCKET = '' }) => [
    kms('GetPublicKey', AUDIT_SEAL_KEY),
    sign(AUDIT_SEAL_KEY, 'ED25519_SHA_512'),
    ...readArchive(AUDIT_ARCHIVE_BUCKET),
    // The file exists, and is not overwritten.
    s3('PutObject', { ...firstFile(AUDIT_ARCHIVE_BUCKET), Body: '', IfNoneMatch: '*' }),
  ],
  'audit.publish': ({ EVENT_BUS: EventBusName, EVENT_SOURCE, REFUSED_EVENTS_QUEUE_URL = '' }) => {
    const entry = {
      EventBusName,
      Source: `${EVENT_SOURCE}-proof`,
      DetailType: 'proof',
      Detail: '{}',
    };
    return [
      { service: 'events', operation: 'PutEvents', input: { Entries: [entry] } },
      sendTo(REFUSED_EVENTS_QUEUE_URL),
    ];
  },
};

/** The encryption context of texts that the key of second factors encrypts. */
export const contextOfFactor = { user: '0' };

const secretOf = (SecretId: string): ProbeCall => ({
  ...{ service: 'secretsmanager', operation: 'GetSecretValue' },
  input: { SecretId, VersionStage: 'AWSCURRENT' },
});

const sendTo = (QueueUrl: string): ProbeCall => ({
  ...{ service: 'sqs', operation: 'SendMessage', input: { QueueUrl, MessageBody: 'of a proof' } },
});

const kms = (operation: string, KeyId: string, input: object = {}): ProbeCall => ({
  ...{ service: 'kms', operation, input: { KeyId, ...input } },
});

/** Signs a text that has as many bytes as a digest. */
const sign = (key: string, SigningAlgorithm: string): ProbeCall =>
  kms('Sign', key, {
    SigningAlgorithm,
    MessageType: SigningAlgorithm.startsWith('RSA') ? 'DIGEST' : 'RAW',
    Message: Buffer.alloc(32).toString('base64'),
  });

const firstFile = (Bucket: string) => ({ Bucket, Key: `audit-archive/${fileName(1)}` });

const readArchive = (Bucket: string): ProbeCall[] => [
  s3('ListObjectVersions', { Bucket, Prefix: 'audit-archive/', MaxKeys: 1 }),
  // S3 does not report a missing version to a caller who may not list the bucket.
  s3('GetObject', { ...firstFile(Bucket), VersionId: 'null' }),
];

const s3 = (operation: string, input: object): ProbeCall => ({ service: 's3', operation, input });
