/**
 * Replaces @aws-sdk/lib-dynamodb in the bundles. The index of that package makes paginators of queries and scans while
 * it is loaded, so that every bundle has their commands. Leaving the paginators out saves 2.7 KB. This is JavaScript
 * because the package has no types under these paths.
 */
export { DeleteCommand } from '@aws-sdk/lib-dynamodb/dist-es/commands/DeleteCommand';
export { GetCommand } from '@aws-sdk/lib-dynamodb/dist-es/commands/GetCommand';
export { PutCommand } from '@aws-sdk/lib-dynamodb/dist-es/commands/PutCommand';
export { QueryCommand } from '@aws-sdk/lib-dynamodb/dist-es/commands/QueryCommand';
export { TransactWriteCommand } from '@aws-sdk/lib-dynamodb/dist-es/commands/TransactWriteCommand';
export { UpdateCommand } from '@aws-sdk/lib-dynamodb/dist-es/commands/UpdateCommand';
export { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb/dist-es/DynamoDBDocumentClient';
