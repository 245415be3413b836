import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { expect, it, onTestFinished } from 'vitest';
import { functionVariables } from '../../../infra/deployment-settings.ts';
import { readDeploymentSettings } from '../../../infra/read-deployment-settings.ts';
import { AccountsStack } from '../../../infra/stack/accounts.ts';
import { functionsOf } from './template.ts';

const mails = { mailFrom: 'a@example.com', resetUrl: 'https://app.example.com/' };

it('The list of identity providers is a file beside the code that reads it, and no variable', () => {
  const outdir = mkdtempSync(join(tmpdir(), 'identity-providers-'));
  onTestFinished(() => rmSync(outdir, { recursive: true }));
  const identityProviders = [{ issuer: 'https://accounts.google.com', audiences: ['app'] }];
  const context = {
    ...mails,
    sessionDays: 90,
    secondFactor: 'optional',
    identityProviders,
  } as const;
  const settings = readDeploymentSettings(context);
  const app = new App({ outdir, builtinCloudFormationValidation: false });

  new AccountsStack(app, 'accounts', { settings: context });

  expect(functionVariables(settings).IDENTITY_PROVIDERS).toBe('identity-providers.json');
  const files = readdirSync(outdir)
    .map((asset) => join(outdir, asset, 'identity-providers.json'))
    .filter((file) => existsSync(file));
  const readers = functionsOf(context).filter(({ uses }) => uses.has('identities'));
  expect(files).toHaveLength(readers.length);
  for (const file of files) {
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(identityProviders);
  }
});
