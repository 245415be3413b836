import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForThisTest } from '../support/folder.ts';

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

describe('A package that npm ci installs', () => {
  it('has its hash in the lockfile, or is bundled in a package that has its hash there', () => {
    expect(pathsOf((entry) => !entry.integrity && !entry.inBundle)).toEqual([]);
    expect(packages.length).toBeGreaterThan(100);
  });

  it('comes from the registry in the configuration of npm', () => {
    expect(pathsOf(({ resolved }) => resolved)).toEqual([]);
  });

  it('runs no install script, because a script could download more', () => {
    expect(readFileSync('.npmrc', 'utf8')).toContain('ignore-scripts=true\n');
    expect(pathsOf(({ hasInstallScript }) => hasInstallScript)).toEqual([
      // Counts installations for the maker of swagger-ui-dist.
      'node_modules/@scarf/scarf',
      // Makes its command start faster.
      'node_modules/esbuild',
    ]);
  });

  it('has the same version on every platform if it is a package of Node', () => {
    const versions = packages.filter(([path]) => /^node_modules\/node-(linux|darwin)/.test(path));
    expect(new Set(versions.map(([, { version }]) => version)).size).toBe(1);
  });
});

describe('An action that a workflow uses', () => {
  const files = ['infra/README.md', ...globSync('.github/workflows/*.yml')];
  const used = files.flatMap((file) => readFileSync(file, 'utf8').match(/(?<=uses: ).*/g) ?? []);

  it.each([...new Set(used)])(
    'is named by its commit, because a tag can be moved: %s',
    (action) => {
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
    },
  );

  it('is the same commit wherever it is used', () => {
    const names = new Set(used.map((action) => action.split('@')[0]));
    expect(names.size).toBeGreaterThan(3);
    expect(new Set(used).size).toBe(names.size);
  });
});

/** Runs a script of a folder, by default the script that runs before each command. */
const commandIn = (
  folder: string,
  nodeOptions: readonly string[] = [],
  script = 'infra/installation.js',
) => spawnSync(process.execPath, [...nodeOptions, join(folder, script)], { encoding: 'utf8' });

describe('The version of Node that runs a command', () => {
  const run = (version: string, script?: string) => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' });
      Object.defineProperty(process, 'version', { value: 'v${version}' });`;
    const preload = `data:text/javascript,${encodeURIComponent(pretend)}`;
    return commandIn('.', ['--import', preload], script);
  };

  it.each(['infra/installation.js', 'infra/local/start.js'])(
    'is refused by %s if it is too old, in one sentence that names the required version',
    (script) => {
      const { status, stderr } = run('20.20.2', script);
      expect(status).toBe(1);
      expect(stderr).toMatch(
        /^Node 24 or newer is needed, and this is v20\.20\.2: run npm start or npm run, .*\.\n$/,
      );
    },
  );

  it.each(['24.0.0', '26.1.0'])('is accepted if it is %s', (version) => {
    expect(run(version)).toMatchObject({ status: 0, stderr: '' });
  });

  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { app } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const commands = Object.entries<string>({ ...scripts, 'cdk synth': app });
  // Commands of installed packages are left out: npm runs them with the Node that is installed with the packages, or
  // they need none.
  it.each(commands.filter(([, command]) => /\bnode\b/.test(command)))(
    'is checked by the command %s',
    (_, command) => {
      expect(command).toMatch(
        /\bnode (--import )?(\.\/)?infra\/(installation|local\/start)\.js(?= |$)/,
      );
    },
  );
});

describe('A command without all packages', () => {
  const locked = {
    '': {},
    'node_modules/one': { version: '1.0.0' },
    'node_modules/one/node_modules/two': { version: '2.0.0' },
    'node_modules/tool': { version: '1.0.0', dev: true },
    'node_modules/of-linux': { version: '1.0.0', optional: true },
  };

  /** A project with these packages; those that are in place need not be those that npm has noted. */
  const project = ({
    noted = locked as object | null,
    inPlace = Object.keys(locked) as readonly string[],
    commands = true,
  } = {}): string => {
    const folder = folderForThisTest();
    mkdirSync(join(folder, 'infra'));
    copyFileSync('infra/installation.js', join(folder, 'infra/installation.js'));
    for (const path of inPlace) mkdirSync(join(folder, path), { recursive: true });
    if (commands) mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    const write = (file: string, content: object) =>
      writeFileSync(join(folder, file), JSON.stringify(content));
    for (const path of inPlace) write(join(path, 'package.json'), { type: 'module' });
    write('package.json', { type: 'module' });
    write('package-lock.json', { packages: locked });
    if (noted) write('node_modules/.package-lock.json', { packages: noted });
    return folder;
  };
  const { 'node_modules/one': _, ...withoutOne } = locked;
  const { 'node_modules/tool': __, 'node_modules/of-linux': ___, '': ____, ...needed } = locked;
  const older = { ...locked, 'node_modules/tool': { version: '0.9.0', dev: true } };
  const notIn = (name: string) =>
    `The package ${name} is not installed, or not in the version of package-lock.json: run npm ci.\n`;

  // biome-ignore format: a table
  it.each([
    ['no package was installed', { noted: null, inPlace: [], commands: false }, 'The packages are not installed: run npm ci.\n'],
    ['npm ci was interrupted', { noted: null }, 'The packages are not all installed: run npm ci.\n'],
    ['the commands are gone', { commands: false }, 'The packages are not all installed: run npm ci.\n'],
    ['a package is gone', { inPlace: Object.keys(withoutOne).slice(0, 1).concat('node_modules/tool', 'node_modules/of-linux') }, notIn('one')],
    ['a package is new in package-lock.json', { noted: withoutOne }, notIn('one')],
    ['a package has another version there', { noted: older }, notIn('tool')],
    ['a package inside another package is gone', { inPlace: Object.keys(locked).filter((path) => !path.endsWith('two')) }, notIn('two')],
  ])('ends with one sentence when %s', (_, packages, stderr) => {
    expect(commandIn(project(packages))).toMatchObject({ status: 1, stderr, stdout: '' });
  });

  it.each([
    ['all packages are there', {}],
    [
      'npm left out packages that only development or another platform needs',
      { noted: needed, inPlace: Object.keys(needed) },
    ],
  ])('does not end when %s', (_, packages) => {
    expect(commandIn(project(packages))).toMatchObject({ status: 0, stderr: '' });
  });
});
