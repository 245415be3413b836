import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  /** Lies in the archive of the package around it, whose hash counts for it too. */
  readonly inBundle?: boolean;
  readonly hasInstallScript?: boolean;
}

const lockfile: { packages: Record<string, LockedPackage> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
);
const packages = Object.entries(lockfile.packages).filter(([path]) => path !== '');

const pathsOf = (concerned: (entry: LockedPackage) => unknown): readonly string[] =>
  packages.filter(([, entry]) => concerned(entry)).map(([path]) => path);

describe('What npm ci brings', () => {
  it('has its hash in the lockfile, or is part of a package that has', () => {
    expect(pathsOf((entry) => !entry.integrity && !entry.inBundle)).toEqual([]);
    expect(packages.length).toBeGreaterThan(100);
  });

  it('comes from the registry that npm is set to', () => {
    expect(pathsOf(({ resolved }) => resolved)).toEqual([]);
  });

  it('is run by no install script, which could bring more', () => {
    expect(readFileSync('.npmrc', 'utf8')).toContain('ignore-scripts=true\n');
    expect(pathsOf(({ hasInstallScript }) => hasInstallScript)).toEqual([
      // Counts installations for the maker of swagger-ui-dist.
      'node_modules/@scarf/scarf',
      // Makes its command start faster.
      'node_modules/esbuild',
    ]);
  });

  it('has the same version of Node for every platform', () => {
    const versions = packages.filter(([path]) => /^node_modules\/node-(linux|darwin)/.test(path));
    expect(new Set(versions.map(([, { version }]) => version)).size).toBe(1);
  });
});

describe('npm ci in a folder with the .npmrc of the project', () => {
  /** A project whose one package requires a Node that does not exist yet. */
  const makeProject = () => {
    const folder = mkdtempSync(join(tmpdir(), 'packages-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const write = (name: string, content: object) =>
      writeFileSync(join(folder, name), JSON.stringify(content));
    const root = { name: 'root', version: '1.0.0', dependencies: { newer: 'file:newer' } };
    const newer = { version: '1.0.0', engines: { node: '>=999' } };
    mkdirSync(join(folder, 'newer'));
    write('newer/package.json', { name: 'newer', ...newer });
    write('package.json', root);
    write('package-lock.json', {
      name: 'root',
      version: '1.0.0',
      lockfileVersion: 3,
      requires: true,
      packages: { '': root, newer, 'node_modules/newer': { resolved: 'newer', link: true } },
    });
    copyFileSync('.npmrc', join(folder, '.npmrc'));
    return folder;
  };
  const install = (cwd: string) => {
    const env = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
    return spawnSync('npm', ['ci', '--offline', '--userconfig=/dev/null'], {
      cwd,
      encoding: 'utf8',
      env: Object.fromEntries(env),
    });
  };

  it('does not warn of packages that require a newer Node than npm runs with', () => {
    expect(install(makeProject())).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('added 1 package'),
      stderr: '',
    });
  });

  it('still prints why it fails', () => {
    const folder = makeProject();
    rmSync(join(folder, 'package-lock.json'));

    const { status, stderr } = install(folder);

    expect(status).toBe(1);
    expect(stderr).toContain('The `npm ci` command can only install with an existing');
  });
});

describe('A command run by a Node that is too old', () => {
  const run = (version: string) => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' });
      Object.defineProperty(process, 'version', { value: 'v${version}' });`;
    const nodeOptions = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
    const options = { encoding: 'utf8' } as const;
    return spawnSync(process.execPath, [...nodeOptions, 'infra/node-version.js'], options);
  };

  it('ends with one sentence that says which is needed', () => {
    const { status, stderr } = run('20.20.2');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Node 24 or newer must be on the PATH, which has v20\.20\.2, .*\.\n$/);
  });

  it.each(['24.0.0', '26.1.0'])('does not end when Node is %s', (version) => {
    expect(run(version)).toMatchObject({ status: 0, stderr: '' });
  });

  it.each(['start', 'operator', 'test', 'check'])('is refused by npm run %s', (name) => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(scripts[name]).toMatch(/^(exec )?node (--import )?(\.\/)?infra\/node-version\.js /);
  });
});
