/** The resources that functions of a stack share: tables, secrets, keys and logs; and their settings and code. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { attributesFile } from '../../lib/ground/attribute.ts';
import { providersFile } from '../../lib/ground/rules.ts';
import { type DeploymentSettings, functionVariables } from '../deployment-settings.ts';
import { bundlesFolder } from './bundling/bundles.ts';
import { temporaryFolder } from './bundling/temporary-folder.ts';
import { dataKeyOf, factorKeyOf } from './encryption.ts';
import type { SharedFunctionProps } from './function.ts';
import { areKept, removalOf } from './kept.ts';
import { createEdgeSecret, createSigningSecret } from './secrets.ts';
import { createTables } from './table.ts';

export function createShared(scope: Construct, settings: DeploymentSettings): SharedFunctionProps {
  const dataKey = dataKeyOf(scope, settings);
  return {
    dataKey,
    logs: new LogGroup(scope, 'Logs', logsOf(settings, dataKey)),
    tables: createTables(scope, settings, dataKey),
    signingSecret: createSigningSecret(scope, settings, dataKey),
    edgeSecret: settings.edge === 'none' ? undefined : createEdgeSecret(scope, dataKey),
    factorKey: factorKeyOf(scope, settings),
    variables: functionVariables(settings),
    codeOf: bundlesOf(scope, settings),
  };
}

/** The properties of logs: how long they are kept, and how they are encrypted and protected. */
export function logsOf(settings: DeploymentSettings, dataKey: IKey | undefined): LogGroupProps {
  return {
    retention: settings.logRetentionDays,
    removalPolicy: removalOf(settings),
    deletionProtectionEnabled: areKept(settings),
    ...(dataKey ? { encryptionKey: dataKey } : {}),
  };
}

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
