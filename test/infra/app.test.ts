import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { production, withoutBundling } from './stack/template.ts';

const root = new URL('../..', import.meta.url).pathname;
const output = mkdtempSync(join(tmpdir(), 'accounts-synth-'));
afterAll(() => rmSync(output, { recursive: true }));

/** Runs the CDK application as the CDK's command line does. */
const synth = (context: object, nodeOptions: string[] = []) =>
  spawnSync(process.execPath, [...nodeOptions, 'infra/app.ts'], {
    cwd: root,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      CDK_OUTDIR: output,
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...withoutBundling }),
    },
  });

const report = () => JSON.parse(readFileSync(join(output, 'validation-report.json'), 'utf8'));

describe('the CDK application', () => {
  it('makes a stack named after its stage, in which cdk-nag finds nothing to correct', () => {
    const { status, stderr } = synth({ ...production, events: 'on' });

    expect(stderr.split('\n').filter((line) => !line.startsWith('production: '))).toEqual(['']);
    expect(status).toBe(0);
    expect(report().pluginReports).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'));
    expect(manifest.artifacts).toHaveProperty('accounts-production');
  });

  it('fails where a finding is not accepted, and accepts these five only', () => {
    const { status } = synth(production, [
      '--import',
      './test/infra/stack/without-acknowledgements.ts',
    ]);

    const [{ pluginName, violations }] = report().pluginReports;
    const rules = violations.map(({ ruleName }: { ruleName: string }) => ruleName);
    expect(status).toBe(1);
    expect(pluginName).toBe('AwsSolutions');
    expect(rules.sort()).toEqual([
      'AwsSolutions-APIG4',
      'AwsSolutions-IAM5[Resource::*]',
      expect.stringMatching(
        /^AwsSolutions-IAM5\[Resource::<AuditArchive\w+\.Arn>\/audit-archive\/\*\]$/,
      ),
      'AwsSolutions-S1',
      'AwsSolutions-SMG4',
    ]);
  });

  it('warns of what is not set in production, or would be lost, and goes on', () => {
    const { status, stderr } = synth({ stage: 'production', passwordMinLength: 8, docs: 'on' });

    expect(stderr).toBe(
      'production: alarmEmail is not set: nobody will be notified of alarms\n' +
        'production: corsOrigins is *: every page may call the API\n' +
        'production: domainName is not set: the API has no host name of its own\n' +
        'production: mailFrom is not set: no mails are sent, and nobody can reset a password\n' +
        'production: emailVerification is off: users do not verify their addresses\n' +
        'production: the next deployment loses what is not in infra/production.json, unless -c gives it again: passwordMinLength, docs\n',
    );
    expect(status).toBe(0);
  });

  it('says in one line which setting is wrong, without a stack trace', () => {
    const { status, stderr } = synth({ stage: 'staging' });

    expect(status).toBe(1);
    expect(stderr).toBe('Setting stage must be one of development, production\n');
  });
});
