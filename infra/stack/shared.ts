/** The resources that functions of a stack share: tables, secrets, keys and logs; and their settings and code. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { auditTable, type TableDefinition, usersTable } from '../../lib/dynamodb/tables.ts';
import { attributesFile } from '../../lib/ground/attribute.ts';
import { providersFile } from '../../lib/ground/rules.ts';
import { type DeploymentSettings, functionVariables } from '../deployment-settings.ts';
import { bundlesFolder } from './bundling/bundles.ts';
import { temporaryFolder } from './bundling/temporary-folder.ts';
import { dataKeyOf, factorKeyOf } from './encryption.ts';
import type { SharedFunctionProps } from './function.ts';
import { createEdgeSecret, createSigningSecret } from './secrets.ts';
import { createTable, type Tables, takeOverTable } from './table.ts';

/**
 * Creates the resources that functions share.
 * @param keep whether the data and keys are kept when the stack is deleted
 */
export function createShared(
  scope: Construct,
  settings: DeploymentSettings,
  { keep }: { keep: boolean },
): SharedFunctionProps {
  const dataKey = dataKeyOf(scope, settings, { keep });
  return {
    dataKey,
    logs: new LogGroup(scope, 'Logs', logsOf(settings, { keep, dataKey })),
    tables: createTables(scope, settings, { keep, dataKey }),
    signingSecret: createSigningSecret(scope, { keep, dataKey }),
    edgeSecret: settings.edge === 'none' ? undefined : createEdgeSecret(scope, dataKey),
    factorKey: factorKeyOf(scope, settings, { keep }),
    variables: functionVariables(settings),
    codeOf: bundlesOf(scope, settings),
  };
}

/** The properties of logs: how long they are kept, and how they are encrypted and protected. */
export function logsOf(
  { logRetentionDays: retention }: DeploymentSettings,
  { keep, dataKey }: { keep: boolean; dataKey: IKey | undefined },
): LogGroupProps {
  return {
    retention,
    removalPolicy: keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    deletionProtectionEnabled: keep,
    ...(dataKey ? { encryptionKey: dataKey } : {}),
  };
}

function createTables(
  scope: Construct,
  settings: DeploymentSettings,
  { keep, dataKey }: { keep: boolean; dataKey: IKey | undefined },
): Tables {
  const { usersTableName, auditTableName, auditStreamArn, events } = settings;
  const table = (
    id: string,
    definition: TableDefinition,
    existing: { tableName: string | undefined; tableStreamArn?: string | undefined },
  ) => {
    const { tableName, tableStreamArn } = existing;
    if (tableName) return takeOverTable(scope, id, { tableName, tableStreamArn });
    const hasStream = events === 'on' && definition.name === 'audit';
    return createTable(scope, id, definition, { keep, hasStream, dataKey });
  };
  return {
    users: table('UsersTable', usersTable, { tableName: usersTableName }),
    audit: table('AuditTable', auditTable, {
      tableName: auditTableName,
      tableStreamArn: auditStreamArn,
    }),
  };
}

/** The code of each function, or a placeholder if the CDK needs only a template. */
function bundlesOf(scope: Construct, settings: DeploymentSettings): SharedFunctionProps['codeOf'] {
  if (!Stack.of(scope).bundlingRequired) return () => Code.fromInline('// It is not bundled.');
  return ({ name, uses }) => {
    const folder = join(bundlesFolder(), name);
    const files = [
      [uses.has('identities'), providersFile, settings.identityProviders],
      [uses.has('attributes'), attributesFile, settings.userAttributes],
    ] as const;
    const own = files.filter(([isRead, , text]) => isRead && text !== '');
    if (own.length === 0) return Code.fromAsset(folder);
    const copy = temporaryFolder();
    cpSync(folder, copy, { recursive: true });
    for (const [, file, text] of own) writeFileSync(join(copy, file), text);
    return Code.fromAsset(copy);
  };
}
