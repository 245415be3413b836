/** The stack's template, made without bundling, and how tests read it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll } from 'vitest';
import type { AccountsSettings } from '../../../infra/deployment-settings.ts';
import { readDeploymentSettings } from '../../../infra/read-deployment-settings.ts';
import { AccountsStack } from '../../../infra/stack/accounts.ts';
import { type FunctionDefinition, functionsInForce } from '../../../infra/uses.ts';
import { everyDeployedSetting } from '../../support/every-setting.ts';

export const withoutBundling = { 'aws:cdk:bundling-stacks': [] };

export const production = {
  stage: 'production',
  alarmEmail: 'operator@example.com',
  domainName: 'accounts.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d',
};

/** Production with each setting on that adds resources. */
export const everything = {
  ...production,
  tags: { team: 'identity' },
  alarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:on-call',
  encryption: 'customer',
  edge: 'cloudfront',
  v1Users: 'on',
  docs: 'on',
  events: 'on',
  ...everyDeployedSetting,
};

const assemblies = mkdtempSync(join(tmpdir(), 'assemblies-'));
afterAll(() => rmSync(assemblies, { recursive: true, force: true }));

/** @param context settings, as `-c name=value` gives them */
export const stackOf = (context: Readonly<Record<string, unknown>> = {}): AccountsStack => {
  // The CDK's own check of templates takes most of a synth's time; app.test.ts runs it.
  const app = new App({
    outdir: mkdtempSync(join(assemblies, 'cdk.out-')),
    context: { ...context, ...withoutBundling },
    builtinCloudFormationValidation: false,
  });
  const settings: AccountsSettings = app.node.getAllContext();
  return new AccountsStack(app, 'accounts', { settings });
};

const templates = new Map<string, Template>();

/** The template for settings, made once for all tests of a file that read it. */
export const synthesise = (context: Readonly<Record<string, unknown>> = {}): Template => {
  const key = JSON.stringify(context);
  const template = templates.get(key) ?? Template.fromStack(stackOf(context));
  templates.set(key, template);
  return template;
};

/** The functions that a stack has by its settings. */
export const functionsOf = (context: Readonly<Record<string, unknown>> = {}) =>
  functionsInForce(readDeploymentSettings(context));

/** A logical id without the hash that the CDK appends. */
export const plainId = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '');

/**
 * The logical id, without the hash, of a resource of a function: `LoginRole`. The CDK leaves out a
 * part that repeats the end of the one before, as `Logs` does in `UsersAuditLogs`.
 */
export const idOf = ({ name }: Pick<FunctionDefinition, 'name'>, ...parts: string[]): string => {
  const construct = name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return parts.reduce((id, part) => (id.endsWith(part) ? id : id + part), construct);
};

/** The resources of a type, by their logical ids without hashes. */
export const resourcesOf = (template: Template, type: string) =>
  new Map(
    Object.entries(template.findResources(type)).map(([id, resource]) => [plainId(id), resource]),
  );

/** What `Ref`, `Fn::GetAtt` and joins of them lead to, with plain ids: `UsersTable/index/name`. */
export const target = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const [[kind, argument] = []] = Object.entries(value as object);
  if (kind === 'Fn::GetAtt') return plainId(argument[0]);
  if (kind === 'Fn::Join') return argument[1].map(target).join(argument[0]);
  return plainId(argument);
};
