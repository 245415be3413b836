import { join } from 'node:path';
import { type BundlingOptions, LogLevel } from 'aws-cdk-lib/aws-lambda-nodejs';
import { staticFilesFolder } from '../../static-files.ts';
import type { FunctionDefinition } from '../../uses.ts';

/**
 * How esbuild bundles a function and its imports into one file. `npm run bench -- cold` compares the
 * result with NodejsFunction's defaults, and measured the milliseconds below.
 * test/infra/stack/bundles.test.ts runs every bundle and checks its content.
 *
 * The format is the default, CommonJS: when an ES module imports from node:http, Node runs all getters
 * of that module and so loads undici, which no function uses. That takes 25 ms.
 */
export const bundling: BundlingOptions = {
  bundleAwsSDK: true,
  // esbuild can leave unused code out of ES modules, but not out of CommonJS: saves 254 KB, 55 ms.
  mainFields: ['module', 'main'],
  // This shortens names in logged stacks too: keeping them would cost 18 KB and 5 ms.
  minify: true,
  logLevel: LogLevel.WARNING,
  // Node loads web streams when the SDK asks whether a stream is one, which is never the case.
  define: { ReadableStream: 'undefined' },
  esbuildArgs: {
    '--alias': [
      '@aws-sdk/credential-provider-node=./infra/stack/bundling/environment-credentials.ts',
      '@aws-sdk/middleware-endpoint-discovery=./infra/stack/bundling/endpoint-discovery.ts',
      '@smithy/core/event-streams=./infra/stack/bundling/event-streams.ts',
    ],
    // Replaces `import()` by `require`: the SDK would import node:http as an ES module, see above.
    '--supported:dynamic-import': 'false',
  },
};

/** Bundles functions for which no client waits with the whole SDK that they import. */
export const backgroundBundling: BundlingOptions = {
  bundleAwsSDK: true,
  mainFields: ['module', 'main'],
  minify: true,
  logLevel: LogLevel.WARNING,
};

/** The bundling of a function. The files of its page are put into a folder beside the code. */
export const bundlingOf = ({ name: page, uses }: FunctionDefinition): BundlingOptions => {
  if (!uses.has('files')) return bundling;
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
