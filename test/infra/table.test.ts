import { describe, expect, it } from 'vitest';
import { auditTable, type TableDefinition, usersTable } from '../../lib/dynamodb/tables.ts';
import { production, resourcesOf, synthesise } from './template.ts';

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

  it('let expired items of the users table go, and no audit entry', () => {
    expect(tables().get('UsersTable')?.Properties.TimeToLiveSpecification).toEqual({
      AttributeName: 'expires_at',
      Enabled: true,
    });
    expect(tables().get('AuditTable')?.Properties).not.toHaveProperty('TimeToLiveSpecification');
  });

  describe.each(['UsersTable', 'AuditTable'])('%s', (id) => {
    it('is paid by request, encrypted, and restorable to any second', () => {
      expect(tables().get(id)?.Properties).toMatchObject({
        BillingMode: 'PAY_PER_REQUEST',
        SSESpecification: { SSEEnabled: true },
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      });
    });

    it('outlives the stack in production, and cannot be deleted by hand there', () => {
      expect(tables(production).get(id)).toMatchObject({
        DeletionPolicy: 'Retain',
        UpdateReplacePolicy: 'Retain',
        Properties: { DeletionProtectionEnabled: true },
      });
    });

    it('goes with the stack in development', () => {
      expect(tables().get(id)).toMatchObject({
        DeletionPolicy: 'Delete',
        UpdateReplacePolicy: 'Delete',
        Properties: { DeletionProtectionEnabled: false },
      });
    });
  });
});
