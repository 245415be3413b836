/**
 * `npm run package`: makes `accounts-service-VERSION.tgz`, which CDK applications install. It has the
 * construct, the bundles of all functions, and the operator's commands. It also makes
 * `accounts-client-VERSION.tgz`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { isOutside, withoutLinks } from '../links.ts';
import { noticesOf } from '../notices.ts';
import { bundleFunctions } from '../stack/bundling/bundle.ts';
import { temporaryFolder } from '../stack/bundling/temporary-folder.ts';
import { staticFilesFolder } from '../static-files.ts';
import { auditPublisher, auditSealer, functions } from '../uses.ts';
import { makeClientPackage } from './client.ts';
import { makeDeclaration } from './declaration.ts';
import { pack, repository, root } from './packing.ts';

export const oldestNode = 22;

/** The packages that the application must have, and the oldest versions with which the package is tested. */
export const peers = { 'aws-cdk-lib': '^2.269.0', constructs: '^10.5.1' };

/** Makes the package in a folder. @returns its file */
export async function makePackage(destination: string): Promise<string> {
  const folder = temporaryFolder();
  const outputs = [
    await bundleConstruct(folder),
    await bundleOperator(folder),
    bundleFunctions([...functions, auditSealer, auditPublisher], join(folder, 'functions')),
  ];
  writeEntries(folder);
  write(folder, 'index.d.ts', makeDeclaration());
  write(folder, 'NOTICES.txt', noticesIn(outputs));
  copyDocuments(folder);
  return pack(folder, manifestOfPackage(), destination);
}

const command = 'accounts-operator';

/** The documents for people who call, configure and run the service, and the files to which these documents link. */
const documents = [
  ...['README.md', 'CLIENTS.md', 'openapi.json'].map((name) => `functions/${name}`),
  ...['Accounts.kt', 'SessionAccounts.kt'].map((name) => `functions/client/kotlin/${name}`),
  ...['settings.md', 'production.json', 'runbooks.md', 'erasure.md', 'cost.md'].map(
    (name) => `infra/${name}`,
  ),
  ...['supabase.jq', 'auth0.jq', 'edge.ts'].map((name) => `infra/recipes/${name}`),
  'lib/seal/README.md',
  ...['SECURITY.md', 'asvs.md', 'CHANGELOG.md'].map((name) => `.github/${name}`),
];

if (import.meta.main) {
  console.log(await makePackage(process.cwd()));
  console.log(makeClientPackage(process.cwd()));
}

/**
 * Bundles the construct as CommonJS, which ES modules can import too. The construct finds the bundles of functions
 * beside it.
 */
function bundleConstruct(folder: string): Promise<Metafile['outputs']> {
  const made = { path: join(root, 'infra/package/bundles.ts') };
  return bundled({
    entryPoints: ['infra/stack/accounts.ts'],
    outfile: join(folder, 'construct.js'),
    format: 'cjs',
    external: Object.keys(peers),
    define: { 'import.meta.dirname': '__dirname' },
    plugins: [
      {
        name: 'bundles',
        setup: ({ onResolve }) => onResolve({ filter: /\/bundling\/bundles\.ts$/ }, () => made),
      },
    ],
  });
}

/** @returns esbuild's metadata of the bundles, by their paths */
async function bundled(options: BuildOptions): Promise<Metafile['outputs']> {
  const { metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: `node${oldestNode}`,
    logLevel: 'warning',
    ...options,
    metafile: true,
  });
  return metafile.outputs;
}

function bundleOperator(folder: string): Promise<Metafile['outputs']> {
  const js =
    "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  return bundled({
    entryPoints: ['infra/operator/main.ts'],
    outfile: join(folder, 'commands.mjs'),
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    define: { 'process.env.OPERATOR_COMMAND': JSON.stringify(command) },
    banner: { js },
  });
}

/**
 * Writes the files that applications and npm load. They refuse an older Node before they load code that it cannot run.
 */
function writeEntries(folder: string): void {
  const isOld = `Number.parseInt(process.versions.node, 10) < ${oldestNode}`;
  const needed = `\`${repository.name} requires Node ${oldestNode} or newer, and this is \${process.version}.\``;
  const construct = [
    `if (${isOld}) throw new Error(${needed});`,
    "module.exports = require('./construct.js');",
  ];
  const operator = [
    '#!/usr/bin/env node',
    `if (${isOld}) {`,
    `  console.error(${needed});`,
    '  process.exit(1);',
    '}',
    "await import('./commands.mjs');",
  ];
  write(folder, 'index.js', `${construct.join('\n')}\n`);
  write(folder, 'operator.mjs', `${operator.join('\n')}\n`);
}

function write(folder: string, path: string, content: string | Uint8Array): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** The notices of all packages whose code is in the bundles or in the pages. */
function noticesIn(outputs: readonly Metafile['outputs'][]): string {
  const inputs = outputs.flatMap((each) =>
    Object.values(each).flatMap((output) => Object.keys(output.inputs)),
  );
  const ofPages = ['docs', 'console'].map((page) => {
    const folder = join(staticFilesFolder(), page);
    const { 'notices.txt': name } = JSON.parse(readFileSync(join(folder, 'names.json'), 'utf8'));
    return gunzipSync(readFileSync(join(folder, `${name}.gz`))).toString();
  });
  return [noticesOf(inputs.map((path) => join(root, path))), ...ofPages].join('\n\n');
}

/** Copies the readme, and copies the documents into `docs`, in the folders that they have in the repository. */
function copyDocuments(folder: string): void {
  const readme = readFileSync(join(root, 'infra/package/README.md'), 'utf8');
  write(folder, 'README.md', readme.replaceAll('](../', '](docs/infra/'));
  for (const path of documents) {
    const text = readFileSync(join(root, path), 'utf8');
    write(folder, join('docs', path), path.endsWith('.md') ? withLinksInside(text, path) : text);
  }
}

function manifestOfPackage() {
  const { name, version, description, license } = repository;
  return {
    name,
    version,
    description,
    license,
    main: 'index.js',
    types: 'index.d.ts',
    exports: {
      '.': { types: './index.d.ts', default: './index.js' },
      './package.json': './package.json',
    },
    bin: { [command]: 'operator.mjs' },
    engines: { node: `>=${oldestNode}` },
    peerDependencies: peers,
  };
}

/** The text of a document; links to files that the package lacks are replaced by their words. */
function withLinksInside(text: string, path: string) {
  return withoutLinks(text, (target) => {
    const [file = ''] = target.split('#');
    return isOutside(target) || documents.includes(join(dirname(path), file));
  });
}
