import { describe, expect, it } from 'vitest';
import { auditPublisher, auditSealer, type FunctionDefinition } from '../../../infra/uses.ts';
import {
  everything,
  functionsOf,
  idOf,
  plainId,
  resourcesOf,
  synthesise,
  target,
} from './template.ts';

interface Statement {
  readonly Action: string | readonly string[];
  readonly Condition?: { readonly StringEquals: Readonly<Record<string, unknown>> };
}

type Settings = Readonly<Record<string, unknown>>;

const resources = (type: string, settings: Settings = everything) =>
  resourcesOf(synthesise(settings), type);

/** What each resource of a type has as its key, by a property. */
const keysOf = (type: string, property: string) =>
  [...resources(type).values()].map(({ Properties }) => target(Properties[property]));

describe('The key of all data', () => {
  const key = resources('AWS::KMS::Key').get('DataKey');
  const statementsFor = (service: string) =>
    key?.Properties.KeyPolicy.Statement.filter(({ Principal }: { Principal: object }) =>
      JSON.stringify(Principal).includes(service),
    );

  it('is one that rotates, and that stays in production', () => {
    expect(key).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: { EnableKeyRotation: true },
    });
    expect([...resources('AWS::KMS::Key').keys()]).not.toContain('AlarmTopicKey');
  });

  it.each([
    ['AWS::Logs::LogGroup', 'KmsKeyId'],
    ['AWS::SecretsManager::Secret', 'KmsKeyId'],
    ['AWS::SQS::Queue', 'KmsMasterKeyId'],
    ['AWS::SNS::Topic', 'KmsMasterKeyId'],
    ['AWS::Lambda::Function', 'KmsKeyArn'],
  ])('encrypts each %s', (type, property) => {
    expect([...new Set(keysOf(type, property))]).toEqual(['DataKey']);
  });

  it('encrypts both tables, and not the locked archive, which a deleted key would delete', () => {
    const tables = [...resources('AWS::DynamoDB::Table').values()].map(({ Properties }) => {
      const { SSEEnabled, SSEType, KMSMasterKeyId } = Properties.SSESpecification;
      return [SSEEnabled, SSEType, target(KMSMasterKeyId)];
    });
    const [[, archive] = []] = resources('AWS::S3::Bucket');

    expect(tables).toEqual([
      [true, 'KMS', 'DataKey'],
      [true, 'KMS', 'DataKey'],
    ]);
    expect(archive?.Properties.BucketEncryption.ServerSideEncryptionConfiguration).toEqual([
      { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
    ]);
  });

  it('may be used by CloudWatch for logs of this stack and for its alarms alone', () => {
    const [logs, ...others] = statementsFor('logs.');
    const [alarms] = statementsFor('cloudwatch.');

    expect(others).toEqual([]);
    expect(JSON.stringify(logs.Condition)).toMatch(/ArnLike.*aws:logs:arn.*:log-group:accounts-\*/);
    expect(alarms.Action).toEqual(['kms:Decrypt', 'kms:GenerateDataKey*']);
    expect(JSON.stringify(alarms.Condition)).toMatch(/ArnLike.*aws:SourceArn.*:alarm:accounts-\*/);
  });

  const services = ({ permissions, uses, routes }: FunctionDefinition) => [
    ...(permissions.length > 0 ? ['dynamodb'] : []),
    ...(uses.has('secret') || routes.length > 0 ? ['secretsmanager'] : []),
    ...(uses.has('mail.send') || uses.has('audit.publish') ? ['sqs'] : []),
  ];

  const all = [...functionsOf(everything), auditPublisher, auditSealer];

  it.each(all)('may be used by $name through what it uses alone', (definition) => {
    const policy = resources('AWS::IAM::Policy').get(idOf(definition, 'Role', 'DefaultPolicy'));
    const statements = policy?.Properties.PolicyDocument.Statement.filter(
      ({ Resource }: { Resource: unknown }) =>
        [Resource].flat().some((one) => target(one) === 'DataKey'),
    );
    const via = statements.map(({ Action, Condition }: Statement) =>
      [Condition?.StringEquals['kms:ViaService'] ?? Action]
        .flat()
        .map((one) => target(one).split('.')[0]),
    );

    expect(via).toEqual([
      ...(services(definition).length > 0 ? [services(definition)] : []),
      // The CDK lets whoever reads a stream decrypt it.
      ...(definition === auditPublisher ? [['kms:Decrypt', 'kms:DescribeKey']] : []),
    ]);
    expect(JSON.stringify(statements)).not.toContain('*');
  });

  it('may be one that exists, and a stack that was given one never makes another', () => {
    const encryptionKeyArn = 'arn:aws:kms:eu-west-1:123456789012:key/k';
    const given = { ...everything, encryptionKeyArn };
    const all = Object.entries(synthesise(given).toJSON().Resources);

    expect(all.filter(([id]) => plainId(id) === 'DataKey')).toEqual([
      [expect.anything(), { Type: 'AWS::CloudFormation::WaitConditionHandle' }],
    ]);
    for (const { Properties } of resources('AWS::Logs::LogGroup', given).values()) {
      expect(Properties.KmsKeyId).toBe(encryptionKeyArn);
    }
  });

  it('replaces nothing when it is turned on: only these properties change', () => {
    const before = synthesise({ ...everything, encryption: 'aws' }).toJSON().Resources;
    const after = synthesise(everything).toJSON().Resources;

    const changed = Object.keys(before).flatMap((id) => {
      const [old, { Type, Properties = {} } = { Type: 'gone' }] = [before[id], after[id]];
      if (Type === 'gone') return `${plainId(id)} is gone`;
      const names = Object.keys({ ...old.Properties, ...Properties });
      return names
        .filter((name) => JSON.stringify(old.Properties[name]) !== JSON.stringify(Properties[name]))
        .map((name) => `${Type} ${name}`);
    });

    expect([...new Set(changed)].sort()).toEqual([
      'AWS::DynamoDB::Table SSESpecification',
      'AWS::IAM::Policy PolicyDocument',
      'AWS::Lambda::Function KmsKeyArn',
      'AWS::Logs::LogGroup KmsKeyId',
      'AWS::SNS::Topic KmsMasterKeyId',
      'AWS::SQS::Queue KmsMasterKeyId',
      'AWS::SQS::Queue SqsManagedSseEnabled',
      'AWS::SecretsManager::Secret KmsKeyId',
      'AlarmTopicKey is gone',
    ]);
  });
});
