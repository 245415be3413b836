/**
 * The package `accounts-client`, which apps install: the modules of functions/client as JavaScript, with their
 * declarations. It has no dependencies, and has the same version as the service.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOutside, withoutLinks } from '../links.ts';
import { temporaryFolder } from '../stack/bundling/temporary-folder.ts';
import { compile, pack, repository, root } from './packing.ts';

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
  compileModules(folder);
  const readme = readFileSync(join(root, source, 'README.md'), 'utf8');
  writeFileSync(join(folder, 'README.md'), withoutLinks(readme, isOutside));
  return pack(folder, manifest, destination);
}

const source = 'functions/client';

const { version, license } = repository;

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
function compileModules(folder: string): void {
  const files = [...entries.map((name) => `${name}.ts`), 'react-module.d.ts'];
  compile(
    files.map((name) => join(source, name)),
    {
      rewriteRelativeImportExtensions: true,
      target: 'es2022',
      rootDir: join(root, source),
      outDir: folder,
    },
  );
  // In declarations, the compiler keeps the file names of the sources.
  for (const name of globSync('*.d.ts', { cwd: folder })) {
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(/(["']\.\/[\w-]+)\.ts(?=["'])/g, '$1.js'));
  }
}
