import { CfnWaitConditionHandle, RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { KeyAttribute, TableDefinition } from '../../lib/dynamodb/tables.ts';

export type Tables = Readonly<Record<TableDefinition['name'], Table | ITable>>;

const keyTypes = { S: AttributeType.STRING, N: AttributeType.NUMBER };
const attribute = ({ name, type }: KeyAttribute) => ({ name, type: keyTypes[type] });

/**
 * The table of a definition, with its indexes.
 * @param keep whether it outlives the stack, and refuses to be deleted by hand
 */
export const createTable = (
  scope: Construct,
  id: string,
  definition: TableDefinition,
  { keep }: { keep: boolean },
): Table => {
  const table = new Table(scope, id, {
    partitionKey: attribute(definition.partitionKey),
    billingMode: BillingMode.PAY_PER_REQUEST,
    encryption: TableEncryption.AWS_MANAGED,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: keep,
    removalPolicy: keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
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
};

/**
 * A table that is there already, made by another stack or restored from one's backup.
 *
 * What stands in the template under the id of an own table is a resource of another type that
 * makes nothing. CloudFormation refuses to update a resource to another type, so that neither a
 * stack with tables of its own leaves them for others, nor this one those for new, empty ones.
 */
export const takeOverTable = (scope: Construct, id: string, tableName: string): ITable => {
  const place = new Construct(scope, id);
  new CfnWaitConditionHandle(place, 'Resource');
  return Table.fromTableName(place, 'Table', tableName);
};
