import { CfnWaitConditionHandle, RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { KeyAttribute, TableDefinition } from '../../lib/dynamodb/tables.ts';

export type Tables = Readonly<Record<TableDefinition['name'], Table | ITable>>;

/**
 * Creates the table of a definition, with its indexes.
 * @param keep whether the table is kept when the stack is deleted, and protected against deletion
 * @param hasStream whether the table has a stream of its changes
 * @param dataKey the key that encrypts the table; absent: a key that AWS manages
 */
export function createTable(
  scope: Construct,
  id: string,
  definition: TableDefinition,
  { keep, hasStream, dataKey }: { keep: boolean; hasStream: boolean; dataKey: IKey | undefined },
): Table {
  const table = new Table(scope, id, {
    partitionKey: attribute(definition.partitionKey),
    billingMode: BillingMode.PAY_PER_REQUEST,
    ...(dataKey
      ? { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: dataKey }
      : { encryption: TableEncryption.AWS_MANAGED }),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: keep,
    removalPolicy: keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    ...(hasStream ? { stream: StreamViewType.NEW_AND_OLD_IMAGES } : {}),
    ...(definition.timeToLive ? { timeToLiveAttribute: definition.timeToLive } : {}),
  });
  for (const { name, partitionKey, sortKey, include } of definition.indexes) {
    table.addGlobalSecondaryIndex({
      indexName: name,
      partitionKey: attribute(partitionKey),
      sortKey: attribute(sortKey),
      ...(include
        ? { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...include] }
        : { projectionType: ProjectionType.ALL }),
    });
  }
  return table;
}

/** Uses an existing table that another stack has created, or that was restored from a backup. */
export function takeOverTable(
  scope: Construct,
  id: string,
  { tableName, tableStreamArn }: { tableName: string; tableStreamArn: string | undefined },
): ITable {
  const place = new Construct(scope, id);
  placeholder(place);
  const stream = tableStreamArn ? { tableStreamArn } : {};
  return Table.fromTableAttributes(place, 'Table', { tableName, ...stream });
}

/**
 * Gives the logical id that a construct's resource would have to a resource of another type, which creates nothing.
 * CloudFormation refuses to change the type of a resource. So a stack can neither replace its own resource by an
 * existing resource, nor an existing resource by a new, empty resource.
 */
export function placeholder(scope: Construct): void {
  new CfnWaitConditionHandle(scope, 'Resource');
}

const keyTypes = { S: AttributeType.STRING, N: AttributeType.NUMBER };

function attribute({ name, type }: KeyAttribute) {
  return { name, type: keyTypes[type] };
}
