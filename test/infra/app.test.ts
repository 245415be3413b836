import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderForThisFile } from '../support/folder.ts';
import { installWithout } from './local/installation.ts';
import { everything, withoutBundling } from './stack/template.ts';

/** What an operator would choose. */
const { stage: _, ...chosen } = everything;

const root = fileURLToPath(new URL('../..', import.meta.url));
const output = folderForThisFile();

/** Runs the CDK application as the CDK's command line does. */
const synth = (context: object, nodeOptions: string[] = [], cwd = root, env = {}) =>
  spawnSync(process.execPath, [...nodeOptions, 'infra/app.ts'], {
    cwd,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      CDK_OUTDIR: output,
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...withoutBundling }),
      ...env,
    },
  });

const report = () => JSON.parse(readFileSync(join(output, 'validation-report.json'), 'utf8'));

describe('the CDK application', () => {
  it('names a stack after its deployment, and cdk-nag finds nothing to correct with all settings on', () => {
    const { status, stderr } = synth({ name: 'production', ...chosen });

    expect(stderr.split('\n').filter((line) => !line.startsWith('production: '))).toEqual(['']);
    expect(status).toBe(0);
    expect(report().pluginReports).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'));
    expect(manifest.artifacts).toHaveProperty('accounts-production');
  });

  it('fails where a finding is not accepted; the package’s readme explains each accepted finding', () => {
    const { status } = synth({ name: 'production', ...chosen }, [
      '--import',
      './test/infra/stack/without-acknowledgements.ts',
    ]);

    const [{ pluginName, violations }] = report().pluginReports;
    const rules: string[] = violations.map(({ ruleName }: { ruleName: string }) => ruleName);
    expect([status, pluginName]).toEqual([1, 'AwsSolutions']);
    expect(rules.sort()).toEqual([
      'AwsSolutions-APIG4',
      'AwsSolutions-IAM5[Resource::*]',
      expect.stringMatching(
        /^AwsSolutions-IAM5\[Resource::<AuditArchive\w+\.Arn>\/audit-archive\/\*\]$/,
      ),
      expect.stringMatching(/^AwsSolutions-IAM5\[Resource::arn:.*:kms:.*:key\/\*\]$/),
      'AwsSolutions-S1',
      'AwsSolutions-SMG4',
      'AwsSolutions-SQS3',
    ]);
    const readme = readFileSync(join(root, 'infra/package/README.md'), 'utf8');
    expect(new Set(rules.map((rule) => rule.replace(/^AwsSolutions-|\[.*/g, '')))).toEqual(
      new Set([...readme.matchAll(/^\| ([A-Z]+\d+) \|/gm)].map(([, rule]) => rule)),
    );
  });

  it('makes a stack for the account and region of its file, and names the settings that are not from its file', () => {
    // Its name has a space and an umlaut.
    const { folder, remove } = installWithout();
    onTestFinished(remove);
    const place = { account: '123456789012', region: 'eu-west-1' };
    const file = join(folder, 'infra/deployments/staging.json');
    writeFileSync(file, JSON.stringify({ stage: 'development', ...place }));
    const by = (account: string) =>
      synth({ name: 'staging', docs: 'off' }, [], folder, { CDK_DEFAULT_ACCOUNT: account });

    const refused = by('210987654321');
    const made = by(place.account);

    expect([refused.status, refused.stderr]).toEqual([
      1,
      'Setting account is 123456789012, but the credentials belong to 210987654321\n',
    ]);
    const said = 'staging: by -c (for this run only) or by cdk.json: docs=off\n';
    expect([made.status, made.stderr]).toEqual([0, said]);
    const { artifacts } = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'));
    expect(artifacts['accounts-staging'].environment).toBe('aws://123456789012/eu-west-1');
  });

  it('says where the file of a deployment is not JSON', () => {
    const { folder, remove } = installWithout();
    onTestFinished(remove);
    const file = join(folder, 'infra/deployments/staging.json');
    writeFileSync(file, '{\n  "stage": "production"\n  "docs": "off"\n}\n');

    const { status, stderr } = synth({ name: 'staging' }, [], folder);

    expect([status, stderr]).toEqual([
      1,
      'Setting name is staging, but infra/deployments/staging.json is not JSON: line 3, column 3\n',
    ]);
  });
});
