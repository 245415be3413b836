import { CfnWaitConditionHandle } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import {
  auditTable,
  type KeyAttribute,
  type TableDefinition,
  usersTable,
} from '../../lib/dynamodb/tables.ts';
import type { DeploymentSettings } from '../deployment-settings.ts';
import { areKept, removalOf } from './kept.ts';

export type Tables = Readonly<Record<TableDefinition['name'], dynamodb.Table | dynamodb.ITable>>;

/**
 * The two tables: new ones, or those that the settings name, which another stack has created or which were restored from
 * a backup.
 * @param dataKey the key that encrypts new tables; absent: a key that AWS manages
 */
export function createTables(
  scope: Construct,
  settings: DeploymentSettings,
  dataKey: IKey | undefined,
): Tables {
  const { usersTableName: users, auditTableName: audit, auditStreamArn, events } = settings;
  const shared = {
    ...(dataKey
      ? { encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED, encryptionKey: dataKey }
      : { encryption: dynamodb.TableEncryption.AWS_MANAGED }),
    deletionProtection: areKept(settings),
    removalPolicy: removalOf(settings),
  };
  const stream = events === 'on' ? { stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES } : {};
  const given = auditStreamArn ? { tableStreamArn: auditStreamArn } : {};
  return {
    users: users
      ? takeOver(scope, 'UsersTable', { tableName: users })
      : createTable(scope, 'UsersTable', usersTable, shared),
    audit: audit
      ? takeOver(scope, 'AuditTable', { tableName: audit, ...given })
      : createTable(scope, 'AuditTable', auditTable, { ...shared, ...stream }),
  };
}

/**
 * Gives the logical id that a construct's resource would have to a resource of another type, which creates nothing.
 * CloudFormation refuses to change the type of a resource. So a stack can neither replace its own resource by an
 * existing resource, nor an existing resource by a new, empty resource.
 */
export function placeholder(scope: Construct): void {
  new CfnWaitConditionHandle(scope, 'Resource');
}

function takeOver(scope: Construct, id: string, existing: dynamodb.TableAttributes) {
  const place = new Construct(scope, id);
  placeholder(place);
  return dynamodb.Table.fromTableAttributes(place, 'Table', existing);
}

function createTable(
  scope: Construct,
  id: string,
  definition: TableDefinition,
  props: Partial<dynamodb.TableProps>,
): dynamodb.Table {
  const table = new dynamodb.Table(scope, id, {
    ...props,
    partitionKey: attribute(definition.partitionKey),
    billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    ...(definition.timeToLive ? { timeToLiveAttribute: definition.timeToLive } : {}),
  });
  for (const { name, partitionKey, sortKey, include } of definition.indexes) {
    table.addGlobalSecondaryIndex({
      indexName: name,
      partitionKey: attribute(partitionKey),
      sortKey: attribute(sortKey),
      ...(include
        ? { projectionType: dynamodb.ProjectionType.INCLUDE, nonKeyAttributes: [...include] }
        : { projectionType: dynamodb.ProjectionType.ALL }),
    });
  }
  return table;
}

const keyTypes = { S: dynamodb.AttributeType.STRING, N: dynamodb.AttributeType.NUMBER };

function attribute({ name, type }: KeyAttribute) {
  return { name, type: keyTypes[type] };
}
