import { describe, expect, it } from 'vitest';
import { auditTable, type TableDefinition, usersTable } from '../../../lib/dynamodb/tables.ts';
import { plainId, production, resourcesOf, synthesise, target } from './template.ts';

const tables = (context = {}) => resourcesOf(synthesise(context), 'AWS::DynamoDB::Table');

const attributesOf = ({ partitionKey, indexes }: TableDefinition) => [
  partitionKey,
  ...indexes.flatMap((index) => [index.partitionKey, index.sortKey]),
];

describe('the tables', () => {
  it.each([
    ['UsersTable', usersTable],
    ['AuditTable', auditTable],
  ])('%s has the key and the indexes that the stores use', (id, definition: TableDefinition) => {
    const { Properties } = tables().get(id) ?? {};

    expect(Properties.KeySchema).toEqual([
      { AttributeName: definition.partitionKey.name, KeyType: 'HASH' },
    ]);
    expect(Properties.GlobalSecondaryIndexes).toEqual(
      definition.indexes.map(({ name, partitionKey, sortKey, include }) => ({
        IndexName: name,
        KeySchema: [
          { AttributeName: partitionKey.name, KeyType: 'HASH' },
          { AttributeName: sortKey.name, KeyType: 'RANGE' },
        ],
        Projection: include
          ? { ProjectionType: 'INCLUDE', NonKeyAttributes: include }
          : { ProjectionType: 'ALL' },
      })),
    );
    for (const { name, type } of attributesOf(definition)) {
      expect(Properties.AttributeDefinitions).toContainEqual({
        AttributeName: name,
        AttributeType: type,
      });
    }
  });

  it('copy no password hash into an index', () => {
    for (const { Projection } of tables().get('UsersTable')?.Properties.GlobalSecondaryIndexes ??
      []) {
      expect(Projection.ProjectionType).toBe('INCLUDE');
      expect(Projection.NonKeyAttributes).not.toContain('password_hash');
    }
  });

  it.each(['UsersTable', 'AuditTable'])(
    'cannot be deleted by hand in production, and can in development: %s',
    (id) => {
      const isProtected = (context: object) =>
        tables(context).get(id)?.Properties.DeletionProtectionEnabled;

      expect([isProtected(production), isProtected({})]).toEqual([true, false]);
    },
  );
});

describe('tables that another stack has left', () => {
  const names = { usersTableName: 'users-kept', auditTableName: 'audit-kept' };

  /** A template whose references are replaced by what they lead to. */
  const readable = (context: Readonly<Record<string, unknown>>) =>
    JSON.stringify(synthesise(context).toJSON(), (_, value) =>
      value?.Ref || value?.['Fn::GetAtt'] || value?.['Fn::Join'] ? target(value) : value,
    );
  const withoutTables = (template: string) => {
    const { Resources, ...others } = JSON.parse(template);
    const kept = Object.entries(Resources).filter(
      ([id]) => !/^(Users|Audit)Table/.test(plainId(id)),
    );
    return { ...others, Resources: Object.fromEntries(kept) };
  };

  it.each([
    ['development', {}],
    ['production', production],
  ])('are used in %s like tables of the stack', (_, settings) => {
    const takenOver = readable({ ...settings, ...names })
      .replaceAll('arn:AWS::Partition:dynamodb:AWS::Region:AWS::AccountId:table/', '')
      .replaceAll('users-kept', 'UsersTable')
      .replaceAll('audit-kept', 'AuditTable');

    expect(withoutTables(takenOver)).toEqual(withoutTables(readable(settings)));
    expect(resourcesOf(synthesise({ ...settings, ...names }), 'AWS::DynamoDB::Table').size).toBe(0);
  });

  it('are refused by a stack that has tables of its own, and a stack that uses them gets none of its own', () => {
    const resource = (context: Readonly<Record<string, unknown>>, id: string) =>
      Object.entries(synthesise(context).toJSON().Resources).filter(([each]) => each === id);

    // CloudFormation updates no resource to another type.
    for (const id of Object.keys(synthesise().findResources('AWS::DynamoDB::Table'))) {
      expect(resource(names, id)).toEqual([
        [id, { Type: 'AWS::CloudFormation::WaitConditionHandle' }],
      ]);
    }
  });
});
