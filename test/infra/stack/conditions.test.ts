/** What functions send to KMS and Secrets Manager, judged by the conditions of their roles. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fromEdge } from '../../../lib/http/edge.ts';
import type { IncomingEvent } from '../../../lib/http/request.ts';
import { decryptSecret, encryptSecret } from '../../../lib/keys/factor-key.ts';
import { readSecret } from '../../../lib/keys/secret-source.ts';
import { startLoopback } from '../../support/loopback.ts';
import { type Condition, meets } from '../../support/permissions.ts';
import { everything, resourcesOf, synthesise, target } from './template.ts';

interface Statement {
  readonly Action: string;
  readonly Resource: unknown;
  readonly Condition?: Condition;
}

/** The conditions that all roles together have for an action on a resource. */
const conditionsOf = (action: string, resource: string): readonly Condition[] =>
  [...resourcesOf(synthesise(everything), 'AWS::IAM::Policy').values()]
    .flatMap(({ Properties }): Statement[] => Properties.PolicyDocument.Statement)
    .filter(({ Action, Resource }) => Action === action && target(Resource) === resource)
    .map(({ Condition = {} }) => Condition);

const isAllowed = (action: string, resource: string, request: Parameters<typeof meets>[1]) => {
  const conditions = conditionsOf(action, resource);
  expect(conditions).not.toEqual([]);
  return conditions.every((one) => meets(one, request));
};

/** The keys of conditions, as each request gives them. */
const sent: Parameters<typeof meets>[1][] = [];
let stop: () => Promise<void>;

beforeAll(async () => {
  const answer = { CiphertextBlob: 'QQ==', Plaintext: 'QQ==', VersionId: 'v', CreatedDate: 1 };
  const loopback = await startLoopback((_, body, response) => {
    const { EncryptionContext = {}, VersionStage = [] } = JSON.parse(body);
    sent.push({
      'kms:EncryptionContextKeys': Object.keys(EncryptionContext),
      'secretsmanager:VersionStage': [VersionStage].flat(),
    });
    response.end(JSON.stringify({ ...answer, SecretString: 'x'.repeat(64) }));
  });
  stop = loopback.stop;
  const keys = { SECOND_FACTOR_KEY: 'key', SECOND_FACTOR_LOCAL_KEY: '', KMS_URL: loopback.url };
  const secrets = { JWT_SECRET: '', JWT_SECRET_ID: 'signing', EDGE_SECRET_ID: 'edge' };
  for (const [name, value] of Object.entries({
    ...keys,
    ...secrets,
    SECRETS_URL: loopback.url,
    AWS_REGION: 'a',
  })) {
    vi.stubEnv(name, value);
  }
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await stop();
});

/** A request that has come round CloudFront is refused, by what the secret says. */
const readEdgeSecret = () => {
  const event = { headers: {} } as IncomingEvent;
  return expect(fromEdge().before?.({ event } as never)).rejects.toThrow();
};

describe.each<[string, string, () => Promise<unknown>, number]>([
  ['kms:Encrypt', 'SecondFactorKey', () => encryptSecret(17, 'A SECRET'), 1],
  ['kms:Decrypt', 'SecondFactorKey', () => decryptSecret(17, 'QQ=='), 1],
  ['secretsmanager:GetSecretValue', 'SigningSecret', () => readSecret(), 2],
  ['secretsmanager:GetSecretValue', 'EdgeSecret', readEdgeSecret, 1],
])('%s of %s', (action, resource, send, count) => {
  it('is allowed in the way the code calls it', async () => {
    sent.length = 0;
    await send();

    expect(sent.length).toBe(count);
    for (const request of sent) expect(isAllowed(action, resource, request)).toBe(true);
  });

  it.each([
    ['without a context or a stage', {}],
    ['with a context that does not name the user', { 'kms:EncryptionContextKeys': ['account'] }],
    [
      'with a context that names more than the user',
      { 'kms:EncryptionContextKeys': ['user', 'account'] },
    ],
    ['of a pending version', { 'secretsmanager:VersionStage': ['AWSPENDING'] }],
  ])('is refused %s', (_, request) => {
    expect(isAllowed(action, resource, request)).toBe(false);
  });
});

it('Only the current version of the header value of CloudFront can be read', () => {
  const previous = { 'secretsmanager:VersionStage': ['AWSPREVIOUS'] };

  expect(isAllowed('secretsmanager:GetSecretValue', 'EdgeSecret', previous)).toBe(false);
});
