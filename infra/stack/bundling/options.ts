import { join } from 'node:path';
import { type BundlingOptions, LogLevel } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { FunctionDefinition } from '../../routes.ts';
import { staticFilesFolder } from '../../static-files.ts';

/**
 * How esbuild makes one file of a function and what it imports. `npm run bench:cold` sets what
 * comes out beside NodejsFunction's defaults; the milliseconds here are of the same measurement.
 * test/infra/stack/bundles.test.ts runs every bundle and looks into it.
 *
 * The format is the default, CommonJS: an ES module that imports from node:http makes Node run the
 * getters of everything in there, and so load undici, which nothing here uses: 25 ms.
 */
export const bundling: BundlingOptions = {
  bundleAwsSDK: true,
  // Of ES modules, unlike CommonJS ones, esbuild leaves out what is not used: 254 KB, 55 ms.
  mainFields: ['module', 'main'],
  // Names are shortened too, also in logged stacks: to keep them would cost 18 KB and 5 ms.
  minify: true,
  logLevel: LogLevel.WARNING,
  // Node loads web streams when the SDK asks whether a stream is one of them. None ever is.
  define: { ReadableStream: 'undefined' },
  esbuildArgs: {
    '--alias': [
      '@aws-sdk/credential-provider-node=./infra/stack/bundling/environment-credentials.ts',
      '@aws-sdk/middleware-endpoint-discovery=./infra/stack/bundling/endpoint-discovery.ts',
      '@smithy/core/event-streams=./infra/stack/bundling/event-streams.ts',
    ],
    // `require` in place of `import()`, by which the SDK imports node:http: see above.
    '--supported:dynamic-import': 'false',
  },
};

/** For functions that nobody waits for: with all of the SDK that they import. */
export const backgroundBundling: BundlingOptions = {
  bundleAwsSDK: true,
  mainFields: ['module', 'main'],
  minify: true,
  logLevel: LogLevel.WARNING,
};

/** How a function is bundled: the files of its page lie in a folder beside the code. */
export const bundlingOf = ({ staticFiles: page }: FunctionDefinition): BundlingOptions => {
  if (!page) return bundling;
  const copyFiles = (folder: string) => [
    `mkdir "${folder}"`,
    `cp -R "${join(staticFilesFolder(), page)}" "${join(folder, page)}"`,
  ];
  return {
    ...bundling,
    commandHooks: {
      beforeBundling: () => [],
      beforeInstall: () => [],
      afterBundling: (_, output) => copyFiles(join(output, 'static')),
    },
  };
};
