import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync, type Metafile } from 'esbuild';
import { staticFilesFolder } from '../../static-files.ts';
import type { FunctionDefinition } from '../../uses.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The options for every bundle: one file that Lambda loads, with everything that it imports. */
const common: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  // When an ES module imports from node:http, Node calls all getters of node:http and so loads undici, which no
  // function uses. This takes 25 ms.
  format: 'cjs',
  logLevel: 'warning',
};

/** The options for a function that nobody waits for: the bundle has all parts of the SDK that the function imports. */
const background: BuildOptions = {
  ...common,
  // esbuild can leave unused code out of ES modules, but not out of CommonJS. This saves 254 KB and 55 ms.
  mainFields: ['module', 'main'],
  // This also shortens names in stack traces in the log: keeping the names would cost 18 KB and 5 ms.
  minify: true,
};

const attestation = './infra/stack/bundling/attestation.cjs';

/**
 * The options for a function that clients wait for. `npm run bench -- cold` compares the result with the defaults; it
 * measured the milliseconds that are named here.
 */
const lean: BuildOptions = {
  ...background,
  // Node loads web streams when the SDK checks whether a stream is a web stream; none ever is.
  define: { ReadableStream: 'undefined', 'globalThis.hasFiles': 'true' },
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
    '@aws-sdk/lib-dynamodb': './infra/stack/bundling/document-client.js',
    '@aws-sdk/lib-dynamodb/dist-es': './node_modules/@aws-sdk/lib-dynamodb/dist-es',
    '@aws-sdk/credential-provider-node': './infra/stack/bundling/environment-credentials.ts',
    '@aws-sdk/middleware-endpoint-discovery': './infra/stack/bundling/endpoint-discovery.ts',
    '@smithy/core/checksum': './infra/stack/bundling/checksum.ts',
    '@smithy/core/config': './infra/stack/bundling/environment-config.ts',
    '@smithy/core/dist-es': './node_modules/@smithy/core/dist-es',
    '@smithy/core/event-streams': './infra/stack/bundling/event-streams.ts',
    '@smithy/core/retry': './infra/stack/bundling/retry.js',
  },
  // The clients of the SDK import their package.json to name their version. Without it, a bundle is 4 KB smaller.
  loader: { '.json': 'empty' },
  // This replaces `import()` by `require`. Otherwise the SDK would import node:http as an ES module, see above.
  supported: { 'dynamic-import': false },
};

/** The options of esbuild; `common` leaves optimization at esbuild's defaults. */
export const bundlings = { common, background, lean } as const;

/** A file to bundle, by its path from the root of the repository, and the name of the bundle. */
export interface EntryFile {
  readonly name: string;
  readonly entry: string;
}

/**
 * Bundles files in one run of esbuild. Each bundle is a file `index.js` in a folder with the name of the bundle.
 * @returns esbuild's metadata of the bundles, by their paths
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

/** Bundles functions, each into a folder with its name, together with the files of its page. */
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
