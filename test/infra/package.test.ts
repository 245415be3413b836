import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makePackage, oldestNode, peers } from '../../infra/package/make.ts';
import {
  applications,
  makeApplication,
  modules,
  others,
  quiet,
  synthesiseApplication,
} from '../support/application.ts';
import { folderForThisFile } from '../support/folder.ts';

/**
 * Whether applications have the oldest Node and the oldest peers that the package allows, as
 * `npm run check -- long` requires (APPLICATION=oldest).
 */
const isOldest = process.env.APPLICATION === 'oldest';

const [folder, commonJs, esm] = [folderForThisFile(), folderForThisFile(), folderForThisFile()];
const installed = join(commonJs, 'node_modules/accounts-service');
const read = (name: string) => readFileSync(join(installed, name), 'utf8');
let packed: string;
let node = process.execPath;

/** Installs the oldest Node and the oldest peers that the package allows. @returns the folder of the packages */
const installOldest = (): string => {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const name = `node-linux-${process.arch}`;
  const ranges = { ...devDependencies, ...peers, [name]: oldestNode };
  const wanted = [name, ...others].map((each) => `${each}@${ranges[each]}`.replace('^', ''));
  const quietly = ['--silent', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', ...quietly, '--prefix', folder, ...wanted]);
  node = join(folder, 'node_modules', name, 'bin/node');
  return join(folder, 'node_modules');
};

beforeAll(async () => {
  packed = await makePackage(folder);
  const from = isOldest ? installOldest() : modules;
  makeApplication(commonJs, applications.commonJs, [packed], from);
  makeApplication(esm, applications.esm, [packed], from);
});

/** What an application makes of two services in one stack, and what cdk-nag finds in it. */
const synthesise = (application: string, file: string, flags = {}) => {
  const { status, stderr, read, output } = synthesiseApplication(application, file, {
    node,
    flags,
  });
  expect([status, stderr]).toEqual([0, '']);
  const { Resources } = read('Shop.template.json');
  const ofType = (type: string) =>
    Object.values<{ Type: string; Properties: Record<string, unknown> }>(Resources).filter(
      ({ Type }) => Type === type,
    );
  const parameters = ofType('AWS::SSM::Parameter').map(({ Properties }) => Properties.Name);
  const { pluginReports } = read('validation-report.json');
  return { output, parameters, tables: ofType('AWS::DynamoDB::Table').length, pluginReports };
};

describe('The package', () => {
  it('has at most 8 MB', () => {
    expect(statSync(packed).size).toBeLessThanOrEqual(8_000_000);
  });

  it('has the notices of the packages whose code it contains', () => {
    const notices = read('NOTICES.txt');

    for (const name of ['@aws-sdk/client-ssm', '@middy/core', 'bcryptjs', 'preact', 'valibot']) {
      expect(notices).toMatch(new RegExp(`^${name} \\d`, 'm'));
    }
    expect(notices).toContain('Copyright (c) 2017-2026 [will Farrell]');
    expect(notices).toContain('swagger-ui');
  });

  it('has documents whose links lead to its own files', () => {
    const documents = globSync('{*,docs/**/*,docs/.*/*}.md', { cwd: installed });
    const links = documents.flatMap((document) =>
      [...read(document).matchAll(/\]\((?!https:)([^)#\s]+)/g)].map(([, path = '']) => ({
        document,
        path,
      })),
    );

    expect(documents).toEqual(expect.arrayContaining(['README.md', 'docs/.github/SECURITY.md']));
    expect(links).not.toEqual([]);
    expect(
      links.filter(({ document, path }) => !existsSync(join(installed, dirname(document), path))),
    ).toEqual([]);
  });

  it('can be published to the registry of a company', () => {
    expect(JSON.parse(read('package.json'))).not.toHaveProperty('private');
  });

  it("has the operator's commands", () => {
    const command = join(commonJs, 'node_modules/.bin/accounts-operator');
    const operate = (...args: string[]) =>
      spawnSync(node, [command, ...args], { encoding: 'utf8', env: { HOME: folder, ...quiet } });

    expect(operate('create-admin', '--help').stdout).toContain(
      '\n  accounts-operator create-admin',
    );
    expect(operate('revoke-all', '--service', '/shop/staff').stderr).toBe(
      'There is no AWS region: set AWS_REGION.\n',
    );
  });
});

describe('A user of a Node version that is too old', () => {
  const pretend = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' });
    Object.defineProperty(process, 'version', { value: 'v20.20.2' });`;
  const old = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
  const needed = 'accounts-service requires Node 22 or newer, and this is v20.20.2.';
  const run = (...args: string[]) =>
    spawnSync(node, [...old, ...args], { encoding: 'utf8', cwd: commonJs });

  it('is told by the construct which version is required', () => {
    const { status, stderr } = run(applications.commonJs.file);

    expect(status).toBe(1);
    expect(stderr).toContain(`Error: ${needed}\n`);
    expect(stderr).toContain('/node_modules/accounts-service/index.js:');
  });

  it("is told by the operator's commands which version is required, and the commands do nothing else", () => {
    expect(run(join(installed, 'operator.mjs'), 'create-admin', '--help')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `${needed}\n`,
    });
  });
});

describe('An application that installs the package', () => {
  it('in CommonJS has two services in one stack, and cdk-nag finds nothing with all flags of the CDK', () => {
    const file = join(modules, 'aws-cdk-lib/recommended-feature-flags.json');
    const made = synthesise(commonJs, 'app.js', JSON.parse(readFileSync(file, 'utf8')));

    expect(made.tables).toBe(4);
    expect(made.parameters).toEqual(['/accounts/Shop/Customers', '/shop/staff']);
    expect(made.pluginReports).toEqual([]);
    expect(existsSync(join(commonJs, 'node_modules/esbuild'))).toBe(false);
    const bundles = globSync('functions/*/index.js', { cwd: installed }).map(read);
    const assets = globSync('asset.*/index.js', { cwd: made.output }).map((asset) =>
      readFileSync(join(made.output, asset), 'utf8'),
    );
    expect(assets.length).toBeGreaterThan(10);
    expect(new Set(assets).size).toBe(assets.length);
    expect(assets.filter((asset) => !bundles.includes(asset))).toEqual([
      // Empties the bucket of a service in stage development.
      expect.stringContaining('autoDeleteHandler'),
    ]);
  });

  it('as an ES module in TypeScript has two services in one stack of an account; cdk-nag finds nothing', () => {
    const made = synthesise(esm, 'app.ts');

    expect(made.tables).toBe(4);
    expect(made.parameters).toEqual(['/accounts/Shop/Customers', '/accounts/Shop/Staff']);
    expect(made.pluginReports).toEqual([]);
  });

  it('has the types of the settings and of the members of the construct', () => {
    const compilerOptions = {
      ...{ target: 'es2022', module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true },
      types: ['node'],
    };
    writeFileSync(join(esm, 'tsconfig.json'), JSON.stringify({ compilerOptions }));

    const compiler = join(modules, 'typescript/bin/tsc');
    expect(execFileSync(process.execPath, [compiler, '-p', esm], { encoding: 'utf8' })).toBe('');
  });
});
