/**
 * The client as apps install it: by this Node and the newest TypeScript, or in the long run by the oldest that it
 * works with (APPLICATION=oldest).
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { entries, makeClientPackage, oldest } from '../../infra/package/client.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { modules } from '../support/application.ts';
import { uniqueEmail } from '../support/client.ts';
import {
  compileClientApplication,
  makeClientApplication,
  resolutions,
} from '../support/client-application.ts';
import { everySetting } from '../support/every-setting.ts';
import { folderForThisFile } from '../support/folder.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';

const isOldest = process.env.APPLICATION === 'oldest';
const plain = await serviceForThisFile();
const full = await mailingServiceForThisFile(everySetting);

const [folder, app] = [folderForThisFile(), folderForThisFile()];
const installed = join(app, 'node_modules/accounts-client');
const read = (name: string) => readFileSync(join(installed, name), 'utf8');
const manifest = () => JSON.parse(read('package.json'));

/** The Nodes by their versions; each is installed by an alias, because several are. */
const nodes = isOldest ? [oldest.node, 22] : [Number.parseInt(process.versions.node, 10)];
const nodeOf = (version: number) =>
  isOldest ? join(folder, `node_modules/node-${version}/bin/node`) : process.execPath;

/** Installs the oldest packages that the client works with. @returns the folder of the packages */
const installOldest = (): string => {
  const quietly = ['--silent', '--no-audit', '--no-fund', '--force'];
  const binaries = nodes.map((version) => {
    return `node-${version}@npm:node-linux-${process.arch}@${version}`;
  });
  const wanted = [...binaries, `typescript@${oldest.typescript}`, `jose@${oldest.jose}`];
  execFileSync('npm', ['install', ...quietly, '--prefix', folder, ...wanted]);
  return join(folder, 'node_modules');
};

let from = modules;
beforeAll(() => {
  if (isOldest) from = installOldest();
  makeClientApplication(app, makeClientPackage(folder), from);
});

describe('The package of the client', () => {
  it('has the version of the service, no dependency, and peers that are optional', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const { peerDependencies, peerDependenciesMeta, ...own } = manifest();

    expect(own).toMatchObject({ name: 'accounts-client', version, type: 'module' });
    expect(own).not.toHaveProperty('dependencies');
    expect(own).not.toHaveProperty('private');
    expect(Object.keys(peerDependencies)).toEqual(['jose', 'react']);
    for (const name of Object.keys(peerDependencies)) {
      expect(peerDependenciesMeta[name]).toEqual({ optional: true });
    }
  });

  it('has a file at the root for each entry, for tools that do not read the exports', () => {
    for (const name of entries) {
      const path = name === 'index' ? '.' : `./${name}`;
      expect(manifest().exports[path]).toEqual({
        types: `./${name}.d.ts`,
        default: `./${name}.js`,
      });
      expect(existsSync(join(installed, `${name}.js`))).toBe(true);
      expect(existsSync(join(installed, `${name}.d.ts`))).toBe(true);
    }
  });

  it('imports only its own files, except in one file that imports jose and one that imports react', () => {
    const imports = globSync('*.{js,ts}', { cwd: installed }).flatMap((name) =>
      [...read(name).matchAll(/(?:from|import) ?\(?['"]([^'"]+)['"]/g)].map(([, path = '']) => ({
        name,
        path,
      })),
    );
    const others = imports.filter(({ path }) => !/^\.\/[\w-]+\.js$/.test(path));

    expect(imports.length).toBeGreaterThan(20);
    expect(others).toEqual([
      { name: 'react.js', path: 'react' },
      { name: 'verify.js', path: 'jose' },
    ]);
    for (const { path } of imports.filter((each) => !others.includes(each))) {
      expect(existsSync(join(installed, path))).toBe(true);
    }
  });

  it('has a readme that links only to its own files', () => {
    const prose = read('README.md').replaceAll(/^```.*?^```/gms, '');
    expect(prose.match(/\]\((?!https:|#)[^)]*\)/g)).toBeNull();
  });

  it('has a readme whose code equals the code in functions/client/README.md', () => {
    const codeIn = (text: string) => text.match(/^```.*?^```/gms);

    expect(codeIn(read('README.md'))).toEqual(
      codeIn(readFileSync('functions/client/README.md', 'utf8')),
    );
  });
});

describe.each(nodes)('With Node %i an app that installs the client', (version) => {
  it.each([
    ['the default settings', plain, 'TOKEN_INVALID'],
    ['every setting on', full, undefined],
  ])('logs its users in at a service with %s', async (_, service, notVerified) => {
    // As the service names itself in tokens.
    const url = service.url.replace('127.0.0.1', 'localhost');
    const email = uniqueEmail();
    const run = promisify(execFile);
    const { stdout } = await run(nodeOf(version), [join(app, 'app.js'), url, email]);

    expect(JSON.parse(stdout)).toEqual({
      reasons: expect.arrayContaining(['loggedIn', 'loggedOut']),
      refused: 'INVALID_CREDENTIALS',
      user: email,
      profile: 200,
      verified: notVerified ?? email,
      opened: email,
      passkeys: 'function',
    });
  });
});

it.each(Object.entries(resolutions))(
  'The types of the client compile where modules are found by %s',
  (_, way) => {
    expect(compileClientApplication(app, join(from, 'typescript'), way)).toBe('');
  },
);

it.runIf(isOldest)(
  'The types of the client compile where modules are found without exports',
  () => {
    const way = { moduleResolution: 'node10', module: 'esnext' };
    expect(compileClientApplication(app, join(from, 'typescript'), way)).toBe('');
  },
);
