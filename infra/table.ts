import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { KeyAttribute, TableDefinition } from '../lib/dynamodb/tables.ts';

export type Tables = Readonly<Record<TableDefinition['name'], Table>>;

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
