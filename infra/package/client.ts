/**
 * The package `accounts-client`, which apps install: the modules of functions/client as JavaScript, with their
 * declarations. It has no dependencies, and has the same version as the service.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../stack/bundling/temporary-folder.ts';

/**
 * The oldest versions of Node, of TypeScript, and of the packages that some entries import, with which the package
 * works.
 */
export const oldest = { node: 20, typescript: '5.2', jose: '6.0.0', react: '18.0.0' };

/** The names of the modules that apps import as `accounts-client` (index) and `accounts-client/NAME`. */
export const entries = ['index', 'passkeys', 'react', 'server', 'verify'] as const;

/** Makes the package in a folder. @returns its file */
export function makeClientPackage(destination: string): string {
  const folder = temporaryFolder();
  compile(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
  writeFileSync(
    join(folder, 'README.md'),
    withoutLinks(readFileSync(join(source, 'README.md'), 'utf8')),
  );
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', destination], { cwd: folder });
  return join(destination, `${manifest.name}-${manifest.version}.tgz`);
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = join(root, 'functions/client');

const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const manifest = {
  name: 'accounts-client',
  version,
  description: 'Signed in to an accounts service: in browsers, on servers, with passkeys',
  license,
  type: 'module',
  sideEffects: false,
  main: './index.js',
  types: './index.d.ts',
  exports: Object.fromEntries([
    ...entries.map((name) => [
      name === 'index' ? '.' : `./${name}`,
      { types: `./${name}.d.ts`, default: `./${name}.js` },
    ]),
    ['./package.json', './package.json'],
  ]),
  engines: { node: `>=${oldest.node}` },
  peerDependencies: { jose: `^${oldest.jose}`, react: `>=${oldest.react}` },
  peerDependenciesMeta: { jose: { optional: true }, react: { optional: true } },
};

/**
 * Compiles each module into a file at the root of the package, where resolvers that do not support `exports` find it.
 */
function compile(folder: string): void {
  const config = join(temporaryFolder(), 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    target: 'es2022',
    rootDir: source,
    outDir: folder,
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const files = [...entries.map((name) => `${name}.ts`), 'react-module.d.ts'];
  const written = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    files: files.map((name) => join(source, name)),
    include: [],
  };
  writeFileSync(config, JSON.stringify(written));
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  // In declarations, the compiler keeps the file names of the sources.
  for (const name of globSync('*.d.ts', { cwd: folder })) {
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(/(["']\.\/[\w-]+)\.ts(?=["'])/g, '$1.js'));
  }
}

/** A text in which links to files that the package lacks are replaced by their words; code blocks are not changed. */
function withoutLinks(text: string): string {
  const parts = text.split(/(^```.*?^```)/ms);
  const words = (part: string) => part.replaceAll(/\[([^\]]+)\]\((?!https:|#)[^)]*\)/g, '$1');
  return parts.map((part) => (part.startsWith('```') ? part : words(part))).join('');
}
