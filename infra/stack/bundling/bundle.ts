import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync, type Metafile } from 'esbuild';
import { staticFilesFolder } from '../../static-files.ts';
import type { FunctionDefinition } from '../../uses.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Every bundle: one file that Lambda loads, with all that it imports. */
const common: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  // When an ES module imports from node:http, Node runs all getters of that module and so loads undici,
  // which no function uses. That takes 25 ms.
  format: 'cjs',
  logLevel: 'warning',
};

/** The whole SDK that a function imports, for one that nobody waits for. */
const background: BuildOptions = {
  ...common,
  // esbuild can leave unused code out of ES modules, but not out of CommonJS: saves 254 KB, 55 ms.
  mainFields: ['module', 'main'],
  // This shortens names in logged stacks too: keeping them would cost 18 KB and 5 ms.
  minify: true,
};

const attestation = './infra/stack/bundling/attestation.ts';

/**
 * For a function that clients wait for. `npm run bench -- cold` compares the result with the defaults,
 * and measured the milliseconds.
 */
const lean: BuildOptions = {
  ...background,
  // Node loads web streams when the SDK asks whether a stream is one, which is never the case.
  define: { ReadableStream: 'undefined' },
  alias: {
    '@peculiar/asn1-android': attestation,
    '@peculiar/asn1-ecc': attestation,
    '@peculiar/asn1-rsa': attestation,
    '@peculiar/asn1-schema': attestation,
    '@peculiar/asn1-x509': attestation,
    '@peculiar/asn1-x509-post-quantum': attestation,
    '@peculiar/x509': attestation,
    'reflect-metadata': attestation,
    '@aws/lambda-invoke-store': './infra/stack/bundling/invoke-store.ts',
    '@aws-sdk/credential-provider-node': './infra/stack/bundling/environment-credentials.ts',
    '@aws-sdk/middleware-endpoint-discovery': './infra/stack/bundling/endpoint-discovery.ts',
    '@smithy/core/checksum': './infra/stack/bundling/checksum.ts',
    '@smithy/core/config': './infra/stack/bundling/environment-config.ts',
    '@smithy/core/event-streams': './infra/stack/bundling/event-streams.ts',
  },
  // The clients of the SDK import their package.json to name their version: saves 4 KB.
  loader: { '.json': 'empty' },
  // Replaces `import()` by `require`: the SDK would import node:http as an ES module, see above.
  supported: { 'dynamic-import': false },
};

/** How esbuild bundles; `common` is what it does by itself. */
export const bundlings = { common, background, lean } as const;

/** A file to bundle, from the root of the repository, and a name. */
export interface EntryFile {
  readonly name: string;
  readonly entry: string;
}

/**
 * Bundles files by one run of esbuild, each for itself, as `index.js` in the folder of its name.
 * @returns what esbuild says of them, by their paths
 */
export function bundle(
  sources: readonly EntryFile[],
  outdir: string,
  bundling: keyof typeof bundlings = 'lean',
): Metafile['outputs'] {
  const entryPoints = sources.map(({ name, entry }) => ({ in: entry, out: `${name}/index` }));
  return buildSync({ ...bundlings[bundling], entryPoints, outdir, metafile: true }).metafile
    .outputs;
}

/** Bundles functions, each into the folder of its name, with the files of its page. */
export function bundleFunctions(
  definitions: readonly FunctionDefinition[],
  outdir: string,
): Metafile['outputs'] {
  for (const { name } of definitions.filter(({ uses }) => uses.has('files'))) {
    const files = join(outdir, name, 'static', name);
    cpSync(join(staticFilesFolder(), name), files, { recursive: true });
  }
  const seals = ({ uses }: FunctionDefinition) => uses.has('audit.seal');
  return {
    ...bundle(
      definitions.filter((each) => !seals(each)),
      outdir,
    ),
    ...bundle(definitions.filter(seals), outdir, 'background'),
  };
}
