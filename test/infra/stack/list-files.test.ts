import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it, onTestFinished } from 'vitest';
import { functionVariables } from '../../../infra/deployment-settings.ts';
import { attributesHash } from '../../../infra/parameter.ts';
import { readDeploymentSettings } from '../../../infra/read-deployment-settings.ts';
import { AccountsStack } from '../../../infra/stack/accounts.ts';
import { variableOf } from '../../../lib/ground/setting.ts';
import { functionsOf } from './template.ts';

const mails = { mailFrom: 'a@example.com', resetUrl: 'https://app.example.com/' };

it('A list is a file beside the code that reads it, and no variable; attributes have a hash elsewhere', () => {
  const outdir = mkdtempSync(join(tmpdir(), 'list-files-'));
  onTestFinished(() => rmSync(outdir, { recursive: true }));
  const identityProviders = [{ issuer: 'https://accounts.google.com', audiences: ['app'] }];
  const userAttributes = [{ name: 'plan', type: 'text' }] as const;
  const lists = [
    ['identityProviders', 'identities', identityProviders],
    ['userAttributes', 'attributes', userAttributes],
  ] as const;
  const context = {
    ...mails,
    sessionDays: 90,
    secondFactor: 'optional',
    identityProviders,
    userAttributes,
  } as const;
  const settings = readDeploymentSettings(context);
  const app = new App({ outdir, builtinCloudFormationValidation: false });

  const stack = new AccountsStack(app, 'accounts', { settings: context });

  for (const [name, use, list] of lists) {
    const file = `${variableOf(name).toLowerCase().replace('_', '-')}.json`;
    expect(functionVariables(settings)[variableOf(name)]).toBe(file);
    const files = readdirSync(outdir)
      .map((asset) => join(outdir, asset, file))
      .filter((each) => existsSync(each));
    const readers = functionsOf(context).filter(({ uses }) => uses.has(use));
    expect(files).toHaveLength(readers.length);
    for (const each of files) expect(JSON.parse(readFileSync(each, 'utf8'))).toEqual(list);
  }
  const [parameter] = Object.values(Template.fromStack(stack).findResources('AWS::SSM::Parameter'));
  const known = JSON.stringify(parameter?.Properties.Value);
  expect(known).toContain(attributesHash(JSON.stringify(userAttributes)));
  expect(known).not.toContain('"plan');
});
