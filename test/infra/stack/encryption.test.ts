import { describe, expect, it } from 'vitest';
import { everything, plainId, resourcesOf, synthesise, target } from './template.ts';

type Settings = Readonly<Record<string, unknown>>;

const resources = (type: string, settings: Settings = everything) =>
  resourcesOf(synthesise(settings), type);

/** The key of each resource of a type, in one of its properties. */
const keysOf = (type: string, property: string) =>
  [...resources(type).values()].map(({ Properties }) => target(Properties[property]));

describe('The key of all data', () => {
  it.each([
    ['AWS::Logs::LogGroup', 'KmsKeyId'],
    ['AWS::SecretsManager::Secret', 'KmsKeyId'],
    ['AWS::SQS::Queue', 'KmsMasterKeyId'],
    ['AWS::SNS::Topic', 'KmsMasterKeyId'],
    ['AWS::Lambda::Function', 'KmsKeyArn'],
  ])('encrypts each %s', (type, property) => {
    expect([...new Set(keysOf(type, property))]).toEqual(['DataKey']);
  });

  it('may be an existing key, and a stack with an existing key never makes another key', () => {
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

  it('replaces no resource when it is turned on: only these properties change', () => {
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
      'AWS::SSM::Parameter Value',
      'AWS::SecretsManager::Secret KmsKeyId',
      'AlarmTopicKey is gone',
    ]);
  });
});
