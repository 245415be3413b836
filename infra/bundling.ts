import { type BundlingOptions, LogLevel } from 'aws-cdk-lib/aws-lambda-nodejs';

/**
 * How esbuild makes one file of a function and what it imports. `npm run bench:cold` shows what
 * it is worth beside the defaults; test/infra/bundles.test.ts runs what comes out.
 *
 * The format is CommonJS, which is the default: importing from node:http in an ES module runs the
 * getters of all its names, and some of them load undici, which nothing here uses (30 ms).
 */
export const bundling: BundlingOptions = {
  bundleAwsSDK: true,
  // The packages' ES modules, of which esbuild leaves out what is not used.
  mainFields: ['module', 'main'],
  // For the size alone; what it costs is function names in logged stacks.
  minify: true,
  logLevel: LogLevel.WARNING,
  esbuildArgs: {
    '--alias': [
      '@aws-sdk/credential-provider-node=./infra/bundling/environment-credentials.ts',
      '@smithy/core/event-streams=./infra/bundling/event-streams.ts',
    ],
    // `require` in place of `import()`, for node:http once more: the SDK imports it so.
    '--supported:dynamic-import': 'false',
  },
};
